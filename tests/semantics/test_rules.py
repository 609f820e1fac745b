"""The table of rules: each has tests, named by its number, and a word on where the wire differs."""

import ast
import json
import re
from functools import cache
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
RULES = json.loads((HERE / "rules.json").read_text(encoding="utf-8"))


@cache
def functions(path):
    """The names of a module's functions."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {
        node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


@cache
def numbered():
    """The rules that names of tests begin with: ``test_s4_s5_watching_…``."""
    names = [name for path in (ROOT / "tests").rglob("test_*.py") for name in functions(path)]
    begins = [re.match(r"test_((?:s\d+_)+)", name) for name in names]
    return {number.upper() for begin in begins if begin for number in begin[1].split("_")[:-1]}


def test_every_rule_has_an_entry():
    assert list(RULES) == [f"S{number}" for number in range(1, 89)]
    assert numbered() <= RULES.keys()


@pytest.mark.parametrize("name", RULES)
def test_a_rule_is_tested(name):
    entry = RULES[name]
    assert entry.keys() <= {"rule", "tests", "wire"}
    assert entry["rule"]
    assert name in numbered()
    for test in entry.get("tests", ()):
        path, _, function = test.partition("::")
        assert (ROOT / path).is_file(), path
        assert not function or function in functions(ROOT / path), test
