"""The size of code does not hang on how it is explained, divided or laid out."""

import subprocess
from pathlib import Path

import pytest

from tools.tokens import by_folder, changes, over_budget, size, tokens, working_tree

CODE = "def f(x):\n    return x + 1\n"


@pytest.mark.parametrize(
    "same",
    [
        '"""About it."""\n\nimport os\nfrom a import (\n    b,\n    c,\n)\n\n' + CODE,
        '# why\ndef f(x):\n    """Adds 1."""\n\n    # why\n    return x + 1  # why\n',
        "def f(\n    x\n):\n    return x \\\n        + 1\n",
    ],
)
def test_comments_docstrings_imports_and_lines_count_nothing(same):
    assert tokens(CODE) == len("def f ( x ) : return x + 1".split())
    assert tokens(same) == tokens(CODE)


def test_a_string_that_is_no_docstring_counts():
    assert tokens('x = """a"""\n"""b"""\n') == 4


def test_of_other_languages_a_line_is_one():
    assert size("a.gw", "def f(x):\n\n    x\n") == 3


def test_folders_hold_those_below():
    sums = by_folder([("a/b/c.py", 2), ("a/d.py", 3), ("e.py", 4)])
    assert sums == {".": 9, "a": 5, "a/b": 2}


def test_what_is_over_its_budget_is_named():
    found = over_budget({"a": 1_500, "b": 10}, {"a": 1_000, "b": 10, "c": 5})
    assert found == ["a: 1,500 tokens, 500 over", "c: has a budget and no code"]


def test_a_change_is_what_has_come_and_gone(tmp_path: Path):
    def git(*arguments: str) -> None:
        identity = ("-c", "user.name=a", "-c", "user.email=a@b")
        subprocess.run(["git", *identity, *arguments], cwd=tmp_path, check=True)

    (tmp_path / "old.py").write_text(CODE)
    (tmp_path / "kept.py").write_text(CODE)
    git("init", "--quiet")
    git("add", ".")
    git("commit", "--quiet", "--message=a")
    (tmp_path / "old.py").unlink()
    (tmp_path / "new.gw").write_text("1\n2\n")
    (tmp_path / "kept.py").write_text(CODE + "x = 1\n")
    git("add", ".")
    assert dict(changes("HEAD", tmp_path)) == {"old.py": -10, "new.gw": 2, "kept.py": 3}
    assert dict(working_tree(tmp_path)) == {"kept.py": 13, "new.gw": 2}
