"""Standard input, which is read once."""

from __future__ import annotations

import sys

import click


def standard_input() -> bytes:
    """All of standard input; an error if it was read before, or nothing will come."""
    context = click.get_current_context()
    if context.meta.get("gradwire.stdin"):
        raise click.UsageError("standard input can be read once: as the program, or as values")
    context.meta["gradwire.stdin"] = True
    if sys.stdin.isatty():
        click.echo("reading standard input, to its end (Ctrl-D)", err=True)
    return sys.stdin.buffer.read()
