"""The commands that tell what the service has: its operations, and its limits."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from gradwire_command.problems import NothingFound
from gradwire_command.session import connected, connecting, is_json
from gradwire_command.suggestions import operations, suggested

if TYPE_CHECKING:
    from gradwire.resources.catalogue import Gpu, Limits, Operation


@click.command("ops", short_help="The operations of programs.")
@click.argument("name", required=False, shell_complete=suggested(operations))
@click.option("--search", metavar="WORDS", help="Those with these words in name, family or text.")
@click.option("--family", metavar="FAMILY", help="Those of a family.")
@connected
def ops(name: str | None, search: str | None, family: str | None) -> None:
    """List the operations of programs, or describe one: signature, formula, other libraries' names.

    \b
      gradwire ops tanh
      gradwire ops --search cholesky
    """
    from gradwire_command.printing import print_json, print_table

    with connecting() as client:
        known = client.ops()
    if name is not None:
        operation = _named(known, name)
        if is_json():
            print_json(operation)
        else:
            click.echo("\n".join(_described(operation)))
        return
    words = (search or "").lower().split()
    found = [
        op
        for op in known
        if family in (None, op.family) and all(word in _searched(op) for word in words)
    ]
    if is_json():
        print_json(found)
        return
    if not found:
        raise NothingFound("no operation has these words", hint="gradwire ops lists all")
    print_table(["name", "family", ""], [[op.name, op.family, _first_line(op)] for op in found])


@click.command("limits", short_help="The limits of a request.")
@connected
def limits() -> None:
    """Print the most that one request may have, and that may be stored; a GPU, if one is ready."""
    from gradwire_command.printing import print_json, print_table

    with connecting() as client:
        found = client.limits()
    if is_json():
        print_json(found)
        return
    print_table(["limit", "most"], list(_rows(found)))
    if found.gpu is not None:
        print_table(["gpu", found.gpu.name], list(_rows(found.gpu)))


def _rows(found: Limits | Gpu) -> Iterator[list[str]]:
    """The name and the value of each number."""
    for field in dataclasses.fields(found):
        value = getattr(found, field.name)
        if isinstance(value, (int, float)):
            yield [field.name, f"{value:,}" if isinstance(value, int) else f"{value:.3g}"]


def _named(known: list[Operation], name: str) -> Operation:
    """The operation of a name, of an alias, or of a name in another library."""
    for operation in known:
        dialects = (dialect.partition("(")[0] for dialect in operation.dialects)
        if name in (operation.name, *operation.aliases, *dialects):
            return operation
    from difflib import get_close_matches

    close = get_close_matches(name, [op.name for op in known], n=3)
    hint = f"did you mean {', '.join(close)}?" if close else f"gradwire ops --search {name}"
    raise NothingFound(f"there is no operation {name!r}", hint=hint)


def _described(operation: Operation) -> Iterator[str]:
    yield click.style(operation.signature, bold=True)
    yield ""
    yield operation.doc
    yield ""
    differentiable = "differentiable" if operation.differentiable else "not differentiable"
    yield f"{operation.family}, {differentiable}"
    if operation.aliases:
        yield f"also {', '.join(operation.aliases)}"
    if operation.dialects:
        yield f"as {', '.join(operation.dialects)}"


def _first_line(operation: Operation) -> str:
    return operation.doc.partition("\n")[0].replace("``", "")


def _searched(operation: Operation) -> str:
    names = (operation.name, *operation.aliases, *operation.dialects)
    return " ".join((*names, operation.family, operation.doc)).lower()
