"""The page of operations is what the operations say of themselves today."""

import re
import runpy
from pathlib import Path

import pytest
from gradwire_engine import Engine, catalogue

from tests.docs.blocks import differences

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/reference/operations.md").read_text(encoding="utf-8")
EXAMPLES = runpy.run_path(str(ROOT / "tools/operation_examples.py"))
ITEM = re.compile(r"^- \*\*`([\w.]+)\(.*\n((?:  .*\n)*)", re.MULTILINE)


def shown() -> dict[str, tuple[str, str]]:
    """The lines of code of the page with their values, by operation."""
    found = {}
    for name, rest in ITEM.findall(PAGE):
        example = re.search(r"^  `(.+)` → `(.+)`", rest, re.MULTILINE)
        if example is not None:
            found[name] = (example[1], example[2])
    return found


def test_the_page_is_fresh():
    page = runpy.run_path(str(ROOT / "tools/operations_page.py"))["page"]
    assert page(shown()) == PAGE, "run: make docs"


def test_every_operation_is_on_the_page():
    for entry in catalogue():
        assert f"**`{entry['signature']}`**" in PAGE


def test_every_operation_has_a_line_of_code():
    without = sorted({entry["name"] for entry in catalogue()} - shown().keys())
    assert not without, "write lines for these in tools/operation_lines.txt, run: make docs"


def test_lines_are_written_for_operations_that_exist():
    unknown = sorted(EXAMPLES["written_out"]().keys() - {entry["name"] for entry in catalogue()})
    assert not unknown, "no such operations: correct tools/operation_lines.txt"


@pytest.mark.parametrize("part", range(8))
def test_lines_of_code_have_the_values_that_are_shown(part):
    engine = Engine()
    for line, value in [*shown().values()][part::8]:
        found = EXAMPLES["value_of"](engine, line)
        assert found is not None, line
        assert not [*differences(("text", value), found)], line
