"""Gradients of functions, as TensorFlow's eager mode had them before it had only tapes.

>>> import gradwire.tfe as tfe
>>> tfe.gradients_function(lambda x, y: x * y)(2.0, 3.0)
[<tf.Tensor: shape=(), dtype=float32, numpy=3.0>, <tf.Tensor: shape=(), dtype=float32, numpy=2.0>]

``implicit_grad``, ``implicit_val_and_grad`` and ``val_and_grad_function`` are the short names
under which TensorFlow 2 still has them inside.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from gradwire.tf import nest
from gradwire.tf.operators import identity
from gradwire.tf.tapes import GradientTape
from gradwire.tf.variables import convert_to_tensor

__all__ = [
    "GradientTape", "gradients_function", "implicit_grad", "implicit_gradients",
    "implicit_val_and_grad", "implicit_value_and_gradients", "make_vjp", "val_and_grad_function",
    "value_and_gradients_function",
]  # fmt: skip

#: The parameters to differentiate in, by name or position; by default all.
Parameters = Sequence[str] | Sequence[int] | None


def gradients_function(
    f: Callable[..., Any], params: Parameters = None
) -> Callable[..., list[Any]]:
    """A function with f's parameters that gives f's gradient in each of ``params``.

    It takes the gradient that arrives at f's result as ``dy``, ones by default. An object given
    for two parameters counts as two.
    """
    differentiated = value_and_gradients_function(f, params)

    def gradients(*args: Any, **kwargs: Any) -> list[Any]:
        found: list[Any] = differentiated(*args, **kwargs)[1]
        return found

    return gradients


def value_and_gradients_function(
    f: Callable[..., Any], params: Parameters = None
) -> Callable[..., tuple[Any, list[Any]]]:
    """The same with f's value before the gradients."""

    def value_and_gradients(*args: Any, **kwargs: Any) -> tuple[Any, list[Any]]:
        dy = kwargs.pop("dy", None)
        if kwargs:
            raise ValueError(f"pass arguments by position, got the keywords {list(kwargs)}")
        value, vjp = make_vjp(f, params)(*args)
        return value, vjp(dy)

    return value_and_gradients


def implicit_gradients(f: Callable[..., Any]) -> Callable[..., list[tuple[Any, Any]]]:
    """A function that gives f's gradients in the trainable variables that f reads.

    They are pairs of gradient and variable, in the order in which the variables were made.
    """
    differentiated = implicit_value_and_gradients(f)

    def gradients(*args: Any, **kwargs: Any) -> list[tuple[Any, Any]]:
        return differentiated(*args, **kwargs)[1]

    return gradients


def implicit_value_and_gradients(
    f: Callable[..., Any],
) -> Callable[..., tuple[Any, list[tuple[Any, Any]]]]:
    """The same with f's value before the pairs."""

    def value_and_gradients(*args: Any, **kwargs: Any) -> tuple[Any, list[tuple[Any, Any]]]:
        with GradientTape() as tape:
            value = _not_none(f(*args, **kwargs), f)
        variables = list(tape.watched_variables())
        if not variables:
            raise ValueError(f"{getattr(f, '__name__', f)} reads no trainable variable")
        return value, list(zip(tape.gradient(value, variables), variables, strict=True))

    return value_and_gradients


def make_vjp(
    f: Callable[..., Any], params: Parameters = None, persistent: bool = True
) -> Callable[..., tuple[Any, Callable[..., list[Any]]]]:
    """A function that gives f's value and its vector-Jacobian product.

    The product takes the gradient that arrives at f's result, ones by default, and gives the
    gradients in ``params``. Unless ``persistent`` it does so once, and then gives ``None``.
    """

    def value_and_vjp(*args: Any) -> tuple[Any, Callable[..., list[Any]]]:
        given = list(args)
        sources: list[Any] = []
        for position in _positions(f, params, len(args)):
            # Each parameter is a source of its own, also where two are given one object.
            source = convert_to_tensor(args[position])
            if any(source is other for other in sources):
                source = identity(source)
            given[position] = source
            sources.append(source)
        with GradientTape(persistent=True, watch_accessed_variables=False) as tape:
            tape.watch([source for source in sources if source.dtype.is_differentiable])
            result = _not_none(f(*given), f)
        result = nest.map_structure(convert_to_tensor, result)
        uses = 0

        def vjp(dy: Any = None) -> list[Any]:
            nonlocal uses
            uses += 1
            if uses > 1 and not persistent:
                return [None] * len(sources)
            found: list[Any] = tape.gradient(result, sources, output_gradients=dy)
            return found

        return result, vjp

    return value_and_vjp


implicit_grad = implicit_gradients
implicit_val_and_grad = implicit_value_and_gradients
val_and_grad_function = value_and_gradients_function


def _not_none(value: Any, f: Callable[..., Any]) -> Any:
    if value is None:
        raise ValueError(
            f"{getattr(f, '__name__', f)} returned None, which has no derivative; it may lack a "
            "return statement"
        )
    return value


def _positions(f: Callable[..., Any], params: Parameters, count: int) -> list[int]:
    if params is None:
        return list(range(count))
    names = [name for name in params if isinstance(name, str)]
    if names and len(names) < len(params):
        raise ValueError(f"`params` mixes names and positions: {params}")
    if not names:
        return [int(position) for position in params]
    declared = list(inspect.signature(f).parameters)
    if unknown := [name for name in names if name not in declared]:
        raise ValueError(f"{getattr(f, '__name__', f)} has no parameter {unknown[0]!r}")
    return [declared.index(name) for name in names]
