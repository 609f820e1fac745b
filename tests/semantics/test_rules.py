"""The table of rules: each has a sentence, and a word on where the wire differs.

Tests are named by the numbers of the rules that they hold: ``test_s4_s5_watching_…``.
"""

import json
from pathlib import Path

HERE = Path(__file__).parent
RULES = json.loads((HERE / "rules.json").read_text(encoding="utf-8"))


def test_every_rule_has_an_entry():
    assert list(RULES) == [f"S{number}" for number in range(1, 89)]
    for entry in RULES.values():
        assert entry.keys() <= {"rule", "tests", "wire"}
        assert entry["rule"]


def test_what_tests_a_rule_elsewhere_is_there():
    for entry in RULES.values():
        for test in entry.get("tests", ()):
            assert (HERE.parents[1] / test.partition("::")[0]).is_file(), test
