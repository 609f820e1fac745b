"""The table of rules: each has tests, or a reason why it waits."""

import ast
import json
from functools import cache
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
RULES = json.loads((HERE / "rules.json").read_text(encoding="utf-8"))


@cache
def functions(path):
    """The names of a module's functions."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return {
        node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


def test_every_rule_has_an_entry():
    assert list(RULES) == [f"S{number}" for number in range(1, 89)]


@pytest.mark.parametrize("name", RULES)
def test_a_rule_is_tested_or_says_why_it_waits(name):
    entry = RULES[name]
    assert entry.keys() <= {"rule", "tests", "waits"}
    assert entry["rule"]
    assert entry.get("tests") or entry["waits"]
    for test in entry.get("tests", ()):
        path, _, function = test.partition("::")
        assert (ROOT / path).is_file(), path
        assert not function or function in functions(path), test
