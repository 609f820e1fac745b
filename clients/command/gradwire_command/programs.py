"""``gradwire programs``: programs that the service stores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from gradwire_command import suggestions
from gradwire_command.options import MinusCommand, Point, of_sources, with_program
from gradwire_command.session import Option, connected, connecting, is_json
from gradwire_command.suggestions import suggested

if TYPE_CHECKING:
    from gradwire.resources.graphs import Graph
    from gradwire.stored import StoredProgram


with_name: Option = click.argument("name", shell_complete=suggested(suggestions.programs))


@click.group("programs", short_help="Programs that the service stores.")
def programs() -> None:
    """Store programs with the service; --stored NAME computes with one."""


@programs.command("list", short_help="All of them.")
@connected
def list_all() -> None:
    """List the stored programs."""
    from gradwire_command.printing import print_json, print_table

    with connecting() as client:
        found = client.programs.list()
    if is_json():
        print_json(found)
        return
    lines = [
        [", ".join(one.names), one.id[:15], ", ".join(one.variables), f"{one.nodes:,}"]
        for one in found
    ]
    print_table(["names", "id", "variables", "nodes"], lines)


@programs.command("get", short_help="The text of one.")
@with_name
@connected
def get(name: str) -> None:
    """Print the text of the program NAME, or of an id; all about it with --json."""
    from gradwire_command.printing import print_json

    with connecting() as client:
        found = client.programs.get(name)
    if is_json():
        print_json(found)
    else:
        click.echo(found.text)


@programs.command("register", cls=MinusCommand, short_help="Store one.")
@with_program
@click.option("--name", metavar="NAME", help="A name, which may be another program's now.")
@connected
def register(point: Point, name: str | None) -> None:
    """Store PROGRAM and print its id.

    \b
      gradwire programs register -f model.gw --name model
    """
    from gradwire_command.printing import print_json

    with connecting() as client:
        found = client.programs.register(point.program(client), name)
    if is_json():
        print_json(found)
    else:
        click.echo(_summary(found))


@programs.command("delete", short_help="Delete one.")
@with_name
@connected
def delete(name: str) -> None:
    """Delete the program NAME, or of an id, and all its names."""
    with connecting() as client:
        client.programs.delete(name)


@programs.command("graph", short_help="The graph of one.")
@with_name
@click.argument("values", nargs=-1, metavar="[NAME=VALUE]...")
@click.option("--target", metavar="NAMES", help="What is marked as the target.")
@of_sources
@click.option("--svg", "form", flag_value="svg", help="A picture.")
@click.option("--dot", "form", flag_value="dot", help="For Graphviz.")
@connected
def graph(
    name: str, values: Sequence[str], target: str | None, sources: str | None, form: str | None
) -> None:
    """Print the graph of the program NAME, or of an id; with values, nodes have types.

    \b
      gradwire programs graph model --svg > model.svg
    """
    from gradwire_command.printing import print_json, print_table
    from gradwire_command.reading.values import names_of, variables_of

    marked = {"target": names_of(target), "sources": names_of(sources)}
    variables = variables_of((), values) or None
    with connecting() as client:
        if form is not None:
            point = () if variables is None else (variables,)
            drawing = client.draw(client.programs.get(name), *point, **marked)
            click.echo(drawing.svg() if form == "svg" else drawing.dot())
            return
        found = client.programs.graph(name, variables, **marked)
    if is_json():
        print_json(found)
    else:
        print_table(["name", "operation", "of", "type", "line", ""], _nodes(found))


def _summary(program: StoredProgram) -> str:
    return f"{program.id} {', '.join(program.names)}".rstrip()


def _nodes(graph: Graph) -> list[list[str]]:
    """A line for each node: what it is called and computed from."""
    called = {node.id: node.name or node.label for node in graph.nodes}
    operands: dict[str, list[str]] = {node.id: [] for node in graph.nodes}
    for edge in graph.edges:
        operands.setdefault(edge.head, []).append(called.get(edge.tail, edge.tail))
    return [
        [
            node.name or "",
            node.label,
            ", ".join(operands[node.id]),
            "" if node.dtype is None else f"{node.dtype}{list(node.shape or ())}",
            "" if node.line is None else f"{node.line}",
            ", ".join(node.marks),
        ]
        for node in graph.nodes
    ]
