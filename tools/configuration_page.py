"""Print docs/reference/configuration.md: every setting, generated from the code."""

from __future__ import annotations

import sys
import types
from typing import Literal, Union, get_args, get_origin

from gradwire_service.settings import SUBJECTS
from gradwire_service.settings.units import BYTES, GIBIBYTE, KIBIBYTE, MEBIBYTE
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
"""


def page() -> str:
    """The whole page."""
    return "\n".join([HEAD, *map(_section, SUBJECTS)])


def _section(subject: type[BaseModel]) -> str:
    rows = [_row(name, field) for name, field in subject.model_fields.items()]
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
    cells = [f"`GRADWIRE_{name.upper()}`", _type(field), _default(field), field.description or ""]
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
    if BYTES in field.metadata and value:
        for unit, name in ((GIBIBYTE, "GiB"), (MEBIBYTE, "MiB"), (KIBIBYTE, "KiB")):
            if not value % unit:
                return f"`{value // unit}{name}`"
    if isinstance(value, tuple):
        return f"`{','.join(map(str, value))}`"
    return f"`{value}`"


if __name__ == "__main__":
    sys.stdout.write(page())
