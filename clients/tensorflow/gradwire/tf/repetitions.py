"""Repetitions of a function's run: its steps for other arguments, without its Python.

Each step takes what is made in place of the run's nodes, what takes assignments back, and what the
run noted: see ``steps``.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradwire.frontends import Body, Term, arguments_with
from gradwire.tf import nest
from gradwire.tf.errors import OpError
from gradwire.tf.fetching import fetch
from gradwire.tf.nodes import LONGEST_CHAIN, Joint, TensorNode, active, noticing
from gradwire.tf.seeds import SEEDS
from gradwire.tf.tensors import Tensor

__all__ = ["Differs", "Repetition"]

#: Before a tensor's node, or what makes a value of parts and these, among a call's arguments.
TENSOR: object = object()
MADE: object = object()


class Differs(Exception):
    """Python would ask for another value than in the run."""


class Repetition:
    """Repeats a run."""

    def __init__(
        self,
        arguments: Sequence[Term],
        steps: Sequence[tuple[Any, ...]],
        joined: Sequence[TensorNode],
        result: Any,
        has_custom_gradients: bool,
    ) -> None:
        self._arguments: Sequence[Term] = arguments
        self._specs = [each.spec for each in arguments if isinstance(each, TensorNode)]
        self._steps: Sequence[tuple[Any, ...]] = steps
        self._joined: Sequence[TensorNode] = joined
        self._result: Any = result
        self._has_custom_gradients: bool = has_custom_gradients

    def of(self, arguments: Sequence[TensorNode], *, is_recorded: bool) -> Any:
        """The result for other arguments.

        Raises:
            Differs: the Python has to run.
        """
        if self._has_custom_gradients and is_recorded:
            raise Differs
        if [each.spec for each in arguments] != self._specs:
            raise Differs
        made: dict[Any, Any] = dict(zip(self._arguments, arguments, strict=True))
        undo: list[tuple[Any, tuple[Any, ...]]] = []
        try:
            for step, *of in self._steps:
                step(made, undo, *of)
        except Differs:
            for variable, before in reversed(undo):
                variable._restore(before)
            raise
        join(self._joined, made)
        return _unpacked(self._result, made)


def copied(node: TensorNode, made: dict[Any, Any]) -> TensorNode:
    """The same operation of other operands."""
    for each in node.operands:
        if type(each) is Body and each not in made and each.result in made:
            made[each] = Body(each.inside, each.params, made[each.result])
    copy = TensorNode(node.op, *arguments_with(node, made), node.spec, node.place)
    copy.hint = node.hint
    copy.rows = None if node.rows is None else made.get(node.rows, node.rows)
    return copy


def join(nodes: Sequence[TensorNode], made: dict[Any, Any]) -> None:
    """Note of copies of which operations of several outputs they are."""
    for node in nodes:
        made[node].joints = tuple(
            [
                Joint(
                    tuple([weakref.ref(made.get(of, of)) for each in outputs if (of := each())]),
                    tuple([made.get(of, of) for of in captured]),
                )
                for outputs, captured in node.joints
            ]
        )


def created(made: dict[Any, Any], undo: list[Any], node: TensorNode) -> None:
    """An operation that was called."""
    copy = made[node] = copied(node, made)
    if copy.depth > LONGEST_CHAIN and copy.scope is None:
        fetch([copy])


def recorded(made: dict[Any, Any], undo: list[Any], node: TensorNode) -> None:
    """A note of recorders of an operation."""
    for recorder in active():
        recorder.note(made[node])


def read(made: dict[Any, Any], undo: list[Any], variable: Any, node: TensorNode) -> None:
    """A note of recorders that a variable was read."""
    for recorder in active():
        recorder.note_read(variable, made.get(node, node))


def current(made: dict[Any, Any], undo: list[Any], variable: Any, node: TensorNode) -> None:
    """The value that a variable had."""
    made[node] = variable._node


def assigned(
    made: dict[Any, Any],
    undo: list[Any],
    variable: Any,
    of: TensorNode,
    node: TensorNode,
    is_new: bool,
) -> None:
    """A value that a variable was assigned."""
    undo.append((variable, variable._state()))
    variable._set(Tensor(made.get(of, of)), is_new=is_new and of in made)
    made[node] = variable._node


def asked(made: dict[Any, Any], undo: list[Any], node: TensorNode, value: Any) -> None:
    """A value that Python asked for."""
    try:
        found = Tensor(made[node])._value()
    except OpError as error:  # which the Python may raise, too, but in its place
        raise Differs from error
    if found.shape != value.shape or not (
        np.array_equal(found, value)
        if value.dtype == object
        else found.tobytes() == value.tobytes()
    ):
        raise Differs


def shapes(made: dict[Any, Any], undo: list[Any], nodes: Any, specs: Any) -> None:
    """Shapes that Python learned."""
    copies = [made.get(node, node) for node in nodes]
    try:
        fetch(copies)
    except OpError as error:
        raise Differs from error
    for run in noticing():
        run.note_shapes(copies)
    if tuple([copy.spec for copy in copies]) != specs:
        raise Differs


def called(
    made: dict[Any, Any],
    undo: list[Any],
    function: Callable[..., Any],
    arguments: Any,
    nodes: Sequence[TensorNode],
    place: tuple[int, int] | None,
) -> None:
    """A function that is called again."""
    draws = SEEDS.outer
    if place is not None and draws is not None:
        draws.called, draws.unseeded = place
    args, kwargs = _unpacked(arguments, made)
    result = nest.flatten(function(*args, **kwargs), expand_composites=True)
    found = [each._node for each in result if isinstance(each, Tensor)]
    if [each.spec for each in found] != [each.spec for each in nodes]:
        raise Differs
    made.update(zip(nodes, found, strict=True))


def _unpacked(value: Any, made: dict[Any, Any]) -> Any:
    """A structure of a repetition, with tensors in place of nodes."""
    if isinstance(value, tuple) and value and value[0] is TENSOR:
        _, node, beside = value
        there: Any = made.get(node, node)
        tensor = Tensor(there)
        for name, each in beside.items():
            setattr(tensor, name, _unpacked(each, made))
        return tensor
    if isinstance(value, tuple) and value and value[0] is MADE:
        return value[1]([_unpacked(each, made) for each in value[2]])
    if type(value) in (list, tuple):
        return type(value)([_unpacked(each, made) for each in value])
    if type(value) is dict:
        return {key: _unpacked(each, made) for key, each in value.items()}
    if isinstance(value, Term):
        return made.get(value, value)
    return value
