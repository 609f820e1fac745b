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

from gradwire import hints
from gradwire.endpoints import MatrixFormat
from gradwire.errors import UsageError
from gradwire.tracing import literals
from gradwire.tracing.bodies import Nest, applied
from gradwire.tracing.functions import Function, Runs, inline_of, own_client
from gradwire.tracing.points import Argnums, Point, unlike
from gradwire.tracing.recorded import (
    as_recorded,
    as_term,
    aval_of,
    is_number,
    numbers_of,
    outputs,
)
from gradwire.tracing.shapes import Aval
from gradwire.tracing.structures import unflatten
from gradwire.tracing.terms import Body, Bound, Scope
from gradwire.tracing.tracer import Tracer, term_of
from gradwire.tracing.traces import not_traceable, recording
from gradwire.usage import as_decorator, check_client, check_function, public, used

Axes: TypeAlias = "int | Sequence[int | None] | None"


@as_decorator
def grad(
    f: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    client: Runs | None = None,
) -> Function[..., Any]:
    """The gradient of ``f`` with respect to its arguments at ``argnums``, as a function.

    It is nested as these arguments are, with their shapes and dtypes. Of a value with elements, it
    is the gradient of their sum; a complex value has none by real arguments. With ``has_aux``,
    ``f`` gives a pair of which only the first is differentiated, and the gradient comes with the
    second.

    >>> gradwire.grad(lambda w: np.sum(w**2))(np.array([1.0, 2.0]))
    array([2., 4.])
    """

    def gradient(*args: Any, **kwargs: Any) -> Any:
        value, gradients = _pulled(f, argnums, has_aux, args, kwargs)
        return (gradients, value[1]) if has_aux else gradients

    return _made(f, gradient, argnums, client, partial(grad, argnums=argnums, has_aux=has_aux))


@as_decorator
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


@as_decorator
def jacobian(
    f: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    format: MatrixFormat = "dense",
    client: Runs | None = None,
) -> Function[..., Any]:
    """The Jacobian of ``f`` with respect to its arguments at ``argnums``, as a function.

    Nested as the value of ``f`` is and then as the argument is; each array has the axes of the
    one and then of the other. Of the ``format`` ``"coo"`` each is a ``SparseArray`` of the elements
    that may be nonzero, of which alone the service computes derivatives. Complex values by real
    arguments have complex derivatives, those of both parts; by complex ones they are gradients.
    """
    prefix = _prefix(format)

    def matrices(*args: Any, **kwargs: Any) -> Any:
        point = Point(argnums, args)
        parts, shape = outputs(inline_of(f)(*point.args, **kwargs))
        rows = [point.nested(_rows(point, f"{prefix}jacobian", part)) for part in parts]
        return unflatten(shape, iter(rows))

    return _made(f, matrices, argnums, client, partial(jacobian, argnums=argnums, format=format))


@as_decorator
def hessian(
    f: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    format: MatrixFormat = "dense",
    client: Runs | None = None,
) -> Function[..., Any]:
    """The second derivatives of ``f``, as a function; its arguments' structure twice.

    ``format`` is as of ``jacobian``; ``"coo"`` is of one array.
    """
    prefix = _prefix(format)

    def matrices(*args: Any, **kwargs: Any) -> Any:
        point = Point(argnums, args)
        value = _one(inline_of(f)(*point.args, **kwargs))
        whole = point.call(f"{prefix}hessian", value)
        rows = []
        for i, leaf in enumerate(point.leaves):
            row = whole if prefix else literals.part(whole, i)  # by coordinates, of one leaf alone
            rows.append(point.nested(point.items(row, leaf)))
        return point.nested(rows)

    return _made(f, matrices, argnums, client, partial(hessian, argnums=argnums, format=format))


@public
def jvp(
    f: Callable[..., Any],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    client: Runs | None = None,
) -> Any:
    """The value of ``f(*primals)`` and its derivative along ``tangents``, nested alike."""
    return _at(f, client, _along)(*_tuples(primals=primals, tangents=tangents))


def _along(f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
    point = Point(range(len(primals)), tuple(primals))
    directions = point.matched(tangents, "tangents")
    parts, shape = outputs(inline_of(f)(*point.args))
    derivatives = [point.product("jvp", part, directions) for part in parts]
    return unflatten(shape, iter(parts)), unflatten(shape, iter(derivatives))


@public
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
    return _at(f, client, _back)(*_tuples(primals=primals), cotangents)


def _back(f: Callable[..., Any], primals: Sequence[Any], cotangents: Any) -> Any:
    point = Point(range(len(primals)), tuple(primals))
    value = inline_of(f)(*point.args)
    parts, shape = outputs(value)
    seeds, seeded = numbers_of(cotangents)
    if seeded != shape:
        raise unlike("cotangents", "the function's value")
    weighted = [np.sum(np.conj(seed) * part) for seed, part in zip(seeds, parts, strict=True)]
    return value, point.nested(point.derivatives("grad", sum(weighted[1:], weighted[0])))


@public
def hvp(
    f: Callable[..., Any],
    primals: Sequence[Any],
    vectors: Sequence[Any],
    *,
    client: Runs | None = None,
) -> Any:
    """The gradients of ``f`` at ``primals``, and its Hessian times ``vectors``."""
    return _at(f, client, _product)(*_tuples(primals=primals, vectors=vectors))


def _product(f: Callable[..., Any], primals: Sequence[Any], vectors: Sequence[Any]) -> Any:
    point = Point(range(len(primals)), tuple(primals))
    directions = point.matched(vectors, "vectors")
    value = _one(inline_of(f)(*point.args))
    along = point.call("hvp", value, directions)
    return point.nested(point.derivatives("grad", value)), point.nested(point.items(along))


@as_decorator
def vmap(
    f: Callable[..., Any], in_axes: Axes = 0, out_axes: int = 0, *, client: Runs | None = None
) -> Function[..., Any]:
    """``f`` mapped over an axis of its arguments: one request for all examples.

    ``in_axes`` says which axis, for all arguments or for each; ``None`` is for what all examples
    share. Results are stacked along ``out_axes``.

    >>> gradwire.vmap(gradwire.grad(loss), in_axes=(None, 0, 0))(w, xs, ys)  # of each example
    """
    _check_axes(in_axes, out_axes)

    def mapped(*args: Any, **kwargs: Any) -> Any:
        axes = [in_axes] * len(args) if in_axes is None or isinstance(in_axes, int) else in_axes
        if len(axes) != len(args):
            raise UsageError(f"in_axes has {len(axes)} axes for {len(args)} arguments")
        given: list[tuple[Any, int]] = []
        rows: list[Tracer] = []

        def examples(arg: Any, axis: int, scope: Scope) -> Any:
            leaves, structure = numbers_of(arg)
            given.extend((leaf, axis) for leaf in leaves)
            made = [Tracer(Bound(scope), _without(leaf, axis)) for leaf in leaves]
            rows.extend(made)
            return unflatten(structure, iter(made))

        with recording().inside() as scope:
            each = [
                arg if axis is None else examples(arg, axis, scope)
                for arg, axis in zip(args, axes, strict=True)
            ]
            returned = Nest(inline_of(f)(*each, **kwargs)).as_list()
            params: Any = tuple([row._term for row in rows])
            body = Body(scope, params, returned.term)
        if not given:
            raise UsageError("vmap needs an argument with an axis to map over")
        mapping = term_of("vmap", body, in_axes=[axis for _, axis in given], out_axes=out_axes)
        whole = applied(mapping, [as_term(leaf) for leaf, _ in given])
        leaf, axis = given[0]
        return returned.read(whole, (np.shape(leaf)[axis],), out_axes)

    return _made(f, mapped, (), client, partial(vmap, in_axes=in_axes, out_axes=out_axes))


def _check_axes(in_axes: Any, out_axes: Any) -> None:
    if not isinstance(out_axes, int):
        raise UsageError(f"out_axes needs an axis, got {type(out_axes).__name__}")
    if not (in_axes is None or isinstance(in_axes, int | Sequence)):
        got = type(in_axes).__name__
        raise UsageError(f"in_axes needs an axis, or one for each argument, got {got}")


def _prefix(format: MatrixFormat) -> str:
    """The prefix of the name of a matrix of derivatives in the language."""
    if format not in ("dense", "coo"):
        raise UsageError(f'format is "dense" or "coo", got {format!r}')
    return "sparse." if format == "coo" else ""


def _made(
    f: Callable[..., Any],
    inline: Callable[..., Any],
    argnums: Argnums,
    client: Runs | None,
    again: partial[Function[..., Any]],
) -> Function[..., Any]:
    check_function(f)
    own = own_client(f) if client is None else client
    chosen: Any = (argnums,) if isinstance(argnums, int) else argnums
    with used("argnums"):
        is_chosen = isinstance(chosen, Sequence) and all(isinstance(i, int) for i in chosen)
    if not is_chosen:
        got = type(argnums).__name__
        raise UsageError(f"argnums are positions of arguments, got {got}", hint=hints.BY_NAME)
    made_again = (partial(again, client=client), (f,))
    return Function(f, own, inline=inline, differentiated=tuple(chosen), again=made_again)


def _at(f: Callable[..., Any], client: Runs | None, transform: Callable[..., Any]) -> Any:
    """A transform of a function, the same for each call, so that it is recorded once."""
    check_function(f)
    check_client(client)
    own: Any = own_client(f) if client is None else client
    try:
        return _kept(transform, f, own)
    except TypeError:  # it has no hash
        return _kept.__wrapped__(transform, f, own)


@lru_cache(maxsize=128)
def _kept(
    transform: Callable[..., Any], f: Callable[..., Any], client: Runs | None
) -> Function[..., Any]:
    return Function(f, client, inline=partial(transform, f), differentiated=(0, 1))


def _tuples(**given: Any) -> Iterator[tuple[Any, ...]]:
    for name, values in given.items():
        if not isinstance(values, (tuple, list)):
            got = type(values).__name__
            hint = f"({name[:-1]},) is for one argument"
            raise UsageError(
                f"{name} are a tuple with one for each argument, got a {got}", hint=hint
            )
        yield tuple(values)


def _pulled(
    f: Callable[..., Any], argnums: Argnums, has_aux: bool, args: tuple[Any, ...], kwargs: Any
) -> tuple[Any, Any]:
    point = Point(argnums, args)
    value = inline_of(f)(*point.args, **kwargs)
    target = _one(value[0] if has_aux else value)
    if _is_complex_by_real(point, target):
        raise not_traceable(
            f"a gradient by real arguments needs a real value, got {target.dtype}",
            "differentiate np.real and np.imag of it apart, or use jacobian or jvp",
        )
    return value, point.nested(point.derivatives("grad", target))


def _rows(point: Point, function: str, part: Tracer) -> list[Any]:
    """The Jacobians of a value; of a complex one by real sources, those of its two parts."""
    if not _is_complex_by_real(point, part):
        return [*point.derivatives(function, part)]
    if function != "jacobian":
        raise not_traceable(
            f'a Jacobian of format="coo" by real arguments needs real values, got {part.dtype}',
            "take those of np.real and np.imag of it apart",
        )
    real, imaginary = [
        point.derivatives(function, as_recorded([of(part)])[0]) for of in (np.real, np.imag)
    ]
    return [np.add(x, np.multiply(1j, y)) for x, y in zip(real, imaginary, strict=True)]


def _is_complex_by_real(point: Point, value: Tracer) -> bool:
    """Whether gradients are half of what is asked for: seeded with 1, of the real part alone."""
    dtype = value.known_dtype
    of_parts = dtype is not None and dtype.kind == "c"
    return of_parts and any(leaf.dtype.kind != "c" for leaf in point.leaves)


def _one(value: Any) -> Tracer:
    """The one array that a function returned, to differentiate."""
    if not is_number(value):
        raise not_traceable(
            f"a gradient needs a function that returns one array, got a {type(value).__name__}",
            "has_aux=True is for a pair of which the first is differentiated",
        )
    return as_recorded([value])[0]


def _without(leaf: Any, axis: int) -> Aval:
    """An array's shape without an axis."""
    shape, dtype = aval_of(leaf)
    if not -len(shape) <= axis < len(shape):
        raise UsageError(f"vmap maps over axis {axis}, which an array of shape {shape} lacks")
    place = axis % len(shape)
    return Aval(shape[:place] + shape[place + 1 :], dtype)
