"""The page of settings is what the settings say of themselves today."""

import runpy
from pathlib import Path

from gradwire_service.settings import SUBJECTS, Settings

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/reference/configuration.md").read_text(encoding="utf-8")


def test_the_page_is_fresh():
    page = runpy.run_path(str(ROOT / "tools" / "configuration_page.py"))["page"]
    assert page() == PAGE, "run: make docs"


def test_every_setting_is_of_one_subject():
    names = [name for subject in SUBJECTS for name in subject.model_fields]
    assert len(names) == len(set(names))
    assert set(names) == Settings.model_fields.keys()
