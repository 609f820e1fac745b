"""The command ``gradwire``: its commands, and how each of them ends."""

from __future__ import annotations

import os
import sys
from typing import Any, NoReturn

import click
import gradwire

from gradwire_command import compute, optimize, problems
from gradwire_command.catalogue import limits, ops
from gradwire_command.completion import completion
from gradwire_command.exit_codes import ExitCode
from gradwire_command.jobs import jobs
from gradwire_command.page import open_page
from gradwire_command.programs import programs
from gradwire_command.session import connected, is_json
from gradwire_command.tapes import tapes
from gradwire_command.tensors import tensors


class Application(click.Group):
    """A group whose errors are one line, an excerpt and a hint, with an exit code by kind."""

    def main(self, *arguments: Any, **options: Any) -> NoReturn:
        """Run a command line, and exit, as Click's own does."""
        sys.exit(self.run(*arguments, **options))

    def run(self, *arguments: Any, **options: Any) -> int:
        """The exit code of a command line, by default that of the process."""
        named = {**options, "prog_name": "gradwire", "standalone_mode": False}
        try:
            code = super().main(*arguments, **named)
        except click.exceptions.Abort:  # Ctrl-C
            return ExitCode.INTERRUPTED
        except click.ClickException as error:
            error.show()
            return error.exit_code
        return code if isinstance(code, int) else ExitCode.DONE

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; errors of the SDK and of input end it, and so does a closed pipe."""
        try:
            super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            # Python flushes standard output once more at its end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            ctx.exit(ExitCode.CLOSED_PIPE)
        except click.exceptions.Exit:  # before the next one, which imports the SDK's errors
            raise
        except gradwire.GradwireError as error:
            _say(error)
            ctx.exit(problems.exit_code_of(error))
        except problems.InputProblem as error:
            _say(error)
            ctx.exit(error.exit_code)


def _say(error: Any) -> None:
    if is_json():
        click.echo(problems.as_json(error), err=True)
    elif isinstance(error, click.ClickException):
        error.show()
    else:
        problems.show(error)


def _version(context: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked and not context.resilient_parsing:
        click.echo(f"gradwire {gradwire.__version__}")
        context.exit()


@click.group(
    cls=Application,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 2 usage, 3 the program, 4 the values, 5 no service, 6 the key, "
    "7 limits, 8 time, 9 not found, 10 the service failed.",
)
@connected
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_version,
    help="Print the version and exit.",
)
def application() -> None:
    """Values and exact gradients of programs, computed by a Gradwire service.

    \b
      gradwire grad 'sum(x**2)' x=[1,2,3]
      GRADWIRE_URL=local gradwire grad 'sum(x**2)' x=[1,2,3]   without a server
    """


for _command in (
    *(*compute.COMMANDS, *optimize.COMMANDS),
    *(ops, limits, programs, tensors, tapes, jobs, open_page, completion),
):
    application.add_command(_command)
