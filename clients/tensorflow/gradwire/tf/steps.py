"""The steps of a function's run, which are repeated for other arguments without its Python.

A run is a list of steps: operations that were called, what recorders noted, variables that were
read and assigned, and the values that Python asked for. A repetition makes the operations anew of
its own arguments. It is of use where Python would have asked for the same values: else what it has
assigned is taken back, and the Python runs.

What has an effect besides, such as a draw of random numbers, an optimizer's step or ``tf.print``,
is one step that is called again: see ``again``. After such a step nothing can be taken back, so a
run in which Python asks for a value then is not repeated; nor is one with ``once`` in it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ParamSpec, TypeVar

import numpy as np

from gradwire.frontends import Body, Scope, Term, replaced
from gradwire.tf import nest, repetitions
from gradwire.tf.nodes import TensorNode, noticing, parameter, unnoticed
from gradwire.tf.recordings import CustomGradient
from gradwire.tf.repetitions import MADE, TENSOR, Repetition
from gradwire.tf.seeds import SEEDS, Draws
from gradwire.tf.tensors import Operand, Tensor

P = ParamSpec("P")
R = TypeVar("R")

#: Runs in which Python has asked for more numbers are not repeated.
MOST_ASKED: int = 4096
_PLAIN = (bool, int, float, complex, str, bytes, type(None), np.ndarray, np.generic)


class Steps:
    """The steps of a run, of arguments' nodes."""

    def __init__(self, arguments: Sequence[TensorNode], draws: Draws | None) -> None:
        self._arguments: list[TensorNode] = list(arguments)
        self._draws: Draws | None = draws
        self._steps: list[tuple[Any, ...]] = []
        #: The nodes that are others in each repetition.
        self._varying: set[Term] = set(arguments)
        self._held: list[TensorNode] = []
        self._asked: int = 0
        self._has_effect: bool = False
        self._has_custom_gradients: bool = False
        #: False if it cannot be repeated.
        self.is_whole: bool = True

    def note_created(self, node: TensorNode) -> None:
        """An operation was called."""
        node.kept += 1  # its operands are needed, also where its value is known
        self._held.append(node)
        if any(map(self._varies, node.operands)):
            self._add(node, repetitions.created, node)

    def note_recorded(self, node: TensorNode) -> None:
        """Recorders noted an operation."""
        if node in self._varying:
            self._steps.append((repetitions.recorded, node))

    def note_custom_gradient(self, custom_gradient: CustomGradient) -> None:
        """Its function knows the tensors of this run alone."""
        self._has_custom_gradients |= any(map(self._varies, custom_gradient.inputs))

    def note_read(self, variable: Any, node: TensorNode) -> None:
        """Recorders noted that a variable was read."""
        self._steps.append((repetitions.read, variable, node))

    def note_current(self, variable: Any, node: TensorNode) -> None:
        """A variable had this value."""
        if node not in self._varying:
            self._add(node, repetitions.current, variable, node)

    def note_assigned(self, variable: Any, of: TensorNode, node: TensorNode, is_new: bool) -> None:
        """A variable was assigned a value, as a node of its own."""
        self._add(node, repetitions.assigned, variable, of, node, is_new)

    def note_asked(self, node: TensorNode) -> None:
        """Python asked for a value."""
        if node in self._varying:
            value = np.array(node.value)
            self._asked += value.size
            self.is_whole &= self._asked <= MOST_ASKED and not self._has_effect
            self._steps.append((repetitions.asked, node, value))

    def note_shapes(self, nodes: Sequence[TensorNode]) -> None:
        """Python learned shapes that values decide."""
        if any(map(self._varies, nodes)):
            self.is_whole &= not self._has_effect
            specs = tuple([node.spec for node in nodes])
            self._steps.append((repetitions.shapes, tuple(nodes), specs))

    def note_called(
        self,
        function: Callable[..., Any],
        arguments: tuple[Any, Any],
        result: Any,
        effect: bool,
        derives: bool,
        place: tuple[Draws | None, int, int],
    ) -> None:
        """A function was called that is to be called again."""
        draws, called, unseeded = place
        has_drawn = draws is not None and (draws.called, draws.unseeded) != (called, unseeded)
        packed = self._packed(arguments)
        results = nest.flatten(result, expand_composites=True)
        if has_drawn and draws is not self._draws:
            self.is_whole = False
        for each in results:
            # What a result was computed from, a gradient would find: in the first run's numbers.
            if isinstance(each, Tensor) and each._node.operands and not derives:
                self.is_whole &= each._node in self._varying
            self.is_whole &= isinstance(each, (Tensor, *_PLAIN)) or hasattr(each, "_node")
        nodes = tuple([each._node for each in results if isinstance(each, Tensor)])
        self._has_effect |= effect
        self._varying.update(nodes)
        place_of = (called, unseeded) if has_drawn else None
        self._steps.append((repetitions.called, function, packed, nodes, place_of))

    def repeatable(self, result: Any) -> Repetition | None:
        """The repetition of the run, which gave a result; None if nothing repeats it."""
        packed = self._packed(result)
        return self._modelled(packed) if self.is_whole else None

    def release(self) -> None:
        """Let go of all nodes."""
        for node in self._held:
            node.kept -= 1
            node.cut()
        self._held.clear()

    def _modelled(self, result: Any) -> Repetition:
        """The same, of nodes that are nobody's and so have no values."""
        made: dict[Any, Any] = {
            node: parameter(_NOWHERE, node)
            for node in self._varying
            if isinstance(node, TensorNode)
        }
        created = [step[1] for step in self._steps if step[0] is repetitions.created]
        with unnoticed():
            for node in created:  # in order: each of operands that there are
                made[node] = repetitions.copied(node, made)
        repetitions.join(created, made)
        return Repetition(
            [made[node] for node in self._arguments],
            [replaced(step, made) for step in self._steps],
            [made[node] for node in created if node.joints],
            replaced(result, made),
            self._has_custom_gradients,
        )

    def _add(self, node: TensorNode, *step: Any) -> None:
        self._varying.add(node)
        self._steps.append(step)

    def _varies(self, term: Term) -> bool:
        return term in self._varying or (type(term) is Body and self._varies(term.result))

    def _packed(self, value: Any) -> Any:
        """A structure with nodes in place of tensors."""
        if isinstance(value, Tensor):
            beside = {
                name: self._packed(getattr(value, name))
                for name in ("_beside", "_keras_mask")
                if getattr(value, name, None) is not None
            }
            return (TENSOR, value._node, beside)
        if type(value) is dict:
            return {key: self._packed(each) for key, each in value.items()}
        if type(value) in (list, tuple):
            return type(value)([self._packed(each) for each in value])
        if isinstance(value, tuple) and hasattr(value, "_make"):
            return (MADE, type(value)._make, [self._packed(each) for each in value])
        if hasattr(value, "_with_components"):
            parts = [self._packed(each) for each in value._components()]
            return (MADE, value._with_components, parts)
        if nest.is_nested(value) or (
            not isinstance(value, (*_PLAIN, Operand, Term))
            and type(value).__module__ in _OF_TENSORS
        ):
            self.is_whole = False
        return value


#: Modules with classes of values that hold tensors.
_OF_TENSORS = frozenset({"gradwire.tf.tensor_arrays"})
_NOWHERE = Scope(None)


def again(
    *, effect: bool = True, derives: bool = False
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Make a function one that repetitions call again.

    Without ``effect`` it only computes. Its tensors are constants of which nothing else is known,
    unless it ``derives``: then the program has what they are computed from.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def called(*args: P.args, **kwargs: P.kwargs) -> R:
            runs = noticing()
            if not runs:
                return function(*args, **kwargs)
            draws = SEEDS.outer
            place = (draws, 0, 0) if draws is None else (draws, draws.called, draws.unseeded)
            with unnoticed():
                result = function(*args, **kwargs)
            for run in runs:
                run.note_called(called, (args, kwargs), result, effect, derives, place)
            return result

        return called

    return decorate


def once() -> None:
    """Have no function's run repeated that is going on: it does what only Python does again."""
    for run in noticing():
        run.is_whole = False


@contextmanager
def noticed(steps: Steps) -> Iterator[None]:
    """A context in which a run's steps are noticed."""
    runs = noticing()
    runs.append(steps)
    try:
        yield
    finally:
        runs.remove(steps)
