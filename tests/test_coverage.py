"""The page of coverage points to operations that there are, and leaves no row empty."""

import re
from collections import Counter
from pathlib import Path

import pytest
from gradwire_engine.ops.base import FUNCTIONS
from gradwire_engine.record.language import LANGUAGE

PAGE = (Path(__file__).parents[1] / "docs/reference/coverage.md").read_text(encoding="utf-8")
FAMILIES = re.findall(r"^## (.*)$", PAGE, re.MULTILINE)
#: Names in the table for syntax of the language.
SYNTAX = {
    "for",
    "while",
    "if",
    "elif",
    "a if c else b",
    "for i in range(n)",
    "for x in xs",
    "[f(x) for x in xs]",
}
SYNTAX |= {"x[1:9:2]", "x[::-1]", "x[mask]"}


def rows(family: str) -> list[list[str]]:
    section = PAGE.split(f"## {family}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[1:]]


def test_the_page_has_as_many_operations_as_it_says():
    counts = {family: len(rows(family)) for family in FAMILIES}
    assert f"This page lists {sum(counts.values())} operations" in PAGE
    assert all(counts.values())


def test_no_operation_is_listed_twice():
    listed = Counter(row[0] for family in FAMILIES for row in rows(family))
    assert {operation for operation, count in listed.items() if count > 1} == set()


@pytest.mark.parametrize("family", FAMILIES)
def test_each_row_points_to_what_there_is_or_says_why_not(family):
    for operation, here, remark in rows(family):
        names = re.findall(r"`([^`]+)`", here)
        assert names or (here == "no" and remark), operation
        unknown = {n for n in names if n not in FUNCTIONS and n not in LANGUAGE} - SYNTAX
        assert not unknown, operation
