"""Gradients of the user's own."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from gradwire.tf import nest
from gradwire.tf.calls import call
from gradwire.tf.conversion import convert_to_tensor
from gradwire.tf.nodes import Spec, TensorNode, active, paused
from gradwire.tf.recordings import CustomGradient
from gradwire.tf.tapes import GradientTape
from gradwire.tf.tensors import Tensor
from gradwire.tf.variables import Variable

__all__ = ["custom_gradient", "grad_pass_through", "recompute_grad", "stop_gradient"]


def custom_gradient(f: Callable[..., Any] | None = None) -> Any:
    """Decorate a function that gives its value and the function of its gradient.

    The latter takes the gradient in each value and gives one for each argument. If the function
    reads variables, it receives them as ``variables`` and gives their gradients as a second list.

    >>> @tf.custom_gradient
    ... def clipped(x):
    ...     return tf.identity(x), lambda upstream: tf.clip_by_norm(upstream, 1.0)
    """
    if f is None:
        return custom_gradient

    function = f

    @functools.wraps(function)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        return _called(function, args, kwargs)

    return decorated


def stop_gradient(input: Any, name: str | None = None) -> Tensor:
    """The value as a constant to every tape."""
    tensor = convert_to_tensor(input)
    with paused():
        return call("stop_gradient", tensor, spec=Spec(tensor.dtype, tensor._node.shape))


def recompute_grad(f: Callable[..., Any]) -> Callable[..., Any]:
    """``f``, computed anew where it is differentiated."""

    @functools.wraps(f)
    def recomputed(*args: Any, **kwargs: Any) -> Any:
        @custom_gradient
        def forward(*inner: Any) -> Any:
            def gradient(*upstream: Any, variables: Any = None) -> Any:
                own = list(variables or ())
                with GradientTape() as tape:
                    points = [_identity(arg) for arg in inner]
                    tape.watch([point for point in points if isinstance(point, Tensor)])
                    again = f(*points, **kwargs)
                sources = [*points, *own]
                found = tape.gradient(again, sources, output_gradients=list(upstream))
                if not own:
                    return found
                return found[: len(points)], found[len(points) :]

            return f(*inner, **kwargs), gradient

        return forward(*args)

    return recomputed


def _identity(value: Any) -> Any:
    return nest.map_structure(
        lambda part: call("copy", part, spec=convert_to_tensor(part)._node.spec), value
    )


def grad_pass_through(f: Callable[..., Any]) -> Callable[..., Any]:
    """``f``, with the gradient of the identity."""

    @custom_gradient
    def passed(*args: Any, **kwargs: Any) -> Any:
        def gradient(*upstream: Any, variables: Any = None) -> Any:
            if variables is not None:
                return upstream, [None] * len(variables)
            return upstream

        return f(*args, **kwargs), gradient

    return functools.wraps(f)(passed)


class _Reads:
    """Notes the trainable variables that are read."""

    def __init__(self) -> None:
        self.variables: dict[int, Variable] = {}

    def note(self, node: TensorNode) -> None:
        """An operation is none of its business."""

    def note_custom_gradient(self, custom_gradient: CustomGradient) -> None:
        """An operation is none of its business."""

    def note_made(self, variable: Any) -> None:
        """A variable is of interest once it is read."""

    def note_read(self, variable: Any, node: TensorNode) -> None:
        """A variable was read."""
        if variable.trainable:
            self.variables[id(variable)] = variable


def _called(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    reads = _Reads()
    stack = active()
    stack.append(reads)
    try:
        result, gradient = f(*args, **kwargs)
    finally:
        stack.remove(reads)
    flat = nest.flatten(args, expand_composites=True)
    given = {id(each) for each in [*flat, *nest.flatten(kwargs)]}
    made = sorted(reads.variables.values(), key=lambda each: each._number)
    variables = [each for each in made if id(each) not in given]
    if variables and not _takes_variables(gradient):
        raise TypeError(
            "the gradient function needs a parameter `variables`, as the function reads "
            f"{variables}"
        )
    inputs = [convert_to_tensor(each)._node for each in [*flat, *variables]]
    with paused():
        outputs = [
            call("copy", each, spec=each._node.spec)
            for each in map(convert_to_tensor, nest.flatten(result, expand_composites=True))
        ]

    def function(*upstream: Any) -> Sequence[Any]:
        return _gradients(gradient, result, upstream, variables, len(flat))

    custom_gradient = CustomGradient(
        tuple(inputs), tuple([each._node for each in outputs]), function
    )
    for recorder in active():
        recorder.note_custom_gradient(custom_gradient)
    return nest.pack_sequence_as(result, outputs, expand_composites=True)


def _gradients(
    gradient: Callable[..., Any],
    result: Any,
    upstream: Sequence[Any],
    variables: list[Variable],
    count: int,
) -> list[Any]:
    """The user's gradients in the inputs, and those in the variables after them."""
    packed = nest.pack_sequence_as(result, list(upstream), expand_composites=True)
    parts = packed if isinstance(packed, (list, tuple)) else [packed]
    of_variables: list[Any] = []
    if variables:
        found, of_variables = gradient(*parts, variables=variables)
        if len(of_variables) != len(variables):
            raise ValueError(
                f"the gradient function returned {len(of_variables)} gradients for "
                f"{len(variables)} variables"
            )
    else:
        found = gradient(*parts)
    flat = nest.flatten(found)
    if len(flat) != count:
        raise ValueError(
            f"the gradient function returned {len(flat)} gradients for {count} arguments"
        )
    return [*flat, *of_variables]


def _takes_variables(gradient: Callable[..., Any]) -> bool:
    spec = inspect.getfullargspec(gradient)
    return "variables" in spec.args or "variables" in spec.kwonlyargs or spec.varkw is not None
