"""The recording of a tape, and its subgraph between sources and targets."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from gradwire.frontends import Body, Term, arguments_with, dependencies
from gradwire.tf.nodes import TensorNode, record


@dataclass(frozen=True, slots=True, eq=False)
class CustomGradient:
    """A custom gradient: ``function`` maps the outputs' gradients to the inputs'."""

    inputs: tuple[TensorNode, ...]
    outputs: tuple[TensorNode, ...]
    function: Callable[..., Sequence[Any]]


class TapeRecording:
    """Operations on watched values, noted by ``nodes.record`` while the recording is active."""

    def __init__(self, *, watches_reads: bool = True) -> None:
        #: Watched values, and values computed from them.
        self.known: set[Term] = set()
        #: Results of operations, in the order of their calls, with their custom gradient if any.
        self.recorded: dict[Term, CustomGradient | None] = {}
        self.watches_reads: bool = watches_reads
        #: Each variable that is watched, with the nodes that it was read as.
        self._variables: dict[int, tuple[Any, dict[TensorNode, None]]] = {}

    def note(self, node: TensorNode) -> None:
        """Record an operation if one of its operands is known."""
        known = self.known
        for operand in node.operands:
            if operand in known or (isinstance(operand, Body) and self._captures(operand)):
                self.add(node)
                return

    def add(self, node: TensorNode, custom_gradient: CustomGradient | None = None) -> None:
        """Record an operation."""
        if node not in self.recorded:
            self.known.add(node)
            self.recorded[node] = custom_gradient
            node.kept += 1

    def note_custom_gradient(self, custom_gradient: CustomGradient) -> None:
        """Record an operation with a custom gradient."""
        crossed = any(node in self.known for node in custom_gradient.inputs)
        for node in custom_gradient.outputs:
            if crossed:
                self.add(node, custom_gradient)
            else:
                self.note(node)

    def note_made(self, variable: Any) -> None:
        """Ignore a new variable until it is read."""

    def note_read(self, variable: Any, node: TensorNode) -> None:
        """Watch a variable's value where it is read."""
        entry = self._variables.get(id(variable))
        if entry is None:
            if not (self.watches_reads and variable.trainable):
                return
            entry = self._variables[id(variable)] = (variable, {})
        entry[1][node] = None
        self.known.add(node)

    def watch(self, node: TensorNode) -> None:
        """Watch a value from now on."""
        self.known.add(node)

    def watch_variable(self, variable: Any) -> None:
        """Watch a variable's values from now on."""
        self._variables.setdefault(id(variable), (variable, {}))

    def reads_of(self, variable: Any) -> list[TensorNode]:
        """The nodes that a watched variable was read as."""
        entry = self._variables.get(id(variable))
        return [] if entry is None else list(entry[1])

    def variables(self) -> tuple[Any, ...]:
        """The watched variables, in the order in which they were made."""
        found = [variable for variable, _ in self._variables.values()]
        return tuple(sorted(found, key=lambda variable: variable._number))

    def release(self) -> None:
        """Drop all that is recorded."""
        for node in self.recorded:
            if isinstance(node, TensorNode):
                node.kept -= 1
                node.cut()
        self.recorded.clear()
        self._variables.clear()
        self.known.clear()

    def __del__(self) -> None:
        self.release()

    def _captures(self, body: Body) -> bool:
        """True if a function of the program captures a known value."""
        found = False

        def known(term: Term) -> bool:
            nonlocal found
            found = found or term in self.known
            return found

        dependencies([body.result], known)
        return found


class Subgraph:
    """A recording's operations repeated as functions of copies of the sources.

    Values that the recording does not have stay as they are, and are constant in derivatives. The
    clones are ordinary operations, which other active tapes record.
    """

    def __init__(
        self, recording: TapeRecording, targets: Iterable[TensorNode], ends: Iterable[Term] = ()
    ) -> None:
        self.recording: TapeRecording = recording
        self._made: dict[Term, Term] = {}
        #: Values that are constant although they were computed.
        self._ends: set[Term] = set(ends)
        #: The recorded computation of the targets, each node after its operands.
        self.order: list[Term] = _recorded_order(recording, list(targets), self._ends)

    def custom_gradients(self) -> list[CustomGradient]:
        """The custom gradients in the targets' computation, in the order of their calls."""
        recorded = (self.recording.recorded.get(term) for term in self.order)
        return list(dict.fromkeys([each for each in recorded if each is not None]))

    def consumers(self, node: TensorNode) -> list[TensorNode]:
        """The recorded operations that have a node as operand."""
        return [
            term for term in self.order if isinstance(term, TensorNode) and node in term.operands
        ]

    def backward(self, targets: Sequence[TensorNode]) -> list[Term]:
        """The recorded operations in TensorFlow's backward order: breadth first."""
        uses = Counter(
            operand
            for term in self.order
            if term in self.recording.recorded
            for operand in term.operands
        )
        waiting: deque[Term] = deque(term for term in reversed(targets) if not uses[term])
        gone: list[Term] = []
        while waiting:
            term = waiting.popleft()
            gone.append(term)
            for operand in term.operands if term in self.recording.recorded else ():
                uses[operand] -= 1
                if not uses[operand]:
                    waiting.append(operand)
        return gone

    def make(self, sources: Iterable[TensorNode], *, whole: Iterable[TensorNode] = ()) -> None:
        """Clone for sources; those in ``whole`` are copied even where others lead to them."""
        wanted, leaves = set(sources), set(whole)
        recorded = self.recording.recorded
        for term in self.order:
            if term in leaves or term in self._ends or recorded.get(term) is not None:
                if term in leaves or term in wanted:
                    self._copy(term)
                continue
            if term in recorded or isinstance(term, Body):
                clone = self._clone(term)
                if clone is not term:
                    self._made[term] = clone
                    continue
            if term in wanted:
                self._copy(term)
        for node in [*wanted, *leaves]:
            if node not in self._made:
                self._copy(node)

    def of(self, node: TensorNode) -> TensorNode | None:
        """The clone of a node; ``None`` where it does not depend on any source."""
        made = self._made.get(node)
        return made if isinstance(made, TensorNode) else None

    def _copy(self, term: Term) -> None:
        if isinstance(term, TensorNode):
            self._made[term] = record(TensorNode("copy", (term,), spec=term.spec))

    def _clone(self, term: Term) -> Term:
        if isinstance(term, Body):
            result = self._made.get(term.result, term.result)
            return term if result is term.result else Body(term.inside, term.params, result)
        changed = any(operand in self._made for operand in term.operands)
        if not changed or not isinstance(term, TensorNode):
            return term
        clone = TensorNode(term.op, *arguments_with(term, self._made), term.spec, term.place)
        clone.joints = term.joints
        return record(clone)


def _recorded_order(
    recording: TapeRecording, targets: list[TensorNode], ends: Container[Term]
) -> list[Term]:
    """The recorded computation of the targets, each node after its operands."""
    order: list[Term] = []
    seen: set[Term] = set()
    stack: list[tuple[Term, bool]] = [(target, False) for target in reversed(targets)]
    known, recorded = recording.known, recording.recorded
    while stack:
        term, complete = stack.pop()
        if complete:
            order.append(term)
            continue
        if term in seen or not (term in known or isinstance(term, Body)):
            continue
        seen.add(term)
        stack.append((term, True))
        if isinstance(term, Body):
            stack.append((term.result, False))
        elif term in recorded and term not in ends:
            custom_gradient = recorded[term]
            operands = term.operands if custom_gradient is None else custom_gradient.inputs
            stack.extend((operand, False) for operand in reversed(operands))
    return order
