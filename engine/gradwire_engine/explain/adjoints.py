"""The instructions that are recorded of a program, and by one reverse pass the adjoint of each.

The adjoint of a node is ``v̄ = Σ_t (∂t/∂v)ᵀ t̄`` over the targets, which ``t̄`` weights. Source:
Griewank and Walther, Evaluating Derivatives, section 3.2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from gradwire_engine.autodiff.last_passes import within_passes
from gradwire_engine.autodiff.reverse import dependents, pullback
from gradwire_engine.compile.derivatives import Derivatives
from gradwire_engine.compile.query import Compilation, Question, is_default, new_recorder
from gradwire_engine.errors import DerivativeError
from gradwire_engine.nesting import leaves
from gradwire_engine.ops.builder import Var
from gradwire_engine.optimize.liveness import readers
from gradwire_engine.polling import polled
from gradwire_engine.record.recording import Recording
from gradwire_engine.tape import ArrayType, Instruction, Tape
from gradwire_engine.traversal import renumbered


class Adjoints(NamedTuple):
    """The recorded nodes of a program, and the tape that computes them with their adjoints."""

    #: What the targets need, by slots in the recording's order.
    nodes: Mapping[int, Instruction]
    #: The names of variables, and of intermediates, by slot.
    names: Mapping[int, str]
    sources: frozenset[int]
    targets: frozenset[int]
    #: Its outputs are the values of the nodes, then the adjoints of ``differentiated``.
    tape: Tape
    differentiated: Sequence[int]


def record_adjoints(asked: Compilation, most: int, *, of_all: bool) -> Adjoints | None:
    """Record a program as it is, and differentiate in its nodes; None for more than ``most``.

    These are nodes and their operands together. Adjoints are those of all that variables and named
    values lead to, or of what the query's sources do: a derivative may be known in these only. A
    path from what a loop leaves through its last pass is none of the recording, so a node with one
    has no adjoint.

    Raises: what recording and differentiating do; ``UnrecordedPath``, where loops have to be
    unrolled.
    """
    recorder = new_recorder(asked)
    b = recorder.b
    try:
        question = Question(recorder, asked)
        wanted, _ = question.targets(recorder.record(default=is_default(asked.query)))
        targets, sources = leaves(wanted), question.sources()
        made = b.tape(targets)
        read = readers(made.instructions, made.outputs, asked.poll)
        nodes = {slot: made.instructions[slot] for slot, count in enumerate(read) if count}
        if sum([1 + len(args) for _, args, _, _ in nodes.values()]) > most:
            return None
        names = _names(recorder)
        groups = [var for source in sources.items for var in source.group]
        bars: Mapping[int, Var] = {}
        if asked.query.kind != "evaluate":
            given = asked.query, wanted, sources, asked.vectors, None
            seeds = Derivatives(recorder, *given).seeds()
            roots = groups
            if of_all:
                roots = [b.vars[slot] for slot in {*b.inputs, *names}]
            bars = _pulled_back(recorder, targets, seeds, roots, nodes)
        outputs = [*nodes, *[bar.slot for bar in bars.values()]]
        live = readers(b.instructions, outputs, asked.poll)
        tape = renumbered(b.instructions, live, b.inputs, outputs, asked.poll)
        marked = frozenset([x.slot for x in groups]), frozenset([x.slot for x in targets])
        return Adjoints(nodes, names, *marked, tape, [*bars])
    finally:
        b.forget()


def _pulled_back(
    recorder: Recording,
    targets: Sequence[Var],
    seeds: Sequence[Var],
    roots: Sequence[Var],
    nodes: Mapping[int, Instruction],
) -> Mapping[int, Var]:
    """The adjoints of the nodes that roots lead to, by slot."""
    b, ends = recorder.b, [var.slot for var in targets]
    if not roots or not ends:
        return {}
    reached = dependents(b, roots, max(ends))
    wanted = [
        b.vars[slot]
        for slot, (_, _, kind, _) in polled([*nodes.items()], b.poll)
        if slot < len(reached) and reached[slot] and isinstance(kind, ArrayType)
    ]
    wanted = [var for var in wanted if not within_passes(b.instructions, var.slot, ends)]
    try:
        bars = pullback(b, targets, seeds, wanted)
    except DerivativeError as error:
        error.at = error.at or recorder.program.place(b.origin)
        raise
    return {var.slot: bar for var, bar in zip(wanted, bars, strict=True) if bar is not None}


def _names(recorder: Recording) -> dict[int, str]:
    """Names by slot: the paths of variables, then what the program has bound at its end."""
    names = {versions[0].slot: path for path, versions in recorder.state.versions.items()}
    for path, value in _bound(recorder.scope.names):
        names.setdefault(value.slot, path)
    return names


def _bound(names: Mapping[str, Any]) -> Iterator[tuple[str, Var]]:
    """Values on the tape with their dotted paths; the program's last expression has no name."""
    pending = [(name, value) for name, value in names.items() if name][::-1]
    while pending:
        path, value = pending.pop()
        if isinstance(value, Var):
            yield path, value
        elif isinstance(value, Mapping):
            pending += [(f"{path}.{key}", item) for key, item in value.items()][::-1]
        elif isinstance(value, list | tuple):
            pending += [(f"{path}.{i}", item) for i, item in enumerate(value)][::-1]
