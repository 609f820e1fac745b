"""The files that a set of tests depends on, found from what these import, start and read.

An import counts wherever it stands, also in a function. In tests and tools, so do the names of
modules and programs in texts (``python -m gradwire_service``) and the paths that are written down
(``ROOT / "deploy" / "nginx"``). Files beside a module that are no modules belong to it. A file that
cannot be found in this way is written down by the test that needs it, as a path.
"""

from __future__ import annotations

import ast
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import TypeGuard

#: The folders in which modules are found, by the first part of their names.
PACKAGES = {
    "gradwire_engine": ("engine/gradwire_engine",),
    "gradwire_gpu": ("engine/gradwire_gpu",),
    "gradwire_solvers": ("engine/gradwire_solvers",),
    "gradwire_service": ("service/gradwire_service",),
    "gradwire_command": ("clients/command/gradwire_command",),
    "gradwire": ("clients/python/gradwire", "clients/tensorflow/gradwire"),
    "tests": ("tests",),
    "tools": ("tools",),
}
#: Folders whose modules have names without the folder's.
TOP_LEVEL = ("benchmarks", "fuzz")
_PRODUCT = ("engine/", "service/", "clients/")
_MODULE = re.compile(
    r"\b(?:gradwire_engine|gradwire_gpu|gradwire_solvers|gradwire_service|gradwire_command|gradwire)(?:\.\w+)+|\bgradwire_(?:service|command)\b"
)
#: Programs that tests start, and the modules that they begin with.
_PROGRAMS = {
    "gradwire-server": "gradwire_service.__main__",
    "gradwire": "gradwire_command.__main__",
}
_FIXTURES = "tests/serving.py"
_ABOVE = re.compile(r"__file__\)(?:\.resolve\(\))?\.parents\[(\d+)\]$")


class Inputs:
    """Finds what files of a checkout depend on."""

    def __init__(self, root: Path) -> None:
        self.root = root
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=root,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split("\0")
        #: All files but those that git ignores.
        self.files = frozenset(name for name in listed if name and (root / name).is_file())
        self._direct: dict[str, frozenset[str]] = {}

    def of(self, paths: Iterable[str]) -> frozenset[str]:
        """The files and folders, and all that their files depend on."""
        found: set[str] = set()
        left = [file for path in paths for file in self.under(path)]
        while left:
            file = left.pop()
            if file not in found:
                found.add(file)
                left += self._dependencies(file) - found
        return frozenset(found)

    def under(self, path: str) -> Set[str]:
        """The file of this path, or the files of the folder."""
        if path in self.files:
            return {path}
        return self._folders.get(path.rstrip("/"), frozenset())

    @cached_property
    def _folders(self) -> dict[str, set[str]]:
        folders = defaultdict[str, set[str]](set)
        for file in self.files:
            for folder in PurePosixPath(file).parents:
                folders[str(folder)].add(file)
        return folders

    @cached_property
    def _data(self) -> dict[str, set[str]]:
        """Files that are no modules, by the nearest folder around them that has modules."""
        python = {str(PurePosixPath(file).parent) for file in self.files if file.endswith(".py")}
        data = defaultdict[str, set[str]](set)
        for file in self.files:
            if not file.endswith(".py") and file.split("/")[0] in _ROOTS:
                around = map(str, PurePosixPath(file).parents)
                data[next((folder for folder in around if folder in python), "")].add(file)
        return data

    @cached_property
    def _fixtures(self) -> frozenset[str]:
        tree = self._tree(_FIXTURES)
        return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef))

    def _tree(self, file: str) -> ast.Module:
        return ast.parse((self.root / file).read_text(encoding="utf-8"))

    def _dependencies(self, file: str) -> frozenset[str]:
        if file not in self._direct:
            found = {*self._found_in(file)} if file.endswith(".py") else set()
            self._direct[file] = frozenset(found - {file})
        return self._direct[file]

    def _found_in(self, file: str) -> Iterator[str]:
        folder = str(PurePosixPath(file).parent)
        yield from self._data.get(folder, ())
        for around in map(str, PurePosixPath(file).parents):
            yield from self.under_file(f"{around}/__init__.py")
            if file.startswith("tests/"):
                yield from self.under_file(f"{around}/conftest.py")
        nodes = [*ast.walk(self._tree(file))]
        for node in nodes:
            if isinstance(node, ast.Import):
                for name in node.names:
                    yield from self.module(name.name)
            elif isinstance(node, ast.ImportFrom):
                start = self._absolute(file, node)
                yield from self.module(start)
                for name in node.names:
                    yield from self.module(f"{start}.{name.name}")
        if not file.startswith(_PRODUCT):
            yield from self._read_or_started(file, nodes)
        elif _imports_by_name(nodes):
            yield from (other for other in self.under(folder) if other.endswith(".py"))

    def under_file(self, path: str) -> Set[str]:
        """The file of this path, if there is one."""
        return {path} & self.files

    def _absolute(self, file: str, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        for package, places in PACKAGES.items():
            for place in places:
                if file.startswith(place + "/"):
                    inside = PurePosixPath(file).relative_to(place).parts[: -node.level]
                    return ".".join([package, *inside, *([node.module] if node.module else [])])
        return node.module or ""

    def module(self, name: str) -> Set[str]:
        """The file of a module, or none if it is none of ours."""
        first, *rest = name.split(".")
        places = PACKAGES.get(first) or [f"{folder}/{first}" for folder in TOP_LEVEL]
        found: set[str] = set()
        for place in places:
            path = "/".join([place, *rest])
            found |= self.under_file(f"{path}.py") | self.under_file(f"{path}/__init__.py")
        return found

    def _read_or_started(self, file: str, nodes: Sequence[ast.AST]) -> Iterator[str]:
        """What a test or tool names in texts, as a path or as an argument of a test."""
        folder = PurePosixPath(file).parent
        passed = {id(text) for text in _docstrings(nodes)}
        passed |= {id(path.left) for path in nodes if _is_longer(path)}
        passed |= {id(path.right) for path in nodes if _is_path(path)}
        for node in nodes:
            if isinstance(node, ast.arg) and node.arg in self._fixtures and file != _FIXTURES:
                yield _FIXTURES
            if (
                isinstance(node, ast.BinOp)
                and id(node) not in passed
                and (path := "/".join(_written(node)))
            ):
                yield from self._read(node, path, folder)
            if not isinstance(node, ast.Constant) or id(node) in passed:
                continue
            if not isinstance(node.value, str):
                continue
            text = node.value
            if "/" in text.strip("/") or text in _ALONE:
                yield from self._unless_all(text)
            if text in self._fixtures:
                yield _FIXTURES
            if text in _PROGRAMS:
                yield from self.module(_PROGRAMS[text])
            for name in _MODULE.findall(text):
                yield from self._named(name)

    def _read(self, node: ast.expr, path: str, folder: PurePosixPath) -> Iterator[str]:
        """What is at a path that is written below the root, the file's folder or any around it."""
        while isinstance(node, ast.BinOp):
            node = node.left
        start = ast.unparse(node)
        above = _ABOVE.search(start)
        if above is not None:
            yield from self._unless_all(str((folder / "file").parents[int(above[1])] / path))
        elif "ROOT" in start.upper() or "REPOSITORY" in start.upper():
            yield from self._unless_all(path)
        elif start.endswith("__file__).parent"):
            yield from self._unless_all(str(folder / path))
        else:
            for around in (folder, *folder.parents):
                if str(around) != "tests":  # where folders are named like those beside it
                    yield from self._unless_all(str(around / path))

    def _named(self, name: str) -> Iterator[str]:
        """The modules that a dotted name goes through; of a package its program, too."""
        parts = name.split(".")
        for end in range(1, len(parts) + 1):
            yield from self.module(".".join(parts[:end]))
        yield from self.module(f"{name}.__main__")

    def _unless_all(self, path: str) -> Set[str]:
        """What is at a path. Tests that go through the sources are checks, and run every time."""
        path = path.strip("/")
        return frozenset() if path in ("", *_ROOTS) else self.under(path)


#: Folders that are no input as such: what tests use of them is found by imports.
_ROOTS = (
    "engine",
    "service",
    "clients",
    "clients/command",
    "clients/python",
    "clients/tensorflow",
    "tests",
    "benchmarks",
    "fuzz",
    "tools",
    "examples",
    "docs",
)
#: Files that are named without a folder.
_ALONE = (
    "Dockerfile",
    "Makefile",
    "README.md",
    "CHANGELOG.md",
    "docker-compose.yml",
    "pyproject.toml",
)


def _docstrings(nodes: Iterable[ast.AST]) -> Iterator[ast.Constant]:
    for node in nodes:
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                yield first.value


def _is_path(node: ast.AST) -> TypeGuard[ast.BinOp]:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)


def _is_longer(node: ast.AST) -> TypeGuard[ast.BinOp]:
    """True of a path whose first part is one by itself."""
    return _is_path(node) and isinstance(node.left, ast.BinOp)


def _written(node: ast.expr) -> list[str]:
    """The texts at the end of a path: ``ROOT / "a" / "b"`` is a, b."""
    if _is_path(node):
        right = node.right
        if isinstance(right, ast.Constant) and isinstance(right.value, str):
            return [*_written(node.left), right.value.strip("/")]
    return []


def _imports_by_name(nodes: Iterable[ast.AST]) -> bool:
    """True if a module imports others by names that it computes."""
    for node in nodes:
        if isinstance(node, ast.Call) and node.args and not isinstance(node.args[0], ast.Constant):
            called = node.func
            name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
            if name in ("import_module", "__import__", "iter_modules", "walk_packages"):
                return True
    return False
