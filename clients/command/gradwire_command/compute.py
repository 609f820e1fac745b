"""The commands that compute: values, derivatives and their products."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click

from gradwire_command.exit_codes import ExitCode
from gradwire_command.options import (
    MinusCommand,
    Point,
    at_point,
    batched,
    computing,
    deriving,
    of_sources,
)
from gradwire_command.session import Option, connected, connecting, timeout_ms, waiting

#: Options whose values are names.
NAMES = ("outputs", "target", "sources")
#: The queries that the service explains, and that its page asks.
QUERIES = ("gradient", "jacobian", "hessian", "evaluate")


def asked(point: Point, method: str, options: dict[str, Any], *further: Any) -> Any:
    """Ask the service by a method of the client, and print the answer."""
    from gradwire_command.printing import print_answer

    with connecting() as client:
        program, variables = point.program(client), point.variables()
        requested = _options(options)
        with waiting("waiting for the answer"):
            answer = getattr(client, method)(program, variables, *further, **requested)
    print_answer(answer)
    return answer


def _options(given: dict[str, Any]) -> dict[str, Any]:
    """The options of a method, of those of the command line."""
    from gradwire_command.reading.values import names_of, value_of

    options = {name: names_of(given.pop(name)) for name in NAMES if name in given}
    batch = names_of(given.pop("batch", None))
    options["batch"] = [batch] if isinstance(batch, str) else batch
    options["exact"] = given.pop("exact") or None
    options["promotion"] = "strict" if given.pop("strict") else None
    if "zero" in given:
        options["unconnected_gradients"] = "zero" if given.pop("zero") else None
    seeds = given.pop("output_gradients", None)
    if seeds is not None:
        options["output_gradients"] = value_of(seeds)
    return {**options, **given, "timeout_ms": timeout_ms()}


#: Add the weights of a target's elements.
weighted: Option = click.option(
    "--output-gradients",
    metavar="VALUE",
    help="Weights of the target's elements: JSON, or @FILE.",
)
#: Add the form of matrices.
formed: Option = click.option(
    "--format", type=click.Choice(["dense", "coo"]), help="Whole, or by coordinates."
)


@click.command("eval", cls=MinusCommand, short_help="The values of a program.")
@at_point
@batched
@computing
@connected
def evaluate(point: Point, **options: Any) -> None:
    """Print the values of PROGRAM, at variables NAME=VALUE.

    \b
      gradwire eval 'sum(x**2)' x=[1,2,3]
      gradwire eval -f model.gw --values values.json x=@data.npy
      echo 'x + 1' | gradwire eval - x=2
    """
    asked(point, "evaluate", options)


@click.command("grad", cls=MinusCommand, short_help="The value and the gradient.")
@at_point
@weighted
@of_sources
@batched
@deriving
@connected
def grad(point: Point, **options: Any) -> None:
    """Print the gradient of PROGRAM's output, or of --target, with respect to --sources.

    \b
      gradwire grad 'sum(x**2)' x=[1,2,3]
      gradwire grad -f model.gw --values values.json x=@data.npy --sources w,b
    """
    asked(point, "gradient", options)


@click.command("check", cls=MinusCommand, short_help="The gradient beside finite differences.")
@at_point
@click.option("--step", type=float, help="The step, relative to an element or to one.")
@click.option("--rtol", type=float, help="Tolerance relative to the largest element.")
@click.option("--atol", type=float, help="Absolute tolerance.")
@weighted
@of_sources
@batched
@deriving
@connected
def check(point: Point, **options: Any) -> None:
    """Compare the gradient with differences of values; the exit code is 1 if these contradict it.

    \b
      gradwire check 'log(det(a))' a=[[2,1],[0.5,3]]
    """
    answer = asked(point, "check", options)
    if any(check.wrong for check in answer.checks.values()):
        click.get_current_context().exit(ExitCode.WRONG)


@click.command("jacobian", cls=MinusCommand, short_help="The Jacobian.")
@at_point
@click.option("--mode", type=click.Choice(["auto", "forward", "reverse"]), help="By what it is.")
@formed
@of_sources
@batched
@deriving
@connected
def jacobian(point: Point, **options: Any) -> None:
    """Print the derivative of each element of the target in each element of --sources.

    \b
      gradwire jacobian 'stack([x * y, x + y])' x=2 y=3
    """
    asked(point, "jacobian", options)


@click.command("hessian", cls=MinusCommand, short_help="The Hessian, and the gradient.")
@at_point
@formed
@of_sources
@batched
@deriving
@connected
def hessian(point: Point, **options: Any) -> None:
    """Print the second derivatives in each pair of --sources, and the gradients.

    \b
      gradwire hessian '(1 - x)**2 + 100 * (y - x**2)**2' x=1 y=1
    """
    asked(point, "hessian", options)


@click.command("explain", cls=MinusCommand, short_help="How it is computed.")
@at_point
@click.option("--query", type=click.Choice(QUERIES), help="What is explained, by default gradient.")
@click.option("--time", is_flag=True, help="Measure each instruction.")
@weighted
@of_sources
@deriving
@connected
def explain(point: Point, time: bool, **options: Any) -> None:
    """Print what the service records and replays: each value, its adjoint, each instruction's cost.

    \b
      gradwire explain 'sum(w * tanh(x))' w=2 x=[1,2] --sources w
    """
    asked(point, "explain", {**options, "time": time or None})


def _directions(what: str) -> Callable[[Any], Any]:
    return click.option(
        f"--{what}",
        "directions",
        multiple=True,
        required=True,
        metavar="NAME=VALUE",
        help="The direction of a variable, of its shape; may be repeated.",
    )


def _read(directions: Sequence[str], field: str) -> Any:
    from gradwire_command.reading.values import variables_of

    return variables_of((), directions, field)


@click.command("jvp", cls=MinusCommand, short_help="The derivative along directions.")
@at_point
@_directions("tangent")
@batched
@deriving
@connected
def jvp(point: Point, directions: Sequence[str], **options: Any) -> None:
    """Print the derivative of the target along each --tangent: the Jacobian times it.

    \b
      gradwire jvp 'x * y' x=[1,2] y=3 --tangent x=[1,-1]
    """
    asked(point, "jvp", options, _read(directions, "tangents"))


@click.command("hvp", cls=MinusCommand, short_help="The Hessian times vectors.")
@at_point
@_directions("vector")
@batched
@deriving
@connected
def hvp(point: Point, directions: Sequence[str], **options: Any) -> None:
    """Print the Hessian times each --vector, and the gradients.

    \b
      gradwire hvp 'sum(x**4)' x=[1,2] --vector x=[1,-1]
    """
    asked(point, "hvp", options, _read(directions, "vectors"))


COMMANDS = (evaluate, grad, check, jacobian, hessian, jvp, hvp, explain)
