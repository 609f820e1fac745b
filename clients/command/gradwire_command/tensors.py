"""``gradwire tensors``: arrays that the service stores."""

from __future__ import annotations

from pathlib import Path

import click

from gradwire_command.problems import InputProblem, of_values
from gradwire_command.session import connected, connecting, is_json, waiting


@click.group("tensors", short_help="Arrays that the service stores.")
def tensors() -> None:
    """Store arrays with the service; a value {"ref": REF} is one of them."""


@tensors.command("put", short_help="Store one.")
@click.argument("value", metavar="VALUE")
@connected
def put(value: str) -> None:
    """Store VALUE, JSON or @FILE, and print its ref.

    \b
      ref=$(gradwire tensors put @data.npy)
      gradwire eval 'mean(x)' 'x={"ref": "'$ref'"}'
    """
    from gradwire_command.printing import print_json
    from gradwire_command.reading.values import value_of

    array = value_of(value)
    with connecting() as client, waiting("storing the array"), of_values():
        stored = client.tensors.put(array)
    if is_json():
        print_json(stored)
    else:
        click.echo(stored.ref)


@tensors.command("get", short_help="The values of one.")
@click.argument("ref")
@click.option(
    "--output",
    "-o",
    type=click.Path(dir_okay=False),
    help="A file .npy to write, bfloat16 as float32.",
)
@connected
def get(ref: str, output: str | None) -> None:
    """Print the array REF, or write it to a file."""
    from gradwire.values import type_of

    from gradwire_command.printing import print_json, print_table

    with connecting() as client, waiting("fetching the array"):
        array = client.tensors.get(ref)
    if output is not None:
        import numpy as np
        from gradwire.bfloat16 import widened

        try:
            with Path(output).open("wb") as file:
                np.save(file, widened(np.asarray(array)))  # .npy has no bfloat16
        except OSError as error:
            raise InputProblem(f"cannot write {output}: {error.strerror}") from error
    elif is_json():
        print_json(array)
    else:
        print_table(["type", "value"], [[type_of(array), array]])


@tensors.command("delete", short_help="Delete one.")
@click.argument("ref")
@connected
def delete(ref: str) -> None:
    """Delete the array REF now, before it expires."""
    with connecting() as client:
        client.tensors.delete(ref)
