"""No module leads back to itself by imports, whether they stand at its top or in its functions."""

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
#: Each package with the folders that it lies in.
PACKAGES = {
    "gradwire_engine": ["engine"],
    "gradwire_service": ["service"],
    "gradwire": ["clients/python", "clients/tensorflow"],
}
#: Derivative rules that emit operations whose own rules emit theirs: sign of abs, abs of sign.
MUTUAL_RULES = [
    ("pointwise.arithmetic", "pointwise.exponential"),
    ("pointwise.arithmetic", "pointwise.selection"),
    ("reductions.reductions", "sequences.cumulative"),
]


def modules(package: str) -> dict[str, ast.Module]:
    """The modules of a package, by their names."""
    found = {}
    for folder in PACKAGES[package]:
        for path in (ROOT / folder / package).rglob("*.py"):
            parts = path.relative_to(ROOT / folder).with_suffix("").parts
            name = ".".join(parts).removesuffix(".__init__")
            found[name] = ast.parse(path.read_text())
    return found


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """All statements that a module executes, without what is for type checkers alone."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            continue
        if isinstance(child, ast.If) and getattr(child.test, "id", "") == "TYPE_CHECKING":
            children: list[ast.AST] = [*child.orelse]
        else:
            yield child
            children = [child]
        for each in children:
            yield from statements(each)


def imported(module: ast.Module, known: set[str]) -> set[str]:
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
    assert len(found) > 100
    graph = {name: imported(module, set(found)) for name, module in found.items()}
    assert sum(map(len, graph.values())) > len(found)
    for importer, other in MUTUAL_RULES if package == "gradwire_engine" else ():
        graph[f"{package}.ops.{importer}"].remove(f"{package}.ops.{other}")
    TopologicalSorter(graph).prepare()  # raises CycleError, which names the modules


def test_a_circle_is_found() -> None:
    source = "def f():\n    import b\nif TYPE_CHECKING:\n    import c\n"
    known = {"a", "b", "c"}
    assert imported(ast.parse(source), known) == {"b"}
    with pytest.raises(CycleError, match="cycle"):
        TopologicalSorter({"a": {"b"}, "b": {"a"}}).prepare()
