"""Decisions that refine or replace one another say so on both pages."""

import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "docs" / "decisions"
PAGES = sorted(path.name for path in FOLDER.glob("[0-9]*.md"))
LINK = re.compile(r"\]\((\d{4}-[\w-]+\.md)\)")


def opening(page: str) -> set[str]:
    """The pages that a page names before its first heading."""
    text = (FOLDER / page).read_text(encoding="utf-8")
    return set(LINK.findall(text.partition("\n## ")[0]))


def test_pages_are_numbered_in_order():
    assert [int(page[:4]) for page in PAGES] == [*range(1, len(PAGES) + 1)]


@pytest.mark.parametrize("page", PAGES)
def test_related_pages_point_to_each_other(page):
    assert {other for other in opening(page) if page not in opening(other)} == set()


@pytest.mark.parametrize("page", PAGES)
def test_links_between_pages_lead_somewhere(page):
    assert set(LINK.findall((FOLDER / page).read_text(encoding="utf-8"))) <= {*PAGES}
