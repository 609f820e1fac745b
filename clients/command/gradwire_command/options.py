"""The options that commands share: where the program and its values are, and what is computed."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from gradwire_command import suggestions
from gradwire_command.session import Option, with_options
from gradwire_command.suggestions import suggested

if TYPE_CHECKING:
    from gradwire.client import Client
    from gradwire.endpoints import Program

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Point:
    """A program and its values, as the command line gives them; read once they are needed."""

    words: Sequence[str]
    file: str | None
    stored: str | None
    values: Sequence[str]

    def program(self, client: Client) -> Program:
        """The program: the first word, unless an option gives it."""
        from gradwire_command.reading.programs import program_of

        first = None if self._has_option or not self.words else self.words[0]
        return program_of(client, first, self.file, self.stored)

    def variables(self) -> Any:
        """The variables by name."""
        from gradwire_command.reading.values import variables_of

        return variables_of(self.values, self.words if self._has_option else self.words[1:])

    @property
    def _has_option(self) -> bool:
        return self.file is not None or self.stored is not None


class MinusCommand(click.Command):
    """A command whose arguments may begin with a minus, as ``-x**2`` and ids of tapes do.

    Only ``--names`` and the short options that are listed here are options.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; those with a space before them are never options."""
        rest = super().parse_args(ctx, [f" {arg}" if _begins_so(arg) else arg for arg in args])
        for name, value in ctx.params.items():
            if isinstance(value, str):
                ctx.params[name] = _without_space(value)
            elif isinstance(value, tuple):
                ctx.params[name] = tuple(map(_without_space, value))
        return rest


def _begins_so(arg: str) -> bool:
    return arg[:1] == "-" and arg[1:2] != "-" and arg not in ("-", "-f", "-o", "-h")


def _without_space(arg: str) -> str:
    return arg[1:] if arg[:1] == " " and _begins_so(arg[1:]) else arg


#: A program.
_PROGRAM: tuple[Callable[[Any], Any], ...] = (
    click.option(
        "--stored",
        metavar="NAME",
        shell_complete=suggested(suggestions.programs),
        help="The program: one that the service has stored.",
    ),
    click.option(
        "--file",
        "-f",
        type=click.Path(allow_dash=True),
        metavar="FILE",
        help="The program: a file's; - is standard input.",
    ),
)
#: The values of its variables.
_VALUES: Callable[[Any], Any] = click.option(
    "--values",
    multiple=True,
    type=click.Path(allow_dash=True),
    metavar="FILE",
    help="Variables by name: JSON, .npz, columns of CSV or Parquet; - is standard input.",
)


def with_program(command: F) -> F:
    """Add the program, and hand it over as a ``Point`` without values."""
    return _with_point(command, "[PROGRAM]", *_PROGRAM)


def at_point(command: F) -> F:
    """Add the program and its values, and hand them over as a ``Point``."""
    return _with_point(command, "[PROGRAM] [NAME=VALUE]...", _VALUES, *_PROGRAM)


def _with_point(command: F, metavar: str, *options: Callable[[Any], Any]) -> F:
    @functools.wraps(command)
    def taking(
        words: Sequence[str],
        file: str | None,
        stored: str | None,
        values: Sequence[str] = (),
        **rest: Any,
    ) -> Any:
        return command(Point(words, file, stored, values), **rest)

    with_words: F = with_options(*options, click.argument("words", nargs=-1, metavar=metavar))(
        cast("F", taking)
    )
    return with_words


STRICT: Option = click.option("--strict", is_flag=True, help="Mixing dtypes is an error.")
EXACT: Option = click.option(
    "--exact", is_flag=True, help="The bits of NumPy, operation by operation."
)

#: Add the options of every computation.
computing: Option = with_options(
    STRICT,
    EXACT,
    click.option("--outputs", metavar="NAMES", help="Values to print: y,z, or nested as JSON."),
)
#: Add the names of what has a batch axis.
batched: Option = click.option("--batch", metavar="NAMES", help="Variables that have a batch axis.")
#: Add the options of every derivative.
deriving: Option = with_options(
    click.option("--zero", is_flag=True, help="Zeros in place of gradients that do not exist."),
    click.option("--target", metavar="NAMES", help="What is differentiated, not the output."),
    computing,
)
#: Add the sources of a derivative.
of_sources: Option = click.option(
    "--sources",
    metavar="NAMES",
    help='With respect to what: w,b, or nested as JSON, {"w": "layer.w"}; by default all.',
)
