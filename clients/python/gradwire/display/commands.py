"""Requests as commands for a shell."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

import httpx

from gradwire.display.request_view import RequestView
from gradwire.display.spelling import json_text, spelled
from gradwire.local import LOCAL_URL
from gradwire.options import DEFAULT_BASE_URL

#: Environment variables of secrets, which are not written into commands.
KEY = "$GRADWIRE_API_KEY"
OTHER_CREDENTIALS = "$GRADWIRE_AUTHORIZATION"
#: The address in commands of answers from a service in this process.
SERVICE = f"${{GRADWIRE_URL:-{DEFAULT_BASE_URL}}}"

#: Members whose own members are written one a line.
BY_NAME = frozenset({"variables", "tangents", "vectors"})


def curl(response: httpx.Response) -> str:
    """The command that repeats the request of a response.

    The body goes by standard input, since arguments are limited in length.
    """
    request = response.request
    words = ["curl", "--silent", "--show-error"]
    if request.method != "GET":
        words += ["--request", request.method]
    lines = [f"{shlex.join(words)} {_address(request.url)}"]
    if "Authorization" in request.headers:
        bearer = request.headers["Authorization"].startswith("Bearer ")
        credentials = f"Bearer {KEY}" if bearer else OTHER_CREDENTIALS
        lines.append(f'--header "Authorization: {credentials}"')  # quotes in which shells insert
    if not request.content:
        return " \\\n  ".join(lines)
    lines += ["--header 'Content-Type: application/json'", "--data-binary @- <<'JSON'"]
    return " \\\n  ".join(lines) + f"\n{_readable(RequestView.of(response).document)}\nJSON"


def _address(url: httpx.URL) -> str:
    """The address without a password; a service in this process has none."""
    known = str(url.copy_with(username=None, password=None))
    if known.startswith(LOCAL_URL):
        return f'"{SERVICE}"{shlex.quote(known.removeprefix(LOCAL_URL))}'
    return shlex.quote(known)


def _readable(members: Mapping[str, Any], indent: str = "") -> str:
    """A document as lines of JSON, its arrays as numbers."""
    lines = []
    for name, member in members.items():
        if name in BY_NAME and not indent:
            lines.append(f"  {json_text(name)}: {_readable(member, '  ')}")
        elif name != "encoding" or indent:  # the client's; the command's answer has numbers, too
            lines.append(f"{indent}  {json_text(name)}: {json_text(spelled(member))}")
    return "{\n" + ",\n".join(lines) + f"\n{indent}}}" if lines else "{}"
