"""Documents of compute responses, with NumPy arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gradwire_engine.answer import Answer, Nonfinite, Notice, Unconnected
from gradwire_engine.errors import Place

from gradwire_service.problems import node_document


def evaluation(program_id: str, answer: Answer) -> dict[str, Any]:
    """The response of ``/v1/evaluate``."""
    document: dict[str, Any] = {"outputs": answer.value}
    _add_notes(document, answer)
    document["program"] = program_id
    return document


def derivative(program_id: str, answer: Answer) -> dict[str, Any]:
    """The response of ``/v1/gradient`` and the other derivatives."""
    document: dict[str, Any] = {"value": answer.value, **answer.derivatives}
    if answer.outputs is not None:
        document["outputs"] = answer.outputs
    if answer.checks is not None:
        document["checks"] = {path: check._asdict() for path, check in answer.checks.items()}
        document["ok"] = all(check.ok for check in answer.checks.values())
    if answer.unconnected:
        document["unconnected"] = unconnected(answer.unconnected)
    _add_notes(document, answer)
    document["program"] = program_id
    return document


def _add_notes(document: dict[str, Any], answer: Answer) -> None:
    """Add the optional fields: updates, warnings and the first non-finite values."""
    if answer.updates:
        document["updates"] = answer.updates
    if answer.warnings:
        document["warnings"] = warned(answer.warnings)
    if answer.nonfinite:
        document["nonfinite"] = {
            direction: _lapse(where) for direction, where in answer.nonfinite.items()
        }


def unconnected(found: Mapping[str, Unconnected]) -> dict[str, Any]:
    """The member ``unconnected``."""
    return {
        path: _note({"reason": why.reason, "detail": why.detail}, why.node)
        for path, why in found.items()
    }


def warned(notices: Sequence[Notice]) -> list[dict[str, Any]]:
    """The member ``warnings``."""
    return [
        _note({"code": notice.code, "detail": notice.detail}, notice.node) for notice in notices
    ]


def _lapse(where: Nonfinite) -> dict[str, Any]:
    document = node_document(where.node)
    document["instruction"] = where.instruction
    document["operands"] = [operand._asdict() for operand in where.operands]
    if where.hint is not None:
        document["hint"] = where.hint
    return document


def _note(note: dict[str, Any], place: Place | None) -> dict[str, Any]:
    if place is not None and (node := node_document(place)):
        note["node"] = node
    return note
