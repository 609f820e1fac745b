"""Programs: text or graphs, from the command line, a file, standard input, or the service."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gradwire_command.problems import UnreadableProgram
from gradwire_command.reading.streams import standard_input

if TYPE_CHECKING:
    from gradwire.client import Client
    from gradwire.endpoints import Program

#: What files begin with that are no text, and what they are.
MAGIC = {
    b"\x93NUMPY": "a NumPy array",
    b"PK\x03\x04": "an archive, such as .npz",
    b"PAR1": "Parquet",
}


def program_of(client: Client, text: str | None, file: str | None, stored: str | None) -> Program:
    """The one program that was given: as an argument, by file, or by a name at the service."""
    given = [each for each in (text, file, stored) if each is not None]
    if len(given) != 1:
        raise click.UsageError(
            "a program is needed: as an argument, by --file, or by --stored"
            if not given
            else "one program is needed, not several: an argument, --file or --stored"
        )
    if stored is not None:
        return client.programs.get(stored)
    if text is not None and text != "-":
        return _read(text)
    return _read(_text_of_file("-" if file is None else file))


def _text_of_file(file: str) -> str:
    try:
        content = standard_input() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise UnreadableProgram(f"cannot read the program {file}: {error.strerror}") from error
    name = "standard input" if file == "-" else file
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        kind = next((f": it is {MAGIC[start]}" for start in MAGIC if content.startswith(start)), "")
        hint = f"values are given by x=@{file}" if kind and file != "-" else ""
        problem = (
            f"{name} is no program{kind or f', and no text in UTF-8 (byte {error.start + 1})'}"
        )
        raise UnreadableProgram(problem, hint=hint) from error
    if not text.strip() or "\0" in text:
        raise UnreadableProgram(
            f"{name} is no program: it {'is empty' if not text else 'has no text'}"
        )
    return text


def _read(text: str) -> str | dict[str, Any]:
    """A program as it is sent: a graph if it is JSON with nodes, else text."""
    if text.lstrip().startswith("{") and '"nodes"' in text:
        try:
            graph: dict[str, Any] = json.loads(text)
        except json.JSONDecodeError as error:
            problem = f"the program looks like a graph, and is not JSON: {error}"
            raise UnreadableProgram(problem) from error
        return graph
    return text
