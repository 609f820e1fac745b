"""Programs of the whole project are printed as they are read."""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from gradwire_engine.program import Program

from tests.engine.frontends.test_printed import check
from tests.engine.written import programs_of, texts_of

ROOT = Path(__file__).parents[2]


def programs_of_the_project() -> Mapping[str, Program]:
    """All that is a program among the texts of tests, benchmarks, examples and documentation."""
    folders = ("tests", "benchmarks", "examples")
    texts = texts_of(file for folder in folders for file in (ROOT / folder).rglob("*.py"))
    for file in [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]:
        page = file.read_text(encoding="utf-8")
        texts.update(re.findall(r"```\w*\n(.*?)```", page, re.DOTALL))
        texts.update(re.findall(r"`([^`\n]+)`", page))
    return programs_of(texts)


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::SyntaxWarning")  # prose that happens to be a program
def test_all_programs_of_the_project():
    programs = programs_of_the_project()
    assert len(programs) > 5000
    for program in programs.values():
        if not any(node.value == ("in", ()) for node in program.body.nodes):
            check(program)
