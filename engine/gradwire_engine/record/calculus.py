"""Calculus inside programs, expanded while recording: gradients, Jacobians, Hessians, products."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial, reduce
from operator import add
from typing import Any

from gradwire_engine.answer import Notice
from gradwire_engine.autodiff import matrices
from gradwire_engine.autodiff.forward import pushforward
from gradwire_engine.autodiff.reverse import gradient, pullback
from gradwire_engine.autodiff.sparse_matrices import coordinates, sparse_hessian, sparse_jacobian
from gradwire_engine.errors import BadArgument
from gradwire_engine.nesting import arrays, leaves, rebuild
from gradwire_engine.ops.builder import Builder, Var, describe
from gradwire_engine.ops.composites import Sparse
from gradwire_engine.ops.constants import Copy
from gradwire_engine.record.recorder import Recorder
from gradwire_engine.record.scope import Closure, Operation, Transformed
from gradwire_engine.tape import ArrayType, Shape

#: From the recorder, a target and sources to derivatives.
Rule = Callable[[Recorder, Any, Any], Any]
#: Whose real part Hessians in complex numbers have.
GRADIENT = "gradient is complex and the value"


def grad(r: Recorder, y: Any, x: Any = None, *, argnums: Any = None, has_aux: Any = False) -> Any:
    """Gradient of the sum of ``y`` in the values that ``x`` names, in ``x``'s structure.

    Of a function instead of a value: the function that gives its gradient in its first argument,
    or in those of the numbers ``argnums``.  With ``has_aux`` the function gives a pair, of which
    the second goes beside the gradient.
    """
    return derivative(r, gradients, y, x, argnums, has_aux)


def value_and_grad(
    r: Recorder, y: Any, x: Any = None, *, argnums: Any = None, has_aux: Any = False
) -> Any:
    """``y`` and its gradient in ``x``, as a pair; of a function as ``grad``."""
    return derivative(r, _value_and_gradients, y, x, argnums, has_aux)


def jacobian(
    r: Recorder, y: Any, x: Any = None, *, argnums: Any = None, has_aux: Any = False
) -> Any:
    """``∂ y / ∂ x`` of shape ``y.shape + x.shape``, in ``x``'s structure, as ``grad``."""
    return derivative(r, _jacobians, y, x, argnums, has_aux)


def hessian(
    r: Recorder, y: Any, x: Any = None, *, argnums: Any = None, has_aux: Any = False
) -> Any:
    """Second derivatives of the sum of ``y`` in ``x``'s structure, twice nested; as ``grad``.

    Each has the shape ``a.shape + b.shape`` for two of the values that ``x`` names.
    """
    return derivative(r, _hessians, y, x, argnums, has_aux)


def jvp(r: Recorder, y: Any, x: Any, v: Any) -> Any:
    """Derivative of ``y`` along ``v`` in the values that ``x`` names: ``J(x) v``."""
    _check_named(r, x)
    return tangents(r, y, x, v)


def vjp(r: Recorder, y: Any, x: Any, v: Any) -> Any:
    """Gradient of ``sum(v * y)`` in ``x``'s structure, ``v`` constant: ``vᵀ J(x)``."""
    _check_named(r, x)
    return gradients(r, y, x, v)


def hvp(r: Recorder, y: Any, x: Any, v: Any) -> Any:
    """Second derivative of the sum of ``y`` along ``v``, in ``x``'s structure: ``H(x) v``."""
    _check_named(r, x)
    first = gradients(r, y, x)
    known = len(r.warnings)
    second = tangents(r, first, x, v)
    _forget_zeros(r, known)
    return second


def gradients(r: Recorder, y: Any, x: Any, v: Any = None) -> Any:
    """Gradient of the sum of all leaves of ``y`` in ``x``'s structure, zeros without a path.

    The leaves are multiplied by those of ``v``, where it is given.
    """
    groups = [r.state.leaves(source) for source in variables(x)]
    every = [leaf for group in groups for leaf in group]
    targets = [r.b.array(leaf) for leaf in leaves(y)]
    if v is None:
        bars = gradient(r.b, targets, every)
    else:
        bars = pullback(r.b, targets, _beside(r, targets, v), every)
    found = iter(summed(groups, bars))
    of = targets if v is None else ()
    return rebuild(x, lambda leaf: _or_zeros(r, next(found), leaf, of=of))


def tangents(r: Recorder, y: Any, x: Any, v: Any) -> Any:
    """Derivative along ``v`` in ``y``'s structure, zeros without a path."""
    sources, outputs = variables(x), [r.b.array(leaf) for leaf in leaves(y)]
    along = [
        (version, dot)
        for source, dot in zip(sources, _beside(r, sources, v), strict=True)
        for version in r.state.leaves(source)
    ]
    if len({source.slot for source, _ in along}) < len(along):
        raise BadArgument("a value is given two tangents", hint="name it once, with their sum")
    found = iter(pushforward(r.b, outputs, [x for x, _ in along], [dot for _, dot in along]))
    return rebuild(y, lambda leaf: _or_zeros(r, next(found), r.b.array(leaf)))


def named_anew(r: Recorder, args: Any) -> Any:
    """The same values under names of their own, to differentiate a function of them in."""
    return rebuild(args, lambda leaf: Copy()(_floating(r, leaf)))


def _beside(r: Recorder, variables: Sequence[Var], v: Any) -> list[Var]:
    """The leaves of ``v``, one for each variable and of its type."""
    vectors = leaves(v)
    if len(vectors) != len(variables):
        raise BadArgument(f"{len(variables)} values, but {len(vectors)} vectors to multiply by")
    return [
        r.b.broadcast(r.b.cast(r.b.array(vector), variable.dtype), variable.shape)
        for variable, vector in zip(variables, vectors, strict=True)
    ]


def derivative(
    r: Recorder, rule: Rule, y: Any, x: Any, argnums: Any = None, has_aux: Any = False
) -> Any:
    """Apply a rule to a value, or keep it for when a function is called."""
    if is_function(y):
        chosen = x if argnums is None else argnums
        return Transformed(partial(_of_function, y, rule, chosen, r.truth(has_aux)))
    _check_named(r, x)
    return rule(r, y, x)


def is_function(x: Any) -> bool:
    """True for a function that is a value."""
    return isinstance(x, Closure | Operation | Transformed)


def _of_function(
    function: Any,
    rule: Rule,
    argnums: Any,
    has_aux: bool,
    r: Recorder,
    args: Sequence[Any],
    named: Mapping[str, Any],
) -> Any:
    """The derivative of ``function(*args)`` in the arguments of these numbers."""
    several = isinstance(argnums, list | tuple)
    places = [r.integer(n or 0) for n in (argnums if several else [argnums])]
    if not all(-len(args) <= n < len(args) for n in places):
        raise BadArgument("the function needs the argument to differentiate in")
    given = [*args]
    for n in places:
        given[n] = named_anew(r, given[n])
    x = tuple([given[n] for n in places]) if several else given[places[0]]
    y, aux = r.apply(function, given, named), None
    if has_aux:
        if not isinstance(y, list | tuple) or len(y) != 2:
            raise BadArgument("with has_aux the function gives its value, and what goes beside it")
        y, aux = y
    found = rule(r, y, x)
    if not has_aux:
        return found
    return ((y, aux), found[1]) if rule is _value_and_gradients else (found, aux)


def _value_and_gradients(r: Recorder, y: Any, x: Any) -> tuple[Any, Any]:
    return y, gradients(r, y, x)


def _jacobians(r: Recorder, y: Any, x: Any) -> Any:
    x = arrays(x)
    sources, target = variables(x), r.b.array(y)
    groups = [r.state.leaves(source) for source in sources]
    found = iter(summed(groups, matrices.jacobian(r.b, target, [v for g in groups for v in g])))
    return rebuild(x, lambda leaf: _or_zeros(r, next(found), leaf, target.shape, of=[target]))


def _hessians(r: Recorder, y: Any, x: Any) -> Any:
    x = arrays(x)
    first = gradients(r, y, x)
    known = len(r.warnings)
    second = rebuild(first, lambda bar: _jacobians(r, bar, x))
    _forget_zeros(r, known)
    warn_of_real_part(r.b, leaves(first), [*map(r.b.array, leaves(y))], GRADIENT)
    return second


def summed(groups: Sequence[Sequence[Var]], found: Sequence[Var | None]) -> list[Var | None]:
    """For each variable the sum over the leaves that it has had."""
    each = iter(found)
    totals: list[Var | None] = []
    for group in groups:
        bars = [bar for bar in [next(each) for _ in group] if bar is not None]
        totals.append(reduce(add, bars) if bars else None)
    return totals


def variables(x: Any) -> list[Var]:
    """The values that ``x`` names, to differentiate in."""
    if x is None:
        hint = "grad(y, x) is of a value, grad(f)(x) of a function"
        message = "a value to differentiate needs a second one, to differentiate in"
        raise BadArgument(message, hint=hint)
    found = leaves(x)
    for leaf in found:
        if not isinstance(leaf, Var):
            hint = "name a floating value; a number in a list has no name"
            raise BadArgument(f"cannot differentiate in {describe(leaf)}", hint=hint)
    return found


def _check_named(r: Recorder, x: Any) -> None:
    """Refuse a source that the call itself computes: nothing can depend on it yet."""
    if r.node.kind != "call" or r.node.value[1] or len(r.node.args) < 2:
        return
    pending = [(r.nodes[r.node.args[1]], x)]
    while pending:
        node, value = pending.pop()
        if node.kind in ("list", "tuple", "dict"):
            items = value.values() if isinstance(value, dict) else value
            if isinstance(value, dict | list | tuple) and len(items) == len(node.args):
                pending += zip([r.nodes[i] for i in node.args], items, strict=True)
        elif isinstance(value, Var) and r.b.instructions[value.slot].origin == node.at:
            raise BadArgument(
                "this value is made in the call, so nothing depends on it",
                hint="assign it to a name first, and compute with that name",
            )


def warn_of_real_part(b: Builder, y: Sequence[Var], x: Sequence[Var], which: str) -> None:
    """Warn of derivatives of complex values in real ones: of their real part, half of all."""
    found = [var for var in y if var.dtype.kind == "c"]
    if found and all(var.dtype.kind != "c" for var in x):
        detail = f"the {which} real, so the real part alone is differentiated"
        origin = b.instructions[found[0].slot].origin
        b.warn("real_part", f"{detail}; differentiate its imag, too, or take jvp or hvp", origin)


def _or_zeros(
    r: Recorder, found: Var | None, like: Var, rows: Shape = (), of: Sequence[Var] = ()
) -> Var:
    if found is not None:
        warn_of_real_part(r.b, of, [like], f"value is complex and this {like.type}")
        return found
    detail = f"no differentiable path to this {like.type}; zeros are used"
    r.warnings.append(Notice("no_path", detail, r.program.place(r.node.at)))
    return r.b.full(0, ArrayType(like.dtype, (*rows, *like.shape)))


def _floating(r: Recorder, leaf: Any) -> Var:
    return r.b.inexact(float(leaf) if type(leaf) is int else leaf)


def _sparse_jacobian(r: Recorder, y: Any, x: Any = None) -> Any:
    """The elements of ``∂ y / ∂ x`` that may differ from zero, in ``x``'s structure; as ``grad``.

    Each is a sparse tensor, of ``indices``, ``values`` and ``shape``.  Costs a product for each
    colour of rows or columns that share no element.  Source: Gebremedhin, Manne and Pothen,
    What Color Is Your Jacobian? (2005).
    """
    return derivative(r, _sparse_jacobians, y, x)


def _sparse_hessian(r: Recorder, y: Any, x: Any = None) -> Any:
    """The elements of the Hessian of the sum of ``y`` in one value that may differ from zero.

    As ``sparse.jacobian``, by a star colouring: both of each symmetric pair.
    """
    return derivative(r, _sparse_hessians, y, x)


def _sparse_jacobians(r: Recorder, y: Any, x: Any) -> Any:
    x = arrays(x)
    variables(x)
    target, known = r.b.array(y), r.concrete

    def block(source: Var) -> Sparse:
        versions = r.state.leaves(source)
        found = [sparse_jacobian(r.b, target, version, known=known) for version in versions]
        warn_of_real_part(r.b, [target], [source], f"value is complex and this {source.type}")
        return coordinates([part for part in found if part is not None], target, source)

    return rebuild(x, block)


def _sparse_hessians(r: Recorder, y: Any, x: Any) -> Any:
    x = arrays(x)
    if len(given := variables(x)) != 1 or len(r.state.leaves(given[0])) != 1:
        raise BadArgument("a sparse Hessian is of one value", hint="concatenate them, then split")

    def block(source: Var) -> Sparse:
        found = sparse_hessian(r.b, r.b.array(y), source, r.concrete)
        warn_of_real_part(r.b, [source], [r.b.array(y)], GRADIENT)
        return coordinates([] if found is None else [found], source, source)

    return rebuild(x, block)


#: Called as ``function(recorder, *args, **named)``.
SPARSE: dict[str, Callable[..., Any]] = {
    "sparse.jacobian": _sparse_jacobian,
    "sparse.hessian": _sparse_hessian,
}


def _forget_zeros(r: Recorder, known: int) -> None:
    """Forget the warnings since ``known`` of what is usual in second derivatives."""
    usual = ("no_path", "real_part")
    r.warnings[known:] = [notice for notice in r.warnings[known:] if notice.code not in usual]
