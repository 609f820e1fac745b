"""No module leads back to itself by imports, whether they stand at its top or in its functions."""

import ast
from collections.abc import Iterator, Set
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
#: Each package with the folders that it lies in.
PACKAGES = {
    "gradwire_engine": ["engine"],
    "gradwire_gpu": ["engine"],
    "gradwire_solvers": ["engine"],
    "gradwire_service": ["service"],
    "gradwire_command": ["clients/command"],
    "gradwire": ["clients/python", "clients/tensorflow"],
}
#: Derivative rules that emit operations whose own rules emit theirs: sign of abs, abs of sign.
MUTUAL_RULES = [
    ("pointwise.arithmetic", "pointwise.exponential"),
    ("pointwise.arithmetic", "pointwise.selection"),
    ("reductions.reductions", "sequences.cumulative"),
]


#: Imports at each kind of place; only c and h are not executed.
EVERYWHERE = """
import a
class A:
    async def f():
        import b
if TYPE_CHECKING:
    import c
elif x:
    with y:
        for z in y:
            import d
try:
    pass
except E:
    import e
finally:
    import f
match x:
    case 1:
        import g
"import h"
"""


def modules(package: str) -> dict[str, Path]:
    """The files of a package's modules, by their names."""
    found = {}
    for folder in PACKAGES[package]:
        for path in (ROOT / folder / package).rglob("*.py"):
            parts = path.relative_to(ROOT / folder).with_suffix("").parts
            name = ".".join(parts).removesuffix(".__init__")
            found[name] = path
    return found


#: The members of statements that are statements, or parts with statements of their own.
WITHIN = ("body", "orelse", "finalbody", "handlers", "cases")


def statements(module: ast.Module) -> Iterator[ast.AST]:
    """All statements that a module executes, without what is for type checkers alone."""
    left: list[ast.AST] = [*module.body]
    while left:
        node = left.pop()
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
            left += node.orelse
            continue
        yield node
        for name in WITHIN:
            left += getattr(node, name, ())


def imported(module: ast.Module, known: Set[str]) -> set[str]:
    """The modules among those known that a module imports."""
    names: set[str] = set()
    for node in statements(module):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                names.add(whole if whole in known else node.module)
    return names & known


@pytest.mark.parametrize("package", PACKAGES)
def test_no_import_leads_back(package: str) -> None:
    found = modules(package)
    assert len(found) > 20
    graph = {
        name: imported(ast.parse(path.read_text(encoding="utf-8")), found.keys())
        for name, path in found.items()
    }
    assert sum(map(len, graph.values())) > len(found)
    for importer, other in MUTUAL_RULES if package == "gradwire_engine" else ():
        graph[f"{package}.ops.{importer}"].remove(f"{package}.ops.{other}")
    TopologicalSorter(graph).prepare()  # raises CycleError, which names the modules


def test_a_circle_is_found() -> None:
    assert imported(ast.parse(EVERYWHERE), {*"abcdefgh"}) == {*"abdefg"}
    with pytest.raises(CycleError, match="cycle"):
        TopologicalSorter({"a": {"b"}, "b": {"a"}}).prepare()
