"""Parts that all commands share: the service's address and key, form of answers, and patience."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Protocol, TypeVar

import click
import gradwire

if TYPE_CHECKING:
    from gradwire.client import Client

F = TypeVar("F", bound=Callable[..., Any])

#: Shorter waiting is not shown, nor the reading of smaller files.
SHOWN_AFTER_SECONDS = 0.5
SHOWN_FROM_BYTES = 8_000_000
#: What the service may be late, over the time that it was given, before the client gives up.
GRACE_SECONDS = 2.0


def _remember(context: click.Context, parameter: click.Parameter, value: Any) -> None:
    """Keep an option for the whole command line: the last one counts."""
    if value is not None and value is not False:
        context.meta[f"gradwire.{parameter.name}"] = value


class Option(Protocol):
    """Adds an option or an argument to a command."""

    def __call__(self, command: F, /) -> F: ...


def with_options(*options: Option) -> Option:
    """Add options to a command, which its help lists from the last to the first."""

    def decorated(command: F, /) -> F:
        for each in options:
            command = each(command)
        return command

    return decorated


#: Add the options of every command that asks the service.
connected: Option = with_options(
    click.option(
        "--json",
        is_flag=True,
        expose_value=False,
        callback=_remember,
        help="Print the answer as JSON, for scripts.",
    ),
    click.option(
        "--timeout",
        type=click.FloatRange(min=0, min_open=True),
        metavar="SECONDS",
        expose_value=False,
        callback=_remember,
        help="The time that the service may take.",
    ),
    click.option(
        "--key",
        metavar="KEY",
        expose_value=False,
        callback=_remember,
        help="The API key, by default $GRADWIRE_API_KEY.",
    ),
    click.option(
        "--url",
        metavar="URL",
        expose_value=False,
        callback=_remember,
        help="The service's address, by default $GRADWIRE_URL, else http://127.0.0.1:8000; "
        "local computes in this process.",
    ),
)


def option(name: str) -> Any:
    """A remembered option; ``None`` if it was not given."""
    return click.get_current_context().meta.get(f"gradwire.{name}")


def is_json() -> bool:
    """True if answers are printed as JSON."""
    return bool(option("json"))


def timeout_ms() -> float | None:
    """The time limit of a computation, if one was given."""
    seconds = option("timeout")
    return None if seconds is None else 1000.0 * float(seconds)


def address() -> str:
    """The service's address, without a slash at its end; ``local`` for one in this process."""
    from gradwire.options import ClientOptions

    return ClientOptions.resolve(option("url"), None, None, 0).base_url


@contextmanager
def connecting() -> Iterator[Client]:
    """A client with the options of the command line, closed at the end."""
    given: dict[str, Any] = {}
    if option("timeout") is not None:
        given["timeout"] = float(option("timeout")) + GRACE_SECONDS
    with gradwire.Client(option("url"), api_key=option("key"), **given) as client:
        yield client


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Show what is being waited for, and for how long, once it takes long on a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    over = threading.Event()

    def show() -> None:
        if over.wait(SHOWN_AFTER_SECONDS):
            return
        from rich.console import Console
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
            progress.add_task(what, total=None)
            over.wait()

    showing = threading.Thread(target=show, daemon=True)
    showing.start()
    try:
        yield
    finally:
        over.set()
        showing.join()


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """A file to read; on a terminal a bar shows how much of a large one is read."""
    if not sys.stderr.isatty() or path.stat().st_size < SHOWN_FROM_BYTES:
        with path.open("rb") as stream:
            yield stream
        return
    import rich.progress
    from rich.console import Console

    title, console = f"reading {path.name}", Console(stderr=True)
    with rich.progress.open(path, "rb", description=title, console=console, transient=True) as read:
        yield read
