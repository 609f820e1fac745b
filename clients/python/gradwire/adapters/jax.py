"""JAX: functions that a service evaluates, as ones that JAX compiles, batches and differentiates.

>>> loss = gradwire.program("mean((tanh(x @ w) - y)**2)", "w", "x", "y")
>>> loss = gradwire.adapters.jax.function(loss)
>>> jax.jit(jax.value_and_grad(loss))(w, x, y)

A request is a primitive. Its rules for batching, JVP and transposition are requests, too, so
derivatives have any order, in either mode. A function of one number is requested with its gradient
where that will be needed.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradwire.adapters.requirements import blocking_client, needs
from gradwire.adapters.routines import Avals, Nested, Positions, Routine
from gradwire.bfloat16 import FLOATING
from gradwire.hidden import check_hides_nothing
from gradwire.tracing.functions import Runs
from gradwire.tracing.shapes import Aval

with needs("jax"):
    import jax
    import jax.numpy as jnp
    from jax.custom_derivatives import SymbolicZero
    from jax.extend.core import Primitive
    from jax.interpreters import ad, batching, mlir


def function(f: Callable[..., Any], *, client: Runs | None = None) -> Callable[..., Any]:
    """A Python function, or one of Gradwire's, as a function of JAX arrays nested as JAX nests.

    Under ``jax.jit`` its shapes are inferred while JAX compiles, by NumPy's rules or, if these do
    not suffice, by the service. Numbers and strings that are not arrays are part of the program.

    >>> jax.vmap(jax.grad(gradwire.adapters.jax.function(loss)), (None, 0, 0))(w, xs, ys)
    """
    own = blocking_client(f, client)
    known: dict[Any, Nested] = {}

    @functools.wraps(f)
    def called(*args: Any, **kwargs: Any) -> Any:
        paths, tree = jax.tree_util.tree_flatten_with_path((args, kwargs))
        static = tuple([None if _is_array(leaf) else (type(leaf), leaf) for _, leaf in paths])
        nested = known.get((tree, static))
        if nested is None:

            def arguments(leaves: Sequence[Any]) -> Any:
                given = iter(leaves)
                every = [next(given) if fixed is None else fixed[1] for fixed in static]
                return jax.tree_util.tree_unflatten(tree, every)

            names = [_name(f, path) for path, leaf in paths if _is_array(leaf)]
            nested = Nested(f, own, arguments, names, jax.tree_util.tree_flatten)
            known[tree, static] = nested
        given = [leaf for _, leaf in paths if _is_array(leaf)]
        for leaf in given:
            check_hides_nothing(leaf, "an argument")
        leaves = _strong([jnp.asarray(leaf) for leaf in given])
        results = request(nested.routine, *leaves)
        return jax.tree_util.tree_unflatten(nested.structure(_avals(leaves)), results)

    return called


def request(routine: Routine, *leaves: Any) -> Sequence[Any]:
    """A routine's results for JAX's arrays."""
    types = routine.types(_avals(leaves))
    one = len(types) == 1 and types[0].shape == () and types[0].dtype.kind in FLOATING
    results: Sequence[Any] = (
        [_with_gradient(routine)(*leaves)] if one else _call.bind(*leaves, routine=routine)
    )
    return results


def _with_gradient(routine: Routine) -> Callable[..., Any]:
    """A routine of one number: its gradient comes with the same request."""

    def value(*leaves: Any) -> Any:
        return _call.bind(*leaves, routine=routine)[0]

    def differentiated(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        sources = _moving(primals, tangents)
        value, *gradients = _call.bind(*primals, routine=routine.with_gradient(sources))
        slope = jnp.zeros((), value.dtype)
        for i, gradient in zip(sources, gradients, strict=True):
            slope += jnp.vdot(gradient, tangents[i]).real.astype(value.dtype)
        return value, slope

    number: Any = jax.custom_jvp(value)
    number.defjvp(differentiated, symbolic_zeros=True)
    differentiable: Callable[..., Any] = number
    return differentiable


#: A request. Its parameter is the routine.
_call: Any = Primitive("gradwire")
_call.multiple_results = True


def _computed(*arrays: Any, routine: Routine) -> list[Any]:
    return [jnp.asarray(part) for part in _answer(arrays, routine, _avals(arrays))]


def _types(*arrays: Any, routine: Routine) -> list[Any]:
    return [jax.core.ShapedArray(aval.shape, aval.dtype) for aval in _result_types(arrays, routine)]


def _compiled(*arrays: Any, routine: Routine) -> Any:
    """Lowering: the request is made when the compiled code runs."""
    types = _result_types(arrays, routine)
    results = [jax.ShapeDtypeStruct(aval.shape, aval.dtype) for aval in types]
    avals = _avals(arrays)
    return jax.pure_callback(lambda *given: _answer(given, routine, avals), results, *arrays)


def _differentiated(
    primals: Sequence[Any], tangents: Sequence[Any], *, routine: Routine
) -> tuple[Any, Any]:
    results = _call.bind(*primals, routine=routine)
    sources = _moving(primals, tangents)
    targets = tuple([i for i, result in enumerate(results) if _is_inexact(result)])
    moving = [tangents[i] for i in sources]
    along = iter(_call.bind(*primals, *moving, routine=routine.pushed(sources, targets)))
    return results, [
        next(along) if i in targets else ad.Zero(jax.typeof(result).to_tangent_aval())
        for i, result in enumerate(results)
    ]


def _transposed(cotangents: Sequence[Any], *arguments: Any, routine: Routine) -> list[Any]:
    """JAX transposes without conjugating, the service with it."""
    fixed = arguments[: len(arguments) - routine.linear]
    given = [_conjugate(ad.instantiate_zeros(cotangent)) for cotangent in cotangents]
    pulled = _call.bind(*fixed, *given, routine=routine.transposed)
    moved = zip(arguments[len(fixed) :], map(_conjugate, pulled), strict=True)
    unknown = [part if ad.is_undefined_primal(argument) else None for argument, part in moved]
    return [None] * len(fixed) + unknown


def _batched(
    arrays: Sequence[Any], axes: Sequence[int | None], *, routine: Routine
) -> tuple[Any, list[int]]:
    """One request for all examples. Linear arguments get one for each, to transpose."""
    pairs = list(zip(arrays, axes, strict=True))
    count = next(array.shape[axis] for array, axis in pairs if axis is not None)
    given: list[tuple[Any, int | None]] = []
    for place, (array, axis) in enumerate(pairs):
        if axis is not None:
            given.append((jnp.moveaxis(array, axis, 0), 0))
        elif place >= len(pairs) - routine.linear:
            given.append((jnp.broadcast_to(array, (count, *array.shape)), 0))
        else:
            given.append((array, None))
    examples = routine.mapped(tuple([axis for _, axis in given]))
    results = _call.bind(*[array for array, _ in given], routine=examples)
    return results, [0] * len(results)


_call.def_impl(_computed)
_call.def_abstract_eval(_types)
mlir.register_lowering(_call, mlir.lower_fun(_compiled, multiple_results=True))
ad.primitive_jvps[_call] = _differentiated
ad.primitive_transposes[_call] = _transposed
batching.primitive_batchers[_call] = _batched


def _answer(arrays: Sequence[Any], routine: Routine, avals: Avals) -> tuple[Any, ...]:
    given = [np.asarray(array, aval.dtype) for array, aval in zip(arrays, avals, strict=True)]
    types = [_canonical(aval) for aval in routine.types(avals)]
    found = zip(routine(*given), types, strict=True)
    return tuple([part.astype(aval.dtype, copy=False) for part, aval in found])


def _result_types(arrays: Sequence[Any], routine: Routine) -> list[Aval]:
    return [_canonical(aval) for aval in routine.types(_avals(arrays))]


def _canonical(aval: Aval) -> Aval:
    """The dtype in JAX: 32 bits unless it has 64 enabled."""
    return Aval(aval.shape, np.dtype(jax.dtypes.canonicalize_dtype(aval.dtype)))


def _avals(arrays: Sequence[Any]) -> Avals:
    return tuple([Aval(tuple(array.shape), np.dtype(array.dtype)) for array in arrays])


def _moving(primals: Sequence[Any], tangents: Sequence[Any]) -> Positions:
    """The positions of tangents that may differ from zero."""
    still = (ad.Zero, SymbolicZero)
    pairs = enumerate(zip(primals, tangents, strict=True))
    return tuple(
        [i for i, (primal, t) in pairs if _is_inexact(primal) and not isinstance(t, still)]
    )


def _conjugate(array: Any) -> Any:
    return jnp.conj(array) if jnp.issubdtype(array.dtype, jnp.complexfloating) else array


def _is_inexact(array: Any) -> bool:
    return bool(jnp.issubdtype(array.dtype, jnp.inexact))


def _strong(leaves: Sequence[Any]) -> Sequence[Any]:
    """The arrays, Python's floats among them in the dtype that JAX gives them beside the others."""
    weak = [jax.typeof(leaf).weak_type for leaf in leaves]
    pairs = list(zip(leaves, weak, strict=True))
    dtypes = [leaf.dtype for leaf, is_weak in pairs if _is_inexact(leaf) and not is_weak]
    if not dtypes or not any(weak):
        return leaves
    real = jnp.finfo(jnp.result_type(*dtypes)).dtype
    floats = [is_weak and jnp.issubdtype(leaf.dtype, jnp.floating) for leaf, is_weak in pairs]
    return [x.astype(real) if is_float else x for x, is_float in zip(leaves, floats, strict=True)]


def _is_array(leaf: Any) -> bool:
    return hasattr(leaf, "dtype") or isinstance(leaf, (float, complex))


def _name(f: Callable[..., Any], path: Any) -> str:
    """The name of an argument's leaf, by the function's parameters."""
    (kind, place), inside = path[:2], path[2:]
    try:
        parameters = list(inspect.signature(f).parameters)
    except (TypeError, ValueError):
        parameters = []
    outer = getattr(place, "key", None)
    if kind.idx == 0:
        outer = parameters[place.idx] if place.idx < len(parameters) else f"x{place.idx}"
    return f"{outer}{jax.tree_util.keystr(inside)}"
