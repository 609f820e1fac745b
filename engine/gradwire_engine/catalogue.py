"""What programs can call, as data: for the service's listing and for the documentation."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from gradwire_engine.ops.base import FUNCTIONS
from gradwire_engine.record.language import LANGUAGE


def catalogue() -> list[dict[str, Any]]:
    """Every operation and language function by name: signature, aliases, documentation."""
    entries = [
        _entry(f.name, f.record, f.doc, f.aliases, f.family, differentiable=f.differentiable)
        for name, f in FUNCTIONS.items()
        if name == f.name and name not in LANGUAGE
    ]
    entries += [
        _entry(name, function, function.__doc__ or "", (), "language", differentiable=True)
        for name, function in LANGUAGE.items()
        if function.__doc__
    ]
    return sorted(entries, key=lambda entry: str(entry["name"]))


def _entry(
    name: str,
    record: Callable[..., Any],
    doc: str,
    aliases: tuple[str, ...],
    family: str,
    *,
    differentiable: bool,
) -> dict[str, Any]:
    parameters = list(inspect.signature(record).parameters.values())[1:]
    plain = [p.replace(annotation=inspect.Parameter.empty) for p in parameters]
    return {
        "name": name,
        "aliases": list(aliases),
        "signature": f"{name}{inspect.Signature(plain)}",
        "parameters": [p.name for p in parameters],
        "family": family,
        "differentiable": differentiable,
        "doc": inspect.cleandoc(doc),
    }
