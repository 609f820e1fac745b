"""Derivatives of Python functions, and functions mapped over an axis.

Each is recorded as part of one program: the function's own calls on copies of its arguments, so
that it is differentiated in them and in nothing else they may also be, and then the language's
``grad``, ``jacobian``, … of what came out. So they nest in any order, and a value with its
gradient is one request.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from typing import Any, TypeAlias

import numpy as np

from gradwire.errors import NotTraceable, UsageError
from gradwire.tracing import literals
from gradwire.tracing.bodies import applied, written
from gradwire.tracing.functions import Function, Runs, inline_of
from gradwire.tracing.points import Argnums, Point, unlike
from gradwire.tracing.recorded import (
    as_recorded,
    as_term,
    is_number,
    item_of,
    listed,
    outputs,
    recording,
)
from gradwire.tracing.shapes import Aval
from gradwire.tracing.structures import flatten, is_array_like, unflatten
from gradwire.tracing.terms import Body, Bound, Term
from gradwire.tracing.tracer import Tracer
from gradwire.tracing.traces import Trace, not_traceable
from gradwire.usage import check_client, check_function

Axes: TypeAlias = "int | Sequence[int | None] | None"


def grad(
    f: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    client: Runs | None = None,
) -> Function[..., Any]:
    """The gradient of ``f`` with respect to its arguments at ``argnums``, as a function.

    It is nested as these arguments are, with their shapes and dtypes. Of a value with elements, it
    is the gradient of their sum. With ``has_aux``, ``f`` gives a pair of which only the first is
    differentiated, and the gradient comes with the second.

    >>> gradwire.grad(lambda w: np.sum(w**2))(np.array([1.0, 2.0]))
    array([2., 4.])
    """

    def gradient(*args: Any, **kwargs: Any) -> Any:
        value, gradients = _pulled(f, argnums, has_aux, args, kwargs)
        return (gradients, value[1]) if has_aux else gradients

    return _made(f, gradient, argnums, client, partial(grad, argnums=argnums, has_aux=has_aux))


def value_and_grad(
    f: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    client: Runs | None = None,
) -> Function[..., Any]:
    """The value of ``f`` and its gradient, as a function of one request.

    >>> value, gradient = gradwire.value_and_grad(loss)(w, x, y)
    """

    def both(*args: Any, **kwargs: Any) -> Any:
        return _pulled(f, argnums, has_aux, args, kwargs)

    again = partial(value_and_grad, argnums=argnums, has_aux=has_aux)
    return _made(f, both, argnums, client, again)


def jacobian(
    f: Callable[..., Any], argnums: Argnums = 0, *, client: Runs | None = None
) -> Function[..., Any]:
    """The Jacobian of ``f`` with respect to its arguments at ``argnums``, as a function.

    Nested as the value of ``f`` is and then as the argument is; each array has the axes of the
    one and then of the other.
    """

    def matrices(*args: Any, **kwargs: Any) -> Any:
        point = Point(argnums, args)
        parts, shape = outputs(inline_of(f)(*point.args, **kwargs))
        rows = [point.nested(point.derivatives("jacobian", part)) for part in parts]
        return unflatten(shape, iter(rows))

    return _made(f, matrices, argnums, client, partial(jacobian, argnums=argnums))


def hessian(
    f: Callable[..., Any], argnums: Argnums = 0, *, client: Runs | None = None
) -> Function[..., Any]:
    """The second derivatives of ``f``, as a function; its arguments' structure twice."""

    def matrices(*args: Any, **kwargs: Any) -> Any:
        point = Point(argnums, args)
        value = _one(inline_of(f)(*point.args, **kwargs))
        whole = point.call("hessian", value)
        rows = []
        for i, leaf in enumerate(point.leaves):
            row = literals.part(whole, i)
            rows.append(point.nested(point.items(row, leaf)))
        return point.nested(rows)

    return _made(f, matrices, argnums, client, partial(hessian, argnums=argnums))


def jvp(
    f: Callable[..., Any],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    client: Runs | None = None,
) -> Any:
    """The value of ``f(*primals)`` and its derivative along ``tangents``, nested alike."""

    def along(primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
        point = Point(range(len(primals)), tuple(primals))
        directions = point.matched(tangents, "tangents")
        parts, shape = outputs(inline_of(f)(*point.args))
        derivatives = [point.product("jvp", part, directions) for part in parts]
        return unflatten(shape, iter(parts)), unflatten(shape, iter(derivatives))

    return _at(f, client, along)(*_tuples(primals=primals, tangents=tangents))


def vjp(
    f: Callable[..., Any],
    primals: Sequence[Any],
    cotangents: Any,
    *,
    client: Runs | None = None,
) -> Any:
    """The value of ``f(*primals)`` and the gradients of ``sum(cotangents * value)``, one for each.

    ``cotangents`` are nested as the value is.
    """

    def back(primals: Sequence[Any], cotangents: Any) -> Any:
        point = Point(range(len(primals)), tuple(primals))
        value = inline_of(f)(*point.args)
        parts, shape = outputs(value)
        seeds, seeded = flatten(cotangents, is_number)
        if seeded != shape:
            raise unlike("cotangents", "the function's value")
        weighted = [np.sum(np.conj(seed) * part) for seed, part in zip(seeds, parts, strict=True)]
        return value, point.nested(point.derivatives("grad", sum(weighted[1:], weighted[0])))

    return _at(f, client, back)(*_tuples(primals=primals), cotangents)


def hvp(
    f: Callable[..., Any],
    primals: Sequence[Any],
    vectors: Sequence[Any],
    *,
    client: Runs | None = None,
) -> Any:
    """The gradients of ``f`` at ``primals``, and its Hessian times ``vectors``."""

    def product(primals: Sequence[Any], vectors: Sequence[Any]) -> Any:
        point = Point(range(len(primals)), tuple(primals))
        directions = point.matched(vectors, "vectors")
        value = _one(inline_of(f)(*point.args))
        along = point.call("hvp", value, directions)
        return point.nested(point.derivatives("grad", value)), point.nested(point.items(along))

    return _at(f, client, product)(*_tuples(primals=primals, vectors=vectors))


def vmap(
    f: Callable[..., Any], in_axes: Axes = 0, out_axes: int = 0, *, client: Runs | None = None
) -> Function[..., Any]:
    """``f`` mapped over an axis of its arguments: one request for all examples.

    ``in_axes`` says which axis, for all arguments or for each; ``None`` is for what all examples
    share. Results are stacked along ``out_axes``.

    >>> gradwire.vmap(gradwire.grad(loss), in_axes=(None, 0, 0))(w, xs, ys)  # of each example
    """

    def mapped(*args: Any, **kwargs: Any) -> Any:
        trace = recording()
        axes = [in_axes] * len(args) if in_axes is None or isinstance(in_axes, int) else in_axes
        if len(axes) != len(args):
            raise UsageError(f"in_axes has {len(axes)} axes for {len(args)} arguments")
        given: list[tuple[Term, int]] = []
        params: list[Bound] = []
        with trace.inside() as scope:
            each = [
                arg if axis is None else _examples(arg, axis, trace, scope, given, params)
                for arg, axis in zip(args, axes, strict=True)
            ]
            parts, shape = outputs(inline_of(f)(*each, **kwargs))
        if not given:
            raise UsageError("vmap needs an argument with an axis to map over")
        returned = listed([part._term for part in parts])
        body = Body(scope, tuple(params), returned)
        options = {"in_axes": [axis for _, axis in given], "out_axes": out_axes}
        whole = applied(written("vmap", body, options=options), [term for term, _ in given])
        count = _length(args, axes)
        stacked = [
            item_of(whole, i, trace, infer=partial(_stacked_aval, part, count, out_axes))
            for i, part in enumerate(parts)
        ]
        return unflatten(shape, iter(stacked))

    return _made(f, mapped, (), client, partial(vmap, in_axes=in_axes, out_axes=out_axes))


def _made(
    f: Callable[..., Any],
    inline: Callable[..., Any],
    argnums: Argnums,
    client: Runs | None,
    again: partial[Function[..., Any]],
) -> Function[..., Any]:
    check_function(f)
    own = f._client if client is None and isinstance(f, Function) else client
    chosen: Any = (argnums,) if isinstance(argnums, int) else argnums
    if not (isinstance(chosen, Sequence) and all(isinstance(i, int) for i in chosen)):
        got = type(argnums).__name__
        hint = "variables by name go with program text"
        raise UsageError(f"argnums are positions of arguments, got {got}", hint=hint)
    made_again = (partial(again, client=client), (f,))
    return Function(f, own, inline=inline, differentiated=tuple(chosen), again=made_again)


def _at(
    f: Callable[..., Any], client: Runs | None, inline: Callable[..., Any]
) -> Function[..., Any]:
    """Keep a transform with its function, so that it is recorded once."""
    check_function(f)
    check_client(client)
    function = f if isinstance(f, Function) else _function_of(f)
    own = function.own_client if client is None else client
    key = (inline.__name__, own)
    kept = function.derived.get(key)
    if kept is None:
        kept = Function(f, own, inline=inline, differentiated=(0, 1))
        function.derived[key] = kept
    return kept


def _tuples(**given: Any) -> Iterator[tuple[Any, ...]]:
    for name, values in given.items():
        if not isinstance(values, (tuple, list)):
            got = type(values).__name__
            hint = f"({name[:-1]},) is for one argument"
            raise UsageError(
                f"{name} are a tuple with one for each argument, got a {got}", hint=hint
            )
        yield tuple(values)


def _function_of(python: Callable[..., Any]) -> Function[..., Any]:
    try:
        return _kept(python)
    except TypeError:  # it has no hash
        return Function(python)


@lru_cache(maxsize=128)
def _kept(python: Callable[..., Any]) -> Function[..., Any]:
    return Function(python)


def _pulled(
    f: Callable[..., Any], argnums: Argnums, has_aux: bool, args: tuple[Any, ...], kwargs: Any
) -> tuple[Any, Any]:
    point = Point(argnums, args)
    value = inline_of(f)(*point.args, **kwargs)
    target = _one(value[0] if has_aux else value)
    return value, point.nested(point.derivatives("grad", target))


def _one(value: Any) -> Tracer:
    """The one array that a function returned, to differentiate."""
    if isinstance(value, Tracer):
        return value
    if not is_array_like(value) and not isinstance(value, int):
        raise not_traceable(
            f"a gradient needs a function that returns one array, got a {type(value).__name__}",
            "has_aux=True is for a pair of which the first is differentiated",
        )
    return as_recorded([value])[0]


def _examples(
    value: Any, axis: int, trace: Trace, scope: Any, given: list[Any], params: list[Bound]
) -> Any:
    """One example of an argument: its arrays without the axis, as parameters of the function."""
    leaves, structure = flatten(value, is_number)
    each = []
    for leaf in leaves:
        shape = np.shape(leaf)
        if not -len(shape) <= axis < len(shape):
            raise UsageError(f"vmap maps over axis {axis}, which an array of shape {shape} lacks")
        param = Bound(scope)
        params.append(param)
        given.append((as_term(leaf, trace), axis))
        dtype = leaf.dtype if isinstance(leaf, Tracer) else np.asarray(leaf).dtype
        rest = list(shape)
        del rest[axis]
        each.append(Tracer(param, trace, Aval(tuple(rest), dtype)))
    return unflatten(structure, iter(each))


def _length(args: Sequence[Any], axes: Sequence[int | None]) -> int:
    """The number of examples."""
    lengths: list[int] = [
        np.shape(leaf)[axis]
        for arg, axis in zip(args, axes, strict=True)
        if axis is not None
        for leaf in flatten(arg, is_number)[0]
    ]
    return lengths[0]


def _stacked_aval(part: Tracer, count: int, axis: int) -> Aval | None:
    try:
        shape = list(part.shape)
    except NotTraceable:  # unknown by NumPy's rules: the service infers the whole
        return None
    shape.insert(axis if axis >= 0 else axis + len(shape) + 1, count)
    return Aval(tuple(shape), part.dtype)
