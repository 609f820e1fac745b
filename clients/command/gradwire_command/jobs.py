"""``gradwire jobs``: optimisations that the service goes on with by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gradwire_command import suggestions
from gradwire_command.optimize import show_result
from gradwire_command.session import Option, connected, connecting, is_json
from gradwire_command.suggestions import suggested
from gradwire_command.tapes import WithId

if TYPE_CHECKING:
    from gradwire.optimization.jobs import Job

with_job: Option = click.argument("job", shell_complete=suggested(suggestions.jobs))


@click.group("jobs", short_help="Optimisations in the background.")
def jobs() -> None:
    """Look after optimisations that the service goes on with by itself."""


@jobs.command("list", short_help="All of them.")
@connected
def list_all() -> None:
    """List the jobs, each with its state and how far it is."""
    from gradwire_command.printing import print_json, print_table

    with connecting() as client:
        found = client.jobs.list()
    if is_json():
        print_json([job.document for job in found])
    else:
        head = ["id", "kind", "state", "iteration", "value", "created"]
        print_table(head, [_line(job) for job in found])


@jobs.command("show", cls=WithId, short_help="One, with its result.")
@with_job
@connected
def show(job: str) -> None:
    """Print the state of JOB, and its result once it is done."""
    from gradwire_command.printing import print_json, print_report

    with connecting() as client:
        found = client.jobs.get(job)
    if is_json():
        print_json(found.document)
        return
    print_report(found)
    if found.state == "succeeded":
        print_report(found.answer())


@jobs.command("watch", cls=WithId, short_help="Follow one.")
@with_job
@connected
def watch(job: str) -> None:
    """Follow JOB until it is done, and print its result; it goes on after an interrupt."""
    from gradwire.optimization.following import followed

    from gradwire_command.following import following

    with connecting() as client:
        found = client.jobs.get(job)
        with following(found.kind, None) as report:
            client.run(followed(found, report))
    show_result(found.answer())


@jobs.command("cancel", cls=WithId, short_help="Stop one.")
@with_job
@connected
def cancel(job: str) -> None:
    """Stop JOB."""
    with connecting() as client:
        client.jobs.cancel(job)


@jobs.command("delete", cls=WithId, short_help="Delete one.")
@with_job
@connected
def delete(job: str) -> None:
    """Delete JOB and its result now, before it expires."""
    with connecting() as client:
        client.jobs.delete(job)


def _line(job: Job) -> list[str]:
    from gradwire.display.figures import digits

    progress = job.progress
    at = "" if progress is None else f"{progress.iteration:,}"
    value = "" if progress is None or progress.value is None else digits(progress.value)
    created = f"{job.document.created_at:%Y-%m-%d %H:%M:%S}"
    return [job.id, job.kind, job.state, at, value, created]
