"""Counts tokens by folder, and compares them with the budgets in ``tools/budgets.toml``.

A token is one of Python's (``tokenize``), without those of comments, docstrings and imports, so
that explaining code and dividing it into modules cost nothing. A line of the prelude (``.gw``)
counts as one.

``tokens.py`` compares, and fails where a folder exceeds its budget; ``tokens.py FOLDER`` lists the
folders below one by size; ``tokens.py --since COMMIT`` lists what has changed since then.
"""

from __future__ import annotations

import argparse
import ast
import subprocess
import sys
import tokenize
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from io import StringIO
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).parents[1]
BUDGETS = ROOT / "tools" / "budgets.toml"
_SUFFIXES = (".py", ".gw")
_UNCOUNTED = frozenset(
    {
        tokenize.COMMENT,
        tokenize.NL,
        tokenize.NEWLINE,
        tokenize.INDENT,
        tokenize.DEDENT,
        tokenize.ENDMARKER,
    }
)
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def tokens(source: str) -> int:
    """The number of tokens of Python source that are neither comment, docstring nor import."""
    lines = {
        line
        for node in ast.walk(ast.parse(source))
        for uncounted in _uncounted(node)
        for line in range(uncounted.lineno, (uncounted.end_lineno or uncounted.lineno) + 1)
    }
    return sum(
        token.type not in _UNCOUNTED and token.start[0] not in lines
        for token in tokenize.generate_tokens(StringIO(source).readline)
    )


def _uncounted(node: ast.AST) -> Iterator[ast.stmt]:
    """A node if it is an import, or its docstring."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        yield node
    elif isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
        yield node.body[0]


def size(name: str, source: str) -> int:
    """What a file counts."""
    return tokens(source) if name.endswith(".py") else len(source.splitlines())


def by_folder(sizes: Iterable[tuple[str, int]]) -> Counter[str]:
    """The sum of each folder, with all below it."""
    sums: Counter[str] = Counter()
    for name, count in sizes:
        for folder in PurePosixPath(name).parents:
            sums[str(folder)] += count
    return sums


def working_tree(root: Path = ROOT) -> Iterator[tuple[str, int]]:
    """The size of each tracked file as it stands."""
    for name in _git(root, "ls-files").splitlines():
        path = root / name
        if name.endswith(_SUFFIXES) and path.exists():
            yield name, size(name, path.read_text())


def changes(commit: str, root: Path = ROOT) -> Iterator[tuple[str, int]]:
    """By how much each file has grown since a commit."""
    for name in _git(root, "diff", "--name-only", "--no-renames", commit).splitlines():
        if not name.endswith(_SUFFIXES):
            continue
        path = root / name
        now = size(name, path.read_text()) if path.exists() else 0
        before = _git(root, "show", f"{commit}:{name}", missing=True)
        yield name, now - size(name, before)


def over_budget(sums: Mapping[str, int], budgets: Mapping[str, int]) -> list[str]:
    """A sentence for each folder that exceeds its budget, or has one and no code."""
    found = []
    for folder, budget in budgets.items():
        if folder not in sums:
            found.append(f"{folder}: has a budget and no code")
        elif sums[folder] > budget:
            found.append(f"{folder}: {sums[folder]:,} tokens, {sums[folder] - budget:,} over")
    return found


def _git(root: Path, *arguments: str, missing: bool = False) -> str:
    """The output of git; nothing where it fails and something may be missing."""
    done = subprocess.run(
        ["git", *arguments], cwd=root, capture_output=True, text=True, check=not missing
    )
    return done.stdout


def _print(sums: Mapping[str, int]) -> None:
    for folder, count in sorted(sums.items(), key=lambda item: abs(item[1]), reverse=True):
        print(f"{count:10,d}  {folder}")


def main(arguments: list[str]) -> int:
    """Run the command; its exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", help="list the folders below this one")
    parser.add_argument("--since", metavar="COMMIT", help="list what has changed since this commit")
    options = parser.parse_args(arguments)
    if options.since is not None:
        _print({name: by for name, by in by_folder(changes(options.since)).items() if by})
        return 0
    sums = by_folder(working_tree())
    if options.folder is not None:
        below = PurePosixPath(options.folder)
        _print({name: sums[name] for name in sums if PurePosixPath(name).is_relative_to(below)})
        return 0
    budgets = tomllib.loads(BUDGETS.read_text())
    found = over_budget(sums, budgets["tokens"])
    for sentence in found:
        print(sentence)
    if found:
        print("Delete first; a commit that raises a budget in tools/budgets.toml says why.")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
