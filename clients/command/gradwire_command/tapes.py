"""``gradwire tapes``: programs that the service has run and keeps, for derivatives later."""

from __future__ import annotations

from typing import Any

import click

from gradwire_command.options import MinusCommand, Point, at_point, of_sources
from gradwire_command.session import connected, connecting, is_json, waiting


class WithId(MinusCommand):
    """A command whose id may begin with one minus, or with two, as options do."""

    ignore_unknown_options = True


@click.group("tapes", short_help="Programs that have run, for derivatives later.")
def tapes() -> None:
    """Run a program once and keep its values, to differentiate it later."""


@tapes.command("create", cls=MinusCommand, short_help="Run and keep one.")
@at_point
@click.option("--persistent", is_flag=True, help="It answers more than once.")
@click.option("--watch", multiple=True, metavar="NAME", help="Further sources; may be repeated.")
@connected
def create(point: Point, persistent: bool, watch: tuple[str, ...]) -> None:
    """Run PROGRAM at variables NAME=VALUE and print the tape's id.

    \b
      tape=$(gradwire tapes create 'h = x**2; sum(h)' x=[1,2] --persistent)
      gradwire tapes gradient $tape --sources h
    """
    from gradwire_command.printing import print_answer

    with connecting() as client:
        program, variables = point.program(client), point.variables()
        with waiting("running the program"):
            tape = client.tapes.create(
                program, variables, persistent=persistent or None, watch=list(watch) or None
            )
    if is_json():
        print_answer(tape)
    else:
        click.echo(tape.id)


@tapes.command("get", cls=WithId, short_help="What one has recorded.")
@click.argument("tape")
@connected
def get(tape: str) -> None:
    """Print the instructions of TAPE, and the memory of their values."""
    from gradwire_command.printing import print_answer

    with connecting() as client:
        found = client.tapes.get(tape)
    print_answer(found)


@tapes.command("gradient", cls=WithId, short_help="The gradient of one.")
@click.argument("tape")
@of_sources
@click.option("--target", metavar="NAMES", help="What is differentiated, not the output.")
@connected
def gradient(tape: str, **names: Any) -> None:
    """Print the gradient of TAPE's output; a tape that is not persistent is then used up."""
    from gradwire_command.printing import print_answer
    from gradwire_command.reading.values import names_of

    with connecting() as client, waiting("waiting for the gradient"):
        options: Any = {name: names_of(given) for name, given in names.items()}
        answer = client.tapes.open(tape).gradient(**options)
    print_answer(answer)


@tapes.command("delete", cls=WithId, short_help="Delete one.")
@click.argument("tape")
@connected
def delete(tape: str) -> None:
    """Delete TAPE now, before it expires."""
    with connecting() as client:
        client.tapes.delete(tape)
