"""Gradients of the user's own, and none at all."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from gradwire.tf import nest
from gradwire.tf.conversion import convert_to_tensor
from gradwire.tf.nodes import Node, active, paused
from gradwire.tf.tensors import Operand, Tensor

__all__ = ["custom_gradient", "grad_pass_through", "recompute_grad", "stop_gradient"]


@dataclass(eq=False)
class Crossing:
    """Where a tape has to cross from outputs to inputs by a gradient of the user's own."""

    inputs: list[Node]
    outputs: list[Node]
    #: From the gradients at the outputs to those at the inputs.
    function: Callable[..., list[Any]]


class Reads:
    """A recorder of nothing but the trainable variables that are read."""

    def __init__(self) -> None:
        self.variables: dict[int, Any] = {}

    def note(self, node: Node) -> None:
        """Operations are of no interest."""

    def note_read(self, variable: Any, node: Node) -> None:
        """A variable was read."""
        if variable.trainable:
            self.variables[id(variable)] = variable


def custom_gradient(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose gradient the user gives.

    ``f`` returns its result and a function from the gradients that arrive at each part of the
    result to the gradients in ``f``'s positional arguments. Where ``f`` reads trainable variables
    that are no arguments, that function takes them as ``variables`` and returns a pair: the
    gradients in the arguments, and a list of those in the variables. Whatever it returns is used;
    the second order differentiates it.

    >>> @tf.custom_gradient
    ... def clip_on_the_way_back(x):
    ...     return tf.identity(x), lambda upstream: tf.clip_by_norm(upstream, 0.5)
    """

    @functools.wraps(f)
    def differentiated(*args: Any, **kwargs: Any) -> Any:
        reads = Reads()
        active().append(reads)
        try:
            result, gradient = f(*args, **kwargs)
        finally:
            active().remove(reads)
        given = nest.flatten(args, expand_composites=True)
        named = nest.flatten(kwargs, expand_composites=True)
        variables = [
            variable
            for variable in reads.variables.values()
            if all(variable is not argument for argument in [*given, *named])
        ]
        variables.sort(key=lambda variable: variable._number)
        if variables and not _takes_variables(gradient):
            raise TypeError(
                "@tf.custom_gradient grad_fn must accept keyword argument 'variables', since "
                f"function uses variables: {variables}"
            )
        inputs = [convert_to_tensor(value)._node for value in [*given, *variables]]
        results = nest.flatten(result, expand_composites=True)
        outputs = [_copy(convert_to_tensor(value)._node) for value in results]
        function = functools.partial(_gradients, gradient, len(given), variables)
        _record(Crossing(inputs, outputs, function))
        tensors = [Tensor(node) for node in outputs]
        return nest.pack_sequence_as(result, tensors, expand_composites=True)

    return differentiated


def recompute_grad(f: Callable[..., Any]) -> Callable[..., Any]:
    """``f``: what of it is kept for its gradient is for the service to decide."""
    return f


def grad_pass_through(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function that computes as ``f`` does, and hands on gradients as if it were the identity."""

    @custom_gradient
    def passed_through(*args: Any, **kwargs: Any) -> Any:
        def gradient(*upstream: Any, variables: Sequence[Any] | None = None) -> Any:
            return upstream if variables is None else (upstream, [None] * len(variables))

        return f(*args, **kwargs), gradient

    return functools.wraps(f)(passed_through)


def stop_gradient(input: Any, name: str | None = None) -> Tensor:
    """``input`` as a constant, for every order."""
    with paused():
        return Tensor(_copy(convert_to_tensor(input)._node))


def _copy(node: Node) -> Node:
    return Node(("copy(", ")"), (node,), node.spec)


def _record(crossing: Crossing) -> None:
    """Have tapes cross; others see the outputs computed."""
    for recorder in active():
        cross = getattr(recorder, "note_crossing", None)
        if cross is None:
            for node in crossing.outputs:
                recorder.note(node)
        else:
            cross(crossing.inputs, crossing.outputs)
    for node in crossing.outputs:
        node.crossing = crossing


def _gradients(
    gradient: Callable[..., Any], count: int, variables: Sequence[Any], *upstream: Tensor
) -> list[Any]:
    """The user's gradients at the arguments and variables, as many as there are."""
    if variables:
        at_arguments, at_variables = gradient(*upstream, variables=list(variables))
        at_variables = nest.flatten(at_variables)
        if len(at_variables) != len(variables):
            raise ValueError(
                "Must return gradient for each variable from @custom_gradient grad_fn."
            )
    else:
        at_arguments, at_variables = gradient(*upstream), []
    found = nest.flatten(at_arguments, expand_composites=True)
    if len(found) != count:
        raise ValueError(
            f"custom_gradient function expected to return {count} gradients, but returned "
            f"{len(found)} instead."
        )
    return [
        part if part is None or isinstance(part, Operand) else convert_to_tensor(part)
        for part in [*found, *at_variables]
    ]


def _takes_variables(gradient: Callable[..., Any]) -> bool:
    declared = inspect.signature(gradient).parameters
    return "variables" in declared or any(
        parameter.kind is parameter.VAR_KEYWORD for parameter in declared.values()
    )
