"""The table of rules: each has a sentence, tests, and a word on where the wire differs.

Tests are marked with the numbers of their rules: ``@pytest.mark.rule("S4", "S5")``.
"""

import ast
import json
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parents[1]
RULES = json.loads((TESTS / "semantics" / "rules.json").read_text(encoding="utf-8"))


def marked() -> Iterator[str]:
    """The rules that tests are marked with."""
    for path in (*TESTS.glob("semantics/test_*.py"), *TESTS.glob("engine/**/test_*.py")):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if "mark.rule(" in text else ():
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.rule":
                yield from map(ast.literal_eval, node.args)


def test_every_rule_has_an_entry():
    assert list(RULES) == [f"S{number}" for number in range(1, 89)]
    for entry in RULES.values():
        assert entry.keys() <= {"rule", "tests", "wire"}
        assert entry["rule"]


def test_every_rule_has_tests():
    elsewhere = {rule for rule, entry in RULES.items() if entry.get("tests")}
    assert {*marked()} | elsewhere == {*RULES}


def test_tests_of_rules_in_other_folders_exist():
    for entry in RULES.values():
        for test in entry.get("tests", ()):
            assert (TESTS.parent / test.partition("::")[0]).is_file(), test
