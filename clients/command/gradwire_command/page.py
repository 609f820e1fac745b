"""``gradwire open``: a program in the page of the service, by an address that contains it."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping
from typing import Any

import click

from gradwire_command.compute import QUERIES
from gradwire_command.options import MinusCommand, Point, at_point, of_sources
from gradwire_command.problems import InputProblem, UnreadableProgram, UnreadableValues
from gradwire_command.session import address, connected, connecting

#: The longest address that is opened: Linux starts no program with an argument of 128 KiB.
LONGEST_ADDRESS = 100_000


@click.command("open", cls=MinusCommand, short_help="The service's page, with this program.")
@at_point
@of_sources
@click.option("--query", type=click.Choice(QUERIES), help="What the page asks of the service.")
@click.option("--print", "only_print", is_flag=True, help="Print the address and open nothing.")
@connected
def open_page(point: Point, sources: str | None, query: str | None, only_print: bool) -> None:
    """Open the page of the service with PROGRAM and its values.

    The address contains both, after its #, which browsers do not send.

    \b
      gradwire open 'sum(x**2)' x=[1,2,3] --query gradient
    """
    from gradwire.display.spelling import spelled
    from gradwire.endpoints import text_of
    from gradwire.local import LOCAL
    from gradwire.values import encode_variables

    from gradwire_command.reading.values import names_of

    base = address()
    if base == LOCAL:
        raise InputProblem("a service in this process has no page", hint="give --url a server's")
    with connecting() as client:
        text = text_of(point.program(client))
    if text is None:
        raise UnreadableProgram("the page takes a program as text, and this one is a graph")
    shown: dict[str, Any] = {"program": text}
    shown["variables"] = spelled(encode_variables(point.variables()))
    shown |= {"sources": names_of(sources)} if sources is not None else {}
    shown |= {"query": query} if query is not None else {}
    page = f"{base}/#{fragment(shown)}"
    if only_print:
        click.echo(page)
        return
    if len(page) > LONGEST_ADDRESS:
        raise UnreadableValues(
            f"the values are too large for an address ({len(page):,} characters)",
            hint="gradwire tensors put stores an array; its ref is short",
        )
    import webbrowser

    if not webbrowser.open(page):
        click.echo(page)


def fragment(shown: Mapping[str, Any]) -> str:
    """The page's fragment, after the ``#``: ``v1=`` and the document, in JSON, deflated, base64url.

    Sources: RFC 1951 (raw deflate), RFC 4648 section 5 (base64url, here without padding).
    """
    document = json.dumps(shown, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    deflate = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    packed = deflate.compress(document.encode()) + deflate.flush()
    return f"v1={base64.urlsafe_b64encode(packed).decode('ascii').rstrip('=')}"
