"""Print docs/reference/configuration.md: every setting, generated from the code."""

from __future__ import annotations

import sys
import types
from typing import Literal, Union, get_args, get_origin

from gradwire_service.settings import SUBJECTS
from gradwire_service.settings.derived import source_of
from gradwire_service.settings.units import BYTES, written
from pydantic import BaseModel
from pydantic.fields import FieldInfo

HEAD = """# Configuration

Every setting is an environment variable, or an option of `gradwire-server serve`, which takes
precedence: `GRADWIRE_MAX_BODY_BYTES` is `--max-body-bytes`. `make docs` writes this page from the
settings. The service does not start with a value of the wrong type or out of bounds. It logs a
warning for each unknown variable that begins with `GRADWIRE_`, with the setting that may be meant.

An empty variable or option, or one of white space alone, is as if it were not given, so that a
compose file may pass `${VARIABLE:-}`: the default below applies, not what an image sets in its
place. A list that is empty is `none`. With empty `GRADWIRE_KEYS_FILE` and `GRADWIRE_KEYS` there are
no keys: the service then starts on the loopback, or with `GRADWIRE_OPEN=true`, and logs a warning
that names the empty variable; elsewhere it does not start. The SDK's variables are on
[its page](../../clients/python/README.md).

A size is a number of bytes, or has a unit: `64MB` is 64·10⁶ bytes, `64MiB` 64·2²⁰; `kB`, `GB`, `TB`
likewise. The `B` may be left out.

## The nine that matter

Most services need no others:

| variable | to be set where |
| --- | --- |
"""
_LIMITS_OF_NGINX = "[nginx](../how-to/deployment.md#limits-of-nginx-and-the-service)"
NINE = {
    "host": "other machines are to reach it; the image listens on all addresses",
    "keys_file": "clients are not all trusted: [API keys](../explanation/security.md#keys)",
    "open": "they are, or a proxy authenticates them",
    "store": "records are to survive restarts, or replicas share them: [stores](stores.md)",
    "memory_bytes": "replicas share a machine without containers; else it is the container's",
    "cores": "the same; a container sees all cores of its machine",
    "max_timeout_ms": f"computations take more than a minute; {_LIMITS_OF_NGINX} then waits, too",
    "proxies": "a proxy on another machine is in front",
    "log_format": "logs are collected: `json`",
}
SIZES = """
Caches, queues and limits are sized for the memory, and processes for the cores: [the last
table](#derived) says how. The service does not start if settings contradict each other, such as a
body that no queue holds, and logs a warning if together they allow more than the memory.
"""

#: What the section of derived settings begins with.
DERIVED = """## Derived

These follow from the settings above, or have a value that suits all. Nobody need set them. One that
is set all the same is used in this version, with a warning at the start that names it; the next
version does not read it.

| variable | value | |
| --- | --- | --- |"""


def page() -> str:
    """The whole page."""
    derived = [
        _derived(name, field)
        for subject in SUBJECTS
        for name, field in subject.model_fields.items()
        if source_of(field) is not None
    ]
    nine = "\n".join(_cells(_variable(name), why) for name, why in NINE.items())
    return "\n".join([HEAD + nine, SIZES, *map(_section, SUBJECTS), DERIVED, *derived, ""])


def _section(subject: type[BaseModel]) -> str:
    rows = [
        _row(name, field)
        for name, field in subject.model_fields.items()
        if source_of(field) is None
    ]
    doc = (subject.__doc__ or "").strip()
    title = subject.__module__.rpartition(".")[2].capitalize().replace("Gpu", "GPU")
    return "\n".join(
        [
            f"## {title}\n\n{doc}\n",
            "| variable | type | default | |\n| --- | --- | --- | --- |",
            *rows,
            "",
        ]
    )


def _row(name: str, field: FieldInfo) -> str:
    return _cells(_variable(name), _type(field), _default(field), field.description or "")


def _derived(name: str, field: FieldInfo) -> str:
    return _cells(_variable(name), _default(field), field.description or "")


def _variable(name: str) -> str:
    return f"`GRADWIRE_{name.upper()}`"


def _cells(*cells: str) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _type(field: FieldInfo) -> str:
    kind = field.annotation
    if get_origin(kind) is Literal:
        return ", ".join(f"`{value}`" for value in get_args(kind))
    kinds = get_args(kind) if get_origin(kind) in (Union, types.UnionType) else (kind,)
    kinds = tuple(list if get_origin(kind) is tuple else kind for kind in kinds)
    names = [getattr(k, "__name__", str(k)) for k in kinds if k is not types.NoneType]
    names = ["size"] if BYTES in field.metadata else names
    bounds = [str(bound).partition("(")[2].rstrip(")") for bound in field.metadata]
    signs = {"gt": ">", "ge": "≥", "lt": "<", "le": "≤"}
    limits = [
        f"{signs[sign]} {value}"
        for sign, _, value in (bound.partition("=") for bound in bounds)
        if sign in signs
    ]
    return " ".join([" or ".join(names), ", ".join(limits)]).strip()


def _default(field: FieldInfo) -> str:
    if field.default_factory is not None:
        return (field.default_factory.__doc__ or "").rstrip(".")
    value = field.default
    if value is None or value in ("", ()):
        return "none"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if BYTES in field.metadata:
        return f"`{written(value)}`"
    if isinstance(value, tuple):
        return f"`{','.join(map(str, value))}`"
    return f"`{value}`"


if __name__ == "__main__":
    sys.stdout.write(page())
