"""The page of operations is what the operations say of themselves today."""

import runpy
from pathlib import Path

from gradwire_engine import catalogue

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/reference/operations.md").read_text(encoding="utf-8")


def test_the_page_is_fresh():
    page = runpy.run_path(str(ROOT / "tools" / "operations_page.py"))["page"]
    assert page() == PAGE, "run: make docs"


def test_every_operation_is_on_the_page():
    for entry in catalogue():
        assert f"**`{entry['signature']}`**" in PAGE
