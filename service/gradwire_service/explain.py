"""The command ``python -m gradwire_service.explain``: shows how a program is compiled.

Example: ``--program model.txt --variables values.json --query gradient --time``.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import gradwire_gpu
from gradwire_engine import Engine, native
from gradwire_engine.errors import EngineError, Place
from gradwire_engine.explain import Explanation, Line, Listing, Summary, explain

from gradwire_service.problems import RequestError
from gradwire_service.wire.envelope import FIELDS, read_envelope

#: Most nodes with their operands that are printed.
_MOST_NODES = 100_000


def page(explained: Explanation) -> Iterator[str]:
    """The lines of an explanation, with the plan and the times of the replay."""
    before: Listing | None = None
    for name, listing in explained.stages.items():
        replayed = listing is explained.replayed
        if listing == before and not replayed:
            yield f"{name}: no change\n"
            continue
        needed = sum(step.needed for step in listing.steps)
        unneeded = len(listing.steps) - needed
        yield f"{name}: {needed} instructions" + f", {unneeded} unneeded" * bool(unneeded)
        yield from _listed(listing, [*_beside(explained)] if replayed else ())
        yield ""
        before = listing
    if explained.hosted:
        yield f"on the host: {', '.join(explained.hosted)}"
    flops, peak_bytes = explained.flops, explained.peak_bytes
    yield f"planned: {flops:,} operations on large arrays, {peak_bytes:,} bytes at once"
    yield f"  {len(explained.dead)} values in {explained.registers} variables"
    for slot, dead in enumerate(explained.dead):
        if dead:
            yield f"  nothing reads {_slots(dead)} after %{slot}"
    yield from _code("the replay", explained.code)
    for slots, lines in explained.inner.items():
        yield from _code(" within ".join(f"%{s}" for s in reversed(slots)), lines)
    yield from _kernels(explained)
    if (times := explained.times) is not None:
        yield f"\nmeasured: {1e6 * times.total:.1f} µs"
        yield from _shares("operation", times.by_op.items(), times.total)
        yield from _shares("line", times.by_line.items(), times.total)


def nodes(explained: Explanation) -> Iterator[str]:
    """The recorded program, each node with its value and its adjoint.

    Raises: ``EngineError``.
    """
    found = explained.nodes(_MOST_NODES)
    if found is None:
        yield "\nnodes: too many to show"
        return
    yield "\nnodes, with values and adjoints:"
    for node in found:
        of = f"{_at(node.place):8} %{node.slot}: {node.type} = {node.op}({_slots(node.operands)})"
        marks = " source" * node.is_source + " target" * node.is_target
        yield f"  {of} {node.name or ''}{marks}".rstrip()
        if node.value is not None:
            yield f"           = {_shown(node.value)}"
        if node.adjoint is not None:
            yield f"           ′ {_shown(node.adjoint)}"


def _shown(value: Any) -> str:
    if not isinstance(value, Summary):
        return str(value.tolist())
    ends = (
        "nothing finite" if value.min is None else f"{value.min} to {value.max}, mean {value.mean}"
    )
    return ends + f", {value.nonfinite} not finite" * bool(value.nonfinite)


def _beside(explained: Explanation) -> Iterator[str]:
    """The cost of each instruction of the replay: arithmetic, bytes of its result, and time."""
    for step in explained.replayed.steps:
        cost = f"{step.flops:12,} op {step.nbytes:12,} B"
        if explained.times is not None:
            cost += f"{1e6 * explained.times.steps[step.slot]:10.1f} µs"
        yield cost


def _kernels(explained: Explanation) -> Iterator[str]:
    """Each kernel: its work, its speed, and why it is not fused with its neighbours."""
    if explained.kernels:
        yield "\nkernels:"
    for kernel in explained.kernels:
        line = f"  %{kernel.slot}: {kernel.instructions} instructions, {kernel.flops:,} op, "
        line += f"{kernel.moved_bytes:,} B moved"
        if kernel.seconds:
            line += f", {1e6 * kernel.seconds:.1f} µs: {kernel.gigaflops_per_second:.2f} Gop/s, "
            line += f"{kernel.gigabytes_per_second:.2f} GB/s"
        yield line
    for (slot, arg), why in explained.unfused.items():
        yield f"  %{slot} is not fused with %{arg}: {why}"


def _listed(listing: Listing, beside: Sequence[str], indent: str = "  ") -> Iterator[str]:
    for step in listing.steps:
        if step.needed:
            of = _at(step.place) + "′" * step.derivative
            made = f"%{step.slot}: {step.type} = {step.op}"
            operands = f"({_slots(step.operands)})" if step.operands else ""
            known = beside[step.slot] if beside else ""
            yield f"{indent}{of:8}{known} {made}{operands}"
            if step.body is not None:
                yield from _listed(step.body, (), indent + "    ")
    yield f"{indent}return {_slots(listing.outputs)}"


def _code(title: str, lines: Sequence[Line]) -> Iterator[str]:
    yield f"\ncode of {title}:"
    for text, op, place in lines:
        of = "" if place is None else f"# {_at(place)} {op}"
        yield f"  {text:40} {of}".rstrip()


def _shares(title: str, found: Iterable[tuple[object, float]], total: float) -> Iterator[str]:
    yield f"  by {title}:"
    for name, seconds in sorted(found, key=lambda item: -item[1]):
        yield f"    {name!s:20} {1e6 * seconds:10.1f} µs {100 * seconds / total:5.1f} %"


def _slots(slots: Sequence[int]) -> str:
    return ", ".join(f"%{slot}" for slot in slots)


def _at(place: Place) -> str:
    """Line and column, or else the name or pointer in the request."""
    if place.line is not None:
        return f"{place.line}:{place.column}"
    return place.id or place.pointer or ""


def _text(name: str) -> str:
    """The text of a file."""
    try:
        return Path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _object(text: str) -> dict[str, Any]:
    """A JSON object."""
    try:
        found = json.loads(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"invalid JSON: {error}") from error
    if not isinstance(found, dict):
        raise argparse.ArgumentTypeError("expected a JSON object")
    return found


def _object_in(name: str) -> dict[str, Any]:
    return _object(_text(name))


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line and print the page."""
    parser = argparse.ArgumentParser(
        prog="python -m gradwire_service.explain", description="Show how a program is compiled."
    )
    parser.add_argument("--program", type=_text, required=True, help="file with source text")
    parser.add_argument(
        "--variables", type=_object_in, required=True, help="file with a JSON object"
    )
    parser.add_argument("--query", choices=FIELDS, default="gradient")
    parser.add_argument(
        "--fields", type=_object, default={}, help="further fields of the request, as a JSON object"
    )
    parser.add_argument("--time", action="store_true", help="measure each instruction")
    parser.add_argument(
        "--nodes", action="store_true", help="print the value and the adjoint of each node"
    )
    parser.add_argument(
        "--machine-code", action="store_true", help="as worker processes compute it"
    )
    parser.add_argument("--gpu", action="store_true", help="as the GPU computes it")
    options = parser.parse_args(arguments)
    document = {"program": options.program, "variables": options.variables}
    clock = perf_counter if options.time else None
    if options.machine_code and not native.is_available():
        parser.error("machine code needs llvmlite")
    backend = native.native_backend() if options.machine_code else None
    if options.gpu:
        try:
            backend = gradwire_gpu.gpu_backend()
        except gradwire_gpu.GpuUnavailable as error:
            parser.error(f"there is no GPU: {error}")
    try:
        envelope = read_envelope(options.fields | document, options.query)
        program = Engine().parse(envelope.program)
        asked = program, envelope.variables, envelope.query, envelope.vectors
        explained = explain(*asked, backend=backend, clock=clock)
        shown = [*page(explained), *(nodes(explained) if options.nodes else ())]
    except RequestError as error:
        parser.error(f"{error.pointer}: {error.detail}")
    except EngineError as error:
        where = "" if error.at is None else f"{_at(error.at)}: "
        parser.error(where + error.message)
    sys.stdout.writelines(f"{line}\n" for line in shown)


if __name__ == "__main__":
    main()
