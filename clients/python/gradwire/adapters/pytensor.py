"""PyTensor, and so PyMC: functions that a service evaluates, as Ops of its graphs.

>>> density = gradwire.adapters.pytensor.function(log_density)
>>> with pm.Model():
...     slope, scale = pm.Normal("slope"), pm.HalfNormal("scale")
...     pm.Potential("y", density({"slope": slope, "scale": scale}, x, y))
...     pm.sample(cores=1)

What gives one number gives its gradient by the same node, so both are one request. What of it a
compiled function does not need is not asked for.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradwire.adapters.requirements import blocking_client, needs
from gradwire.adapters.routines import Avals, Nested, Positions, Routine
from gradwire.tracing.arguments import leaf_names
from gradwire.tracing.functions import Runs
from gradwire.tracing.shapes import Aval
from gradwire.tracing.structures import flatten, is_array_like, unflatten

with needs("pytensor"):
    import pytensor.tensor as pt
    from pytensor.gradient import DisconnectedType, grad_undefined
    from pytensor.graph.basic import Apply, Variable
    from pytensor.graph.op import Op
    from pytensor.graph.replace import _vectorize_node
    from pytensor.graph.rewriting.basic import node_rewriter
    from pytensor.tensor.rewriting.basic import register_specialize

#: Lengths for unknown ones in a type.
UNKNOWN_LENGTHS = (2, 3)


def function(f: Callable[..., Any], *, client: Runs | None = None) -> Callable[..., Any]:
    """A Python function, or one of Gradwire's, as a function of nested variables of PyTensor.

    Its results' types are inferred from those of its arguments, by NumPy's rules or, where these do
    not suffice, by the service. If a length that this needs is unknown, the result is assumed to be
    one number: specify it with ``pt.specify_shape``.
    """
    own = blocking_client(f, client)
    kinds: dict[Any, Nested] = {}

    @functools.wraps(f)
    def called(*args: Any, **kwargs: Any) -> Any:
        leaves, structure = flatten((args, kwargs), _is_leaf)
        variables = [pt.as_tensor(leaf) for leaf in leaves]
        unknown = any(None in variable.type.shape for variable in variables)
        nested = kinds.get((structure, unknown))
        if nested is None:
            nested = kinds[structure, unknown] = Nested(
                f,
                own,
                lambda leaves: unflatten(structure, iter(leaves)),
                leaf_names(f, structure),
                number=unknown,
            )
        types = _types(nested.routine, variables)
        routine = nested.routine
        if [shape for shape, _ in types] == [()] and types[0][1].kind == "f":
            results = [_GradientOp(routine, _inexact(variables))(*variables)[0]]
        else:
            results = _RoutineOp(routine)(*variables, return_list=True)
        known = _avals(variables, UNKNOWN_LENGTHS[0])
        return unflatten(nested.structure(known), iter(results))

    return called


class _RoutineOp(Op):  # type: ignore[misc]
    """A routine's results for tensors."""

    __props__ = ("routine",)

    def __init__(
        self, routine: Routine, fewer: Callable[[Positions], _RoutineOp] | None = None
    ) -> None:
        self.routine: Routine = routine
        #: The same with some of its results only, where that is less work.
        self.fewer: Callable[[Positions], _RoutineOp] | None = fewer

    def make_node(self, *inputs: Any) -> Any:
        given = [pt.as_tensor(each) for each in inputs]
        types = _types(self.routine, given)
        return Apply(self, given, [pt.tensor(shape=shape, dtype=kind) for shape, kind in types])

    def perform(self, node: Any, inputs: Sequence[Any], output_storage: Any) -> None:
        results = zip(self.routine(*inputs), node.outputs, output_storage, strict=True)
        for result, output, storage in results:
            if result.ndim != output.type.ndim:
                raise TypeError(
                    f"the function gives an array of shape {result.shape}, but was taken to give "
                    "one number, since lengths of its arguments are unknown: specify them "
                    "with pt.specify_shape"
                )
            storage[0] = np.asarray(result, output.type.dtype)

    def pullback(
        self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]
    ) -> list[Any]:
        sources, targets = _inexact(inputs), _connected(cotangents)
        pulled = _pulled(self.routine, sources, targets)
        gradients = iter(pulled(*inputs, *[cotangents[i] for i in targets], return_list=True))
        return [
            next(gradients) if i in sources else grad_undefined(self, i, each)
            for i, each in enumerate(inputs)
        ]

    def pushforward(
        self, inputs: Sequence[Any], outputs: Sequence[Any], tangents: Sequence[Any]
    ) -> list[Any]:
        moving, targets = _connected(tangents), _inexact(outputs)
        pushed = _RoutineOp(self.routine.pushed(moving, targets))
        along = iter(pushed(*inputs, *[tangents[i] for i in moving], return_list=True))
        return [next(along) if i in targets else DisconnectedType()() for i in range(len(outputs))]

    # Their names before PyTensor 3.

    L_op = pullback

    def R_op(self, inputs: Sequence[Any], eval_points: Sequence[Any]) -> list[Any]:  # noqa: N802
        return self.pushforward(inputs, self(*inputs, return_list=True), eval_points)


class _GradientOp(_RoutineOp):
    """A number, and its gradients in inputs."""

    def __init__(self, number: Routine, sources: Positions) -> None:
        super().__init__(number.with_gradient(sources), self._with_fewer)
        #: The Op of the number alone.
        self.number: Routine = number
        self._sources = sources

    def _with_fewer(self, kept: Positions) -> _RoutineOp:
        left = tuple([self._sources[i - 1] for i in kept if i])
        return _GradientOp(self.number, left) if left else _RoutineOp(self.number)

    def pullback(
        self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]
    ) -> list[Any]:
        rest = [DisconnectedType()(), *cotangents[1:]]
        found = [grad_undefined(self, i, each) for i, each in enumerate(inputs)]
        if _connected(rest):  # second derivatives
            found = super().pullback(inputs, outputs, rest)
        if not isinstance(cotangents[0].type, DisconnectedType):
            for i, gradient in zip(self._sources, outputs[1:], strict=True):
                weighted = cotangents[0] * gradient
                found[i] = found[i] + weighted if _connected(rest) else weighted
        return found

    L_op = pullback


def _pulled(routine: Routine, sources: Positions, targets: Positions) -> _RoutineOp:
    def fewer(kept: Positions) -> _RoutineOp:
        return _RoutineOp(routine.pulled(tuple([sources[i] for i in kept]), targets))

    return _RoutineOp(routine.pulled(sources, targets), fewer)


def _fewer(fgraph: Any, node: Any) -> Any:
    """Request only the results that are used."""
    op = node.op
    used = tuple([i for i, output in enumerate(node.outputs) if fgraph.clients[output]])
    if op.fewer is None or len(used) == len(node.outputs):
        return None
    if isinstance(op, _GradientOp):
        used = tuple(sorted({0, *used}))
    if len(used) == len(node.outputs):
        return None
    results = op.fewer(used)(*node.inputs, return_list=True)
    return {node.outputs[i]: result for i, result in zip(used, results, strict=True)}


def _vectorized(op: _RoutineOp, node: Any, *batched: Any) -> Any:
    """One request for a whole batch, along axes before the others."""
    pairs = zip(batched, node.inputs, strict=True)
    extra = [each.type.ndim - alone.type.ndim for each, alone in pairs]
    routine = op.routine
    for level in range(max(extra)):
        routine = routine.mapped(tuple([0 if count > level else None for count in extra]))
    if any(
        each.type.shape[i] == 1
        for each, count in zip(batched, extra, strict=True)
        for i in range(count)
    ):
        fallback: Callable[..., Any] = _vectorize_node.dispatch(Op)
        return fallback(op, node, *batched)  # axes of one that others stretch
    return _RoutineOp(routine).make_node(*batched)


register_specialize(
    node_rewriter([_RoutineOp, _GradientOp])(_fewer), name="gradwire_asks_for_what_is_used"
)
_vectorize_node.register(_RoutineOp)(_vectorized)


def _types(routine: Routine, variables: Sequence[Any]) -> list[tuple[Any, np.dtype[Any]]]:
    """Shapes and dtypes of results; ``None`` for lengths that the arguments' types lack."""
    known = routine.types(_avals(variables, UNKNOWN_LENGTHS[0]))
    if all(None not in variable.type.shape for variable in variables):
        return [(aval.shape, aval.dtype) for aval in known]
    pairs = zip(known, routine.types(_avals(variables, UNKNOWN_LENGTHS[1])), strict=True)
    return [(tuple(map(_agreed, one.shape, other.shape)), one.dtype) for one, other in pairs]


def _agreed(one: int, other: int) -> int | None:
    return one if one == other else None


def _avals(variables: Sequence[Any], unknown: int) -> Avals:
    return tuple(
        [
            Aval(
                tuple([unknown if length is None else length for length in each.type.shape]),
                np.dtype(each.type.dtype),
            )
            for each in variables
        ]
    )


def _inexact(variables: Sequence[Any]) -> Positions:
    return tuple([i for i, each in enumerate(variables) if each.type.dtype.startswith("float")])


def _connected(variables: Sequence[Any]) -> Positions:
    return tuple(
        [
            i
            for i, each in enumerate(variables)
            if each is not None and not isinstance(each.type, DisconnectedType)
        ]
    )


def _is_leaf(value: Any) -> bool:
    return isinstance(value, Variable) or is_array_like(value)
