"""A shell's suggestions for a name: those that the service knows, if it answers at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeAlias

import click
import gradwire

from gradwire_command.session import address, option

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem
    from gradwire.client import Client

#: How long the service may take; a shell waits for it.
SECONDS = 1.0

#: A list of names that a client fetches, each with a few words.
Names: TypeAlias = "Callable[[Client], Iterable[tuple[str, str]]]"


def suggested(
    names: Names,
) -> Callable[[click.Context, click.Parameter, str], list[CompletionItem]]:
    """A completion by the names that the service knows: none if it does not answer.

    Nor is there any by a service in this process, whose start takes longer than typing the name.
    """

    def complete(
        context: click.Context, _: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem
        from gradwire.local import LOCAL

        with context.scope(cleanup=False):
            url, key = address(), option("key")
        if url == LOCAL:
            return []
        try:
            with gradwire.Client(url, api_key=key, timeout=SECONDS, max_retries=0) as client:
                found = sorted(names(client))
        except gradwire.GradwireError:
            return []
        known = [(name, told) for name, told in found if name.startswith(incomplete)]
        return [CompletionItem(name, help=told) for name, told in known]

    return complete


def operations(client: Client) -> Iterable[tuple[str, str]]:
    """The service's operations, with the first line of what they do."""
    return [(op.name, op.doc.partition("\n")[0]) for op in client.ops()]


def programs(client: Client) -> Iterable[tuple[str, str]]:
    """The names of the stored programs, with what they read."""
    return [
        (name, ", ".join(one.variables)) for one in client.programs.list() for name in one.names
    ]


def jobs(client: Client) -> Iterable[tuple[str, str]]:
    """The ids of the jobs, with their states."""
    return [(job.id, f"{job.kind}, {job.state}") for job in client.jobs.list()]
