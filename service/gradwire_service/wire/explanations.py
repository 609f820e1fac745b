"""The document of an explained query: its instructions, and nodes with values and adjoints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradwire_engine.answer import Notice
from gradwire_engine.errors import DeadlineExceeded, EngineError, Place
from gradwire_engine.explain import Explanation, Listing, Node, Step, Summary, parameters
from gradwire_engine.ops.base import Op
from gradwire_engine.tape import ArrayType, Type

from gradwire_service.problems import clip, node_document
from gradwire_service.wire.replies import warned

#: Most instructions, or nodes, with their operands: about 2,000.
MOST_SHOWN = 6_000
#: Longest name, and longest text of parameters, in characters.
_LONGEST = 200


def explanation(explained: Explanation) -> dict[str, Any]:
    """The response of ``/v1/explain``.

    Raises: ``DeadlineExceeded``; other errors of the nodes are warnings.
    """
    listing, cut = explained.excerpt(MOST_SHOWN)
    times = explained.times
    document: dict[str, Any] = {
        "program": explained.call.program.id,
        "instructions": _instructions(listing, None if times is None else times.steps),
        "outputs": listing.outputs,
        "flops": explained.flops,
        "peak_bytes": explained.peak_bytes,
    }
    if times is not None:
        document["seconds"] = times.total
    document["stages"] = dict(explained.lengths)
    warnings = [*explained.warnings]
    if cut:
        detail = f"only the first instructions are listed, {MOST_SHOWN} with their operands"
        warnings.append(Notice("instructions_cut", detail))
    document["nodes"] = _nodes(explained, warnings)
    if warnings:
        document["warnings"] = warned(warnings)
    return document


def _instructions(listing: Listing, seconds: Sequence[float] | None) -> list[dict[str, Any]]:
    return [
        _instruction(step, None if seconds is None else seconds[step.slot])
        for step in listing.steps
        if step.needed
    ]


def _instruction(step: Step, seconds: float | None) -> dict[str, Any]:
    document = {
        **_operation(step.slot, step.op, step.operands, step.type, step.place),
        "derivative": step.derivative,
        "flops": step.flops,
        "bytes": step.nbytes,
    }
    if seconds is not None:
        document["seconds"] = seconds
    if step.constant is not None:
        document["constant"] = _number(step.constant.item())
    if step.body is not None:
        document["body"] = _instructions(step.body, None)
    return document


def _nodes(explained: Explanation, warnings: list[Notice]) -> list[dict[str, Any]] | None:
    try:
        nodes = explained.nodes(MOST_SHOWN)
    except DeadlineExceeded:
        raise
    except EngineError as error:
        warnings.append(Notice("no_nodes", error.message, error.at))
        return None
    if nodes is None:
        detail = f"the program has too many nodes to show: over {MOST_SHOWN} with their operands"
        warnings.append(Notice("no_nodes", detail))
        return None
    return [_node(node) for node in nodes]


def _node(node: Node) -> dict[str, Any]:
    document = _operation(node.slot, node.op, node.operands, node.type, node.place)
    if node.name is not None:
        document["name"] = clip(node.name, _LONGEST)
    return document | {
        "value": _summary(node.value),
        "adjoint": _summary(node.adjoint),
        "is_source": node.is_source,
        "is_target": node.is_target,
    }


def _operation(
    slot: int, op: Op, operands: Sequence[int], kind: Type, place: Place
) -> dict[str, Any]:
    """Members of both instructions and nodes; several results have neither dtype nor shape."""
    document: dict[str, Any] = {"slot": slot, "op": op.name or str(op).partition("[")[0]}
    if text := parameters(op):
        document["parameters"] = clip(text, _LONGEST)
    array = kind if isinstance(kind, ArrayType) else None
    return document | {
        "operands": operands,
        "dtype": None if array is None else array.dtype.name,
        "shape": None if array is None else array.shape,
        "place": node_document(place),
    }


def _summary(value: Any) -> dict[str, Any] | None:
    if isinstance(value, Summary):
        return value._asdict()
    return None if value is None else {"value": value}


def _number(value: Any) -> Any:
    return {"re": value.real, "im": value.imag} if isinstance(value, complex) else value
