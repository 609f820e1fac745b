"""The commands that run whole optimisations, and follow them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from gradwire_command.exit_codes import ExitCode
from gradwire_command.options import EXACT, STRICT, MinusCommand, Point, at_point, of_sources
from gradwire_command.session import Option, connected, connecting, is_json, option, with_options

if TYPE_CHECKING:
    from gradwire.optimization.results import Kind, OptimizeResult
    from gradwire.trees import Names

#: Add the options of every optimisation.
optimizing: Option = with_options(
    STRICT,
    EXACT,
    click.option("--background", is_flag=True, help="Print the id of the job and exit."),
    click.option("--tol", type=float, help="The tolerance of the method's test for its end."),
    click.option(
        "--option",
        "-o",
        "options",
        multiple=True,
        metavar="NAME=VALUE",
        help="An option of the method, as maxiter=100; may be repeated.",
    ),
    click.option("--method", metavar="NAME", help="The method, as SciPy names it."),
    click.option("--target", metavar="NAMES", help="What is optimised, not the output."),
    of_sources,
)
#: Add bounds.
bounded: Option = click.option(
    "--bounds",
    multiple=True,
    metavar="NAME=[LOW,HIGH]",
    help="Bounds of a source, null for none; may be repeated.",
)


@click.command("minimize", cls=MinusCommand, short_help="The least value of a program.")
@at_point
@optimizing
@bounded
@click.option(
    "--constraint",
    "constraints",
    multiple=True,
    metavar="JSON",
    help='{"program": TEXT, "low": …, "high": …}; may be repeated.',
)
@click.option("--minibatch", metavar="JSON", help='{"size": 64, "variables": ["x", "y"]}')
@connected
def minimize(point: Point, constraints: Sequence[str], minibatch: str | None, **given: Any) -> None:
    """Minimise PROGRAM from variables NAME=VALUE on; the exit code is 1 without success.

    \b
      gradwire minimize '(1 - x)**2 + 100 * (y - x**2)**2' x=-1 y=1
      gradwire minimize -f model.gw --values values.json --sources w,b --method adam -o maxiter=1000
    """
    from gradwire_command.reading.values import value_of

    further = {
        "constraints": [value_of(each) for each in constraints] or None,
        "minibatch": None if minibatch is None else value_of(minibatch),
    }
    _optimize("minimize", point, given, **further)


@click.command("least-squares", cls=MinusCommand, short_help="The least sum of squares.")
@at_point
@optimizing
@bounded
@connected
def least_squares(point: Point, **given: Any) -> None:
    """Minimise the sum of the squares of all values of PROGRAM.

    \b
      gradwire least-squares 'a * exp(-b * t) - y' a=1 b=1 --values data.csv:t,y --sources a,b
    """
    _optimize("least_squares", point, given)


@click.command("root", cls=MinusCommand, short_help="Where all values are zero.")
@at_point
@optimizing
@connected
def root(point: Point, **given: Any) -> None:
    """Search where all values of PROGRAM are zero, as many as --sources have elements.

    \b
      gradwire root 'cos(x) - x' x=1
    """
    _optimize("root", point, given)


def _optimize(kind: Kind, point: Point, given: dict[str, Any], **further: Any) -> None:
    """Run an optimisation, follow it, and print its result; or print the job's id."""
    from gradwire.optimization.requests import optimized

    from gradwire_command.following import following
    from gradwire_command.printing import print_json
    from gradwire_command.reading.values import names_of, options_of

    background = given.pop("background")
    options = {
        "target": names_of(given.pop("target")),
        "sources": _by_name(names_of(given.pop("sources"))),
        "options": options_of(given.pop("options")),
        "bounds": options_of(given.pop("bounds", ())) or None,
        "promotion": "strict" if given.pop("strict") else None,
        "exact": given.pop("exact") or None,
        "tol": given.pop("tol"),
        "max_seconds": option("timeout"),
    }
    method = given.pop("method")
    with connecting() as client:
        program, options["variables"] = point.program(client), point.variables()
        asked = {name: each for name, each in {**options, **further}.items() if each is not None}
        show = following(kind, options["options"].get("maxiter"))
        handle = client.jobs.handle
        found = client.run(
            optimized(kind, handle, program, None, (), method, asked, background, show)
        )
    if not background:
        show_result(found)
    elif is_json():
        print_json(found.document)
    else:
        click.echo(found.id)


def _by_name(sources: Names) -> Names:
    """Sources as a mapping, so that the solution has their names."""
    listed = [sources] if isinstance(sources, str) else sources
    if isinstance(listed, list) and all(isinstance(name, str) for name in listed):
        return {name: name for name in listed}
    return sources


def show_result(found: OptimizeResult) -> None:
    """Print a result; the exit code is 1 if it is without success."""
    from gradwire_command.printing import print_json, print_report

    if is_json():
        print_json(found)
    else:
        print_report(found)
    if not found.success:
        click.get_current_context().exit(ExitCode.WRONG)


COMMANDS = (minimize, least_squares, root)
