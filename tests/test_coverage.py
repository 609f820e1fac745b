"""The page of coverage points to operations that there are, and leaves no row empty."""

import re
from pathlib import Path

import pytest
from gradwire_engine.ops.base import FUNCTIONS
from gradwire_engine.record.language import LANGUAGE

PAGE = (Path(__file__).parents[1] / "docs" / "coverage.md").read_text(encoding="utf-8")
#: How many rows each family has.
FAMILIES = {
    "Elementwise arithmetic": 25,
    "Exp, log, trig, hyperbolic": 27,
    "Activations and losses": 22,
    "Special functions": 39,
    "Reductions": 21,
    "Sort and cumulative": 14,
    "Linear algebra": 43,
    "Shape, index, gather, scatter": 30,
    "Segment and sparse": 7,
    "Convolution, pooling, Fourier, image": 17,
    "Complex": 7,
    "Control flow and higher-order (value-dependent)": 12,
    "Random (reparametrised, fixed key)": 4,
}
#: What stands in the table for syntax of the language.
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


def test_all_rows_are_there():
    assert re.findall(r"^## (.*)$", PAGE, re.MULTILINE) == list(FAMILIES)
    assert {family: len(rows(family)) for family in FAMILIES} == FAMILIES
    assert sum(FAMILIES.values()) == 268


@pytest.mark.parametrize("family", FAMILIES)
def test_each_row_points_to_what_there_is_or_says_why_not(family):
    for operation, here, remark in rows(family):
        names = re.findall(r"`([^`]+)`", here)
        assert names or (here == "no" and remark), operation
        unknown = {n for n in names if n not in FUNCTIONS and n not in LANGUAGE} - SYNTAX
        assert not unknown, operation
