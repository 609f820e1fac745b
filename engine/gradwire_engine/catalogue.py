"""The functions that programs can call, as data: for the service's listing and the docs."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from gradwire_engine.dialects import DIALECTS
from gradwire_engine.ops.base import FUNCTIONS, Function
from gradwire_engine.record.language import LANGUAGE


def catalogue() -> list[dict[str, Any]]:
    """Every operation and language function by name: signature, aliases, documentation.

    ``dialects`` are the calls by other libraries' names; a function that only such a library has
    stands for itself.
    """
    written: dict[str, list[str]] = {}
    entries = [
        _of(function)
        for name, function in FUNCTIONS.items()
        if name == function.name and name not in LANGUAGE
    ]
    for dialect in DIALECTS:
        for name, function in dialect.functions.items():
            meant = dialect.meant[function.name]
            if meant:
                text = f"{name}{_signature(function.record, without=dialect.ignored)}"
                written.setdefault(meant, []).append(text)
            elif name == function.name and name not in LANGUAGE:
                entries.append(_of(function))
    entries += [
        _entry(name, function, function.__doc__ or "", (), "language", differentiable=True)
        for name, function in LANGUAGE.items()
        if function.__doc__
    ]
    for entry in entries:
        entry["dialects"] = written.get(entry["name"], [])
    return sorted(entries, key=lambda entry: str(entry["name"]))


def _of(f: Function) -> dict[str, Any]:
    return _entry(f.name, f.record, f.doc, f.aliases, f.family, differentiable=f.differentiable)


def _entry(
    name: str,
    record: Callable[..., Any],
    doc: str,
    aliases: tuple[str, ...],
    family: str,
    *,
    differentiable: bool,
) -> dict[str, Any]:
    signature = _signature(record)
    return {
        "name": name,
        "aliases": list(aliases),
        "signature": f"{name}{signature}",
        "parameters": list(signature.parameters),
        "family": family,
        "differentiable": differentiable,
        "doc": inspect.cleandoc(doc),
    }


def _signature(record: Callable[..., Any], without: str = "") -> inspect.Signature:
    """The public parameters, less the builder's and the one called ``without``."""
    parameters = list(inspect.signature(record).parameters.values())[1:]
    return inspect.Signature(
        [p.replace(annotation=p.empty) for p in parameters if p.name != without]
    )
