"""Requests as commands for a shell."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import Any

import httpx
import numpy as np
from numpy.typing import NDArray

from gradwire.display.request_view import RequestView
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
            lines.append(f"  {_json(name)}: {_readable(member, '  ')}")
        elif name != "encoding" or indent:  # the client's; the command's answer has numbers, too
            lines.append(f"{indent}  {_json(name)}: {_json(_spelled(member))}")
    return "{\n" + ",\n".join(lines) + f"\n{indent}}}" if lines else "{}"


def _spelled(part: Any) -> Any:
    """A part of a document with its arrays as leaves that are lists."""
    if isinstance(part, np.ndarray):
        return _leaf(part)
    if isinstance(part, Mapping):
        value = part.get("value")
        rest = {name: _spelled(item) for name, item in part.items()}
        return rest | _leaf(value, always=True) if isinstance(value, np.ndarray) else rest
    return [_spelled(item) for item in part] if isinstance(part, list) else part


def _leaf(array: NDArray[Any], always: bool = False) -> Any:
    """An array as numbers with the same bits; an object if needed, or ``always``."""
    dtype = array.dtype.name
    if array.size == 0 and array.ndim > 1:  # lists would lose the shape
        return {"dtype": dtype, "shape": list(array.shape), "base64": ""}
    if array.dtype.kind == "c":
        return {"re": _listed(array.real), "im": _listed(array.imag), "dtype": dtype}
    plain = not always and (dtype == "float64" or (dtype == "bool" and array.size > 0))
    return _listed(array) if plain else {"value": _listed(array), "dtype": dtype}


def _listed(array: NDArray[Any]) -> Any:
    """An array as nested lists, each number in the fewest digits that give the same bits."""
    if array.dtype.kind != "f":
        return array.tolist()
    wide = array.astype(str).astype(np.float64)
    exact = np.array_equal(wide.astype(array.dtype), array, equal_nan=True)
    listed = wide if exact else array.astype(np.float64)
    if np.isfinite(listed).all():
        return listed.tolist()
    words = np.where(np.isnan(listed), "NaN", np.where(listed > 0, "Infinity", "-Infinity"))
    return np.where(np.isfinite(listed), listed.astype(object), words.astype(object)).tolist()


def _json(part: Any) -> str:
    return json.dumps(part, ensure_ascii=False, allow_nan=False)
