"""Functions of functions: mapped over axes, with a derivative of their own, recomputed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from gradwire_engine.autodiff.reverse import pullback
from gradwire_engine.batching.retrace import BatchTrace, Retrace, reads
from gradwire_engine.errors import BadArgument, EngineError
from gradwire_engine.nesting import leaves, rebuild
from gradwire_engine.ops.arrays.indexing import GetItem
from gradwire_engine.ops.axes import axis_of
from gradwire_engine.ops.base import Cotangents
from gradwire_engine.ops.boundaries import CustomVjp, OptimizationBarrier, Rule, VmapPlaceholder
from gradwire_engine.ops.builder import Var, describe
from gradwire_engine.ops.constants import Item, StopGradient
from gradwire_engine.ops.patterns import ARRAY, complete_pattern
from gradwire_engine.record.calculus import (
    grad,
    gradients,
    hessian,
    is_function,
    jacobian,
    named_anew,
    value_and_grad,
)
from gradwire_engine.record.calculus import tangents as derivative_along
from gradwire_engine.record.recorder import Recorder
from gradwire_engine.record.scope import Transformed


def vmap(r: Recorder, f: Any, in_axes: Any = 0, out_axes: Any = 0) -> Transformed:
    """The function that gives what ``f`` gives for each part of its arguments along an axis.

    ``in_axes`` is the axis, None where all share an argument, or a list of these, one for each;
    ``out_axes`` is where the axis is in the results.  ``f`` is recorded once for all.
    """
    return Transformed(partial(_mapped, f, in_axes, out_axes))


def custom_gradient(r: Recorder, f: Any, backward: Any = None) -> Transformed:
    """``f`` with ``backward(z_bar, z, *args)`` for its derivative: a cotangent for each argument.

    Without ``backward`` the function ``f`` gives two: its value, and the function that takes the
    cotangents of the value and gives those of the arguments.  Other names are constants to ``f``.
    """
    return Transformed(partial(_with_rule, f, backward))


def _custom_vjp(r: Recorder, fun: Any) -> Transformed:
    """``fun``, whose derivative is stated by ``f.defvjp(forward, backward)``, as in JAX."""
    return Transformed(lambda r, args, named: r.apply(fun, args, named))


def define_vjp(fun: Any, forward: Any, backward: Any) -> Transformed:
    """``fun`` with the derivative of ``forward``'s pair and ``backward(residuals, z_bar)``."""
    within = False

    def paired(r: Recorder, args: Sequence[Any], named: Mapping[str, Any]) -> Any:
        nonlocal within
        within = True
        try:
            value, residuals = r.items(r.apply(forward, args, {}))
        finally:
            within = False

        def pulled(r: Recorder, bars: Sequence[Any], named: Mapping[str, Any]) -> Any:
            spread = isinstance(value, list | tuple)
            return r.apply(backward, (residuals, tuple(bars) if spread else bars[0]), {})

        return value, Transformed(pulled)

    def call(r: Recorder, args: Sequence[Any], named: Mapping[str, Any]) -> Any:
        if within:  # as it is called in ``forward``
            return r.apply(fun, args, named)
        return _with_rule(Transformed(paired), None, r, args, named)

    return Transformed(call)


def checkpoint(r: Recorder, f: Any) -> Transformed:
    """``f``, of which a derivative keeps no intermediate results, but computes them again."""
    return Transformed(partial(_recomputed, f))


def _vmap_of_torch(r: Recorder, func: Any, in_dims: Any = 0, out_dims: Any = 0) -> Transformed:
    """``vmap``, by PyTorch's names of its parameters."""
    return vmap(r, func, in_dims, out_dims)


def _vjp_of_jax(r: Recorder, fun: Any, *primals: Any) -> list[Any]:
    """``fun(*primals)``, and the function from its cotangents to a list of those of ``primals``."""
    given = named_anew(r, list(primals))
    value = r.apply(fun, given, {})

    def pulled_back(r: Recorder, args: Sequence[Any], named: Mapping[str, Any]) -> Any:
        if len(args) != 1 or named:
            raise BadArgument("what vjp gives takes the cotangents of the value, nested as it is")
        return gradients(r, value, given, args[0])

    return [value, Transformed(pulled_back)]


def _jvp_of_jax(r: Recorder, fun: Any, primals: Any, tangents: Any) -> list[Any]:
    """``fun(*primals)``, and its derivative along ``tangents``, one for each of ``primals``."""
    given = named_anew(r, list(r.iterate(primals)))
    value = r.apply(fun, given, {})
    return [value, derivative_along(r, value, given, tangents)]


def _grad_of_torch(
    r: Recorder,
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: Any = None,
    create_graph: Any = False,
    *,
    allow_unused: Any = None,
    materialize_grads: Any = False,
) -> list[Any]:
    """The gradients of ``outputs`` in each of ``inputs``, constants unless ``create_graph``.

    Zeros where no path leads.  Raises: ``bad_argument`` for outputs of several elements without
    ``grad_outputs``.
    """
    if grad_outputs is None and any(r.b.array(y).type.size != 1 for y in leaves(outputs)):
        raise BadArgument("an output of several elements needs grad_outputs", hint="y.sum()")
    found = gradients(r, outputs, inputs, grad_outputs)
    listed = list(found) if isinstance(inputs, list | tuple) else [found]
    return listed if r.truth(create_graph) else rebuild(listed, StopGradient())


def _grad_and_value(r: Recorder, func: Any, argnums: Any = 0, has_aux: Any = False) -> Transformed:
    """The function that gives the gradient of ``func``, and its value."""
    both = value_and_grad(r, func, argnums=argnums, has_aux=has_aux)

    def turned(r: Recorder, args: Sequence[Any], named: Mapping[str, Any]) -> Any:
        return tuple(r.apply(both, args, named)[::-1])

    return Transformed(turned)


def _at_inputs(transform: Callable[..., Any]) -> Callable[..., Any]:
    def functional(r: Recorder, func: Any, inputs: Any, create_graph: Any = False) -> Any:
        """The derivative of ``func`` at ``inputs``, one or several; constant by default."""
        several = isinstance(inputs, list | tuple)
        args = [*inputs] if several else [inputs]
        argnums = tuple(range(len(args))) if several else 0
        found = r.apply(transform(r, func, argnums=argnums), args, {})
        return found if r.truth(create_graph) else rebuild(found, StopGradient())

    return functional


def _itself(r: Recorder, fun: Any, **options: Any) -> Any:
    """``fun`` itself: every program is compiled."""
    return fun


def _checkpoint_of_torch(r: Recorder, function: Any, *args: Any) -> Any:
    """``checkpoint(function)(*args)``."""
    return _recomputed(function, r, args, {})


def _mapped(
    f: Any, in_axes: Any, out_axes: Any, r: Recorder, args: Sequence[Any], named: Mapping[str, Any]
) -> Any:
    nested = [list(args), dict(named)]
    axes = iter(_spread(r, [in_axes, 0], nested))
    stacks = [_in_front(r, leaf, next(axes)) for leaf in leaves(nested)]
    counts = {stack.shape[0] for stack in stacks if stack is not None}
    if len(counts) != 1:
        message = f"the axes that vmap maps have lengths {sorted(counts)}" if counts else ""
        raise BadArgument(message or "vmap needs an axis to map", hint="in_axes says which are")
    # One example is a part by an unknown index, so that what it is a part of may be a source, too.
    numbers = r.b.numbers(*counts)
    index = VmapPlaceholder()(numbers)
    found = {index: numbers}
    following = iter(stacks)

    def part(leaf: Any) -> Any:
        stack = next(following)
        if stack is None:
            return leaf
        one = GetItem(complete_pattern((ARRAY,), stack.ndim))(stack, index)
        found[one] = stack
        return one

    given, by_name = rebuild(nested, part)
    level = BatchTrace(found)
    r.concrete.levels.append(level)
    try:
        result = r.apply(f, given, by_name)
    finally:
        r.concrete.levels.pop()
    places = iter(_spread(r, out_axes, result))

    def stacked(leaf: Any) -> Any:
        every, place = level(r.b.array(leaf)), next(places)
        if place is None:
            raise BadArgument("out_axes are integers: each result is of all examples")
        return r.operation("moveaxis", every, 0, place) if place else every

    return rebuild(result, stacked)


def _spread(r: Recorder, axes: Any, nested: Any) -> list[int | None]:
    """An axis for each leaf of ``nested``: an item of ``axes`` holds for all leaves below it."""
    if isinstance(axes, list | tuple | dict):
        if not isinstance(nested, list | tuple | dict) or len(axes) != len(nested):
            raise BadArgument("axes in a list need one item for each argument or result")
        if isinstance(axes, dict):
            if not isinstance(nested, dict) or axes.keys() != nested.keys():
                raise BadArgument("axes in a dict need the members of the argument or result")
            axes = [axes[key] for key in nested]
        items = nested.values() if isinstance(nested, dict) else nested
        return [x for pair in zip(axes, items, strict=True) for x in _spread(r, *pair)]
    axis = None if axes is None else r.integer(axes)
    return [axis for _ in leaves(nested)]


def _in_front(r: Recorder, leaf: Any, axis: int | None) -> Var | None:
    """``leaf`` with the axis to map first, or None where all examples share it."""
    if axis is None:
        return None
    if not isinstance(leaf, Var) or not leaf.ndim:
        hint = "in_axes=None shares it; array([…]) makes one array of a list"
        raise BadArgument(f"vmap maps an axis of an array, got {describe(leaf)}", hint=hint)
    place = axis_of(axis, leaf.ndim, "vmap")
    moved: Var = r.operation("moveaxis", leaf, place, 0) if place else leaf
    return moved


def ruled(results: Sequence[Var], operands: Sequence[Var], rule: Rule) -> list[Var]:
    """``results`` as constants to all but ``operands``, whose cotangents ``rule`` gives."""
    if not results:
        return []
    if not results and not operands:
        return []
    fixed = [StopGradient()(x) for x in results]
    held = CustomVjp(len(fixed), rule)(*fixed, *operands)
    return [Item(i)(held) for i in range(len(fixed))]


def _with_rule(
    f: Any, backward: Any, r: Recorder, args: Sequence[Any], named: Mapping[str, Any]
) -> Any:
    if named:
        raise BadArgument("a function with a derivative of its own takes arguments by position")
    found = r.apply(f, args, {})
    if backward is None:
        if not (isinstance(found, list | tuple) and len(found) == 2 and is_function(found[1])):
            raise BadArgument(
                "the function gives no pair of its value and the function of its gradient",
                hint="return it, or give the rule as second argument",
            )
        value, backward = found
        spread = isinstance(value, list | tuple)
        rule = _rule(r, args, lambda bar: r.apply(backward, bar if spread else [bar], {}))
    else:
        value = found
        rule = _rule(r, args, lambda bar: r.apply(backward, [bar, result, *args], {}))
    value = rebuild(value, r.b.array)
    operands = [x for x in leaves(list(args)) if isinstance(x, Var)]
    items = iter(ruled(leaves(value), operands, lambda bars: rule(value, bars)))
    result = rebuild(value, lambda _: next(items))
    return result


def _rule(
    r: Recorder, args: Sequence[Any], backward: Callable[[Any], Any]
) -> Callable[[Any, Sequence[Var]], Cotangents]:
    """A call of the program's own function: cotangents are nested as what they belong to."""
    place, levels = r.program.place(r.node.at), [*r.concrete.levels]

    def rule(value: Any, bars: Sequence[Var]) -> Cotangents:
        following = iter(bars)
        before, r.concrete.levels = r.concrete.levels, levels
        try:
            found = backward(rebuild(value, lambda _: next(following)))
            if len(args) == 1 and not (isinstance(found, list | tuple) and len(found) == 1):
                found = [found]
            if not isinstance(found, list | tuple) or len(found) != len(args):
                raise BadArgument(f"the rule gives a cotangent for each of {len(args)} arguments")
            return [
                bar for x, pair in zip(args, found, strict=True) for bar in _fitting(r, x, pair)
            ]
        except EngineError as error:
            error.at = error.at or place
            raise
        finally:
            r.concrete.levels = before

    return rule


def _fitting(r: Recorder, x: Any, bar: Any) -> list[Var | None]:
    """Cotangents of the leaves of ``x``, each of its type; None where nothing flows."""
    wanted = leaves(x)
    bars = [None] * len(wanted) if bar is None else leaves(bar)
    if len(bars) != len(wanted):
        raise BadArgument(f"the rule gives {len(bars)} cotangents for {len(wanted)} values")
    return [
        None
        if one is None or not to.type.differentiable
        else r.b.broadcast(r.b.cast(r.b.array(one), to.dtype), to.shape)
        for to, one in zip(wanted, bars, strict=True)
        if isinstance(to, Var)
    ]


def _recomputed(f: Any, r: Recorder, args: Sequence[Any], named: Mapping[str, Any]) -> Any:
    if r.b.regions:  # each pass of a loop is computed again in any case
        return r.apply(f, args, named)
    start = len(r.b.vars)
    r.checkpoints += 1
    try:
        value = rebuild(r.apply(f, args, named), r.b.array)
    finally:
        r.checkpoints -= 1
    results = leaves(value)
    operands = reads(results, start) if results else []
    if not operands:
        return value

    def rule(bars: Sequence[Var]) -> Cotangents:
        again = [OptimizationBarrier(len(r.b.vars))(x) for x in operands]
        every = Retrace(dict(zip(operands, again, strict=True)))
        return pullback(r.b, [every(x) for x in results], bars, again)

    items = iter(ruled(results, operands, rule))
    return rebuild(value, lambda _: next(items))


#: Called as ``function(recorder, *args, **named)``.
TRANSFORMATIONS: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(("vmap", "jax.vmap"), vmap),
    **dict.fromkeys(("torch.vmap", "torch.func.vmap"), _vmap_of_torch),
    **dict.fromkeys(("jax.vjp", "torch.func.vjp"), _vjp_of_jax),
    **dict.fromkeys(("jax.jvp", "torch.func.jvp"), _jvp_of_jax),
    **dict.fromkeys(("jax.jit", "jit", "tf.function", "torch.compile"), _itself),
    "jax.custom_vjp": _custom_vjp,
    "torch.autograd.grad": _grad_of_torch,
    **dict.fromkeys(("torch.func.grad", "jax.grad"), grad),
    "torch.func.grad_and_value": _grad_and_value,
    "jax.value_and_grad": value_and_grad,
    **dict.fromkeys(("torch.func.hessian", "jax.hessian"), hessian),
    **dict.fromkeys(
        [f"{of}.{name}" for of in ("jax", "torch.func") for name in ("jacrev", "jacfwd")],
        jacobian,
    ),
    "torch.autograd.functional.jacobian": _at_inputs(jacobian),
    "torch.autograd.functional.hessian": _at_inputs(hessian),
    **dict.fromkeys(("custom_gradient", "tf.custom_gradient"), custom_gradient),
    **dict.fromkeys(("checkpoint", "jax.checkpoint", "jax.remat", "tf.recompute_grad"), checkpoint),
    "torch.utils.checkpoint.checkpoint": _checkpoint_of_torch,
}
