"""The interface of backends: kernels are called there alone, and the optimiser only counts."""

import ast
from functools import cache
from pathlib import Path

import gradwire_engine
import pytest

ENGINE = Path(gradwire_engine.__file__).parent
#: What rules of the optimiser do with constants, which are arrays of the host.
HOST = {"abs", "all", "any", "asarray", "errstate", "finfo", "ndim", "ones", "size"}
#: What finds out how constant indices are made.
INDICES = {"arange", "array_equal", "bincount", "broadcast_arrays", "concatenate", "diff", "empty"}
INDICES |= {"ravel_multi_index", "where"}


#: The engine's modules that are no backend's.
MODULES = [
    name
    for name in sorted(path.relative_to(ENGINE).as_posix() for path in ENGINE.rglob("*.py"))
    if not name.startswith("backends/")
]


@cache
def nodes(name: str) -> list[ast.AST]:
    """All that a module consists of."""
    return [*ast.walk(ast.parse((ENGINE / name).read_text(encoding="utf-8")))]


def attributes(name: str, of: str) -> set[str]:
    """The attributes that a module reads of a name."""
    return {
        node.attr
        for node in nodes(name)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
        if node.value.id == of
    }


@pytest.mark.thorough
def test_only_backends_call_kernels() -> None:
    """An operation's own kernel may be made of others of its class."""
    for name in MODULES:
        calls = [node.func for node in nodes(name) if isinstance(node, ast.Call)]
        called = [f.value for f in calls if isinstance(f, ast.Attribute) and f.attr == "kernel"]
        assert {ast.unparse(of) for of in called} <= {"self", "super()"}, name


@pytest.mark.thorough
def test_only_backends_look_into_numpy() -> None:
    for name in MODULES:
        taken = {
            alias.name if isinstance(node, ast.Import) else f"{node.module}"
            for node in nodes(name)
            if isinstance(node, ast.Import | ast.ImportFrom)
            for alias in node.names
        }
        parts = {module for module in taken if module.split(".")[0] == "numpy"}
        assert parts <= {"numpy", "numpy.typing"}, name
        read = attributes(name, "np")
        assert read.isdisjoint({"lib", "core", "_core", "show_config", "seterr"}), name


@pytest.mark.parametrize("name", [name for name in MODULES if name.startswith("optimize/")])
def test_the_optimiser_computes_with_constants_alone(name: str) -> None:
    further = INDICES if name.startswith("optimize/index_") else set()
    assert attributes(name, "np") <= HOST | further
