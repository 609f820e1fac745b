"""``tf.gradients`` and ``tf.hessians``: derivatives of what a ``tf.function`` has computed."""

from __future__ import annotations

from typing import Any

from gradwire.tf import nest
from gradwire.tf.backprop import jacobian, vjp
from gradwire.tf.conversion import convert_to_tensor, zeros_of
from gradwire.tf.function_traces import FunctionTrace, running_trace
from gradwire.tf.gathered import Source
from gradwire.tf.nodes import Spec
from gradwire.tf.tapes import UnconnectedGradients
from gradwire.tf.variables import Variable

__all__ = ["gradients", "hessians"]


def gradients(
    ys: Any,
    xs: Any,
    grad_ys: Any = None,
    name: str = "gradients",
    gate_gradients: bool = False,
    aggregation_method: Any = None,
    stop_gradients: Any = None,
    unconnected_gradients: Any = UnconnectedGradients.NONE,
) -> list[Any]:
    """The gradient of the sum of ``ys`` in each of ``xs``, inside a ``tf.function``."""
    trace = _trace("gradients")
    zero = UnconnectedGradients(unconnected_gradients) is UnconnectedGradients.ZERO
    targets, sources = nest.flatten(ys), nest.flatten(xs)
    seeds: list[Any] = [None] * len(targets)
    if grad_ys is not None:
        given = nest.flatten(grad_ys)
        seeds = [None if seed is None else convert_to_tensor(seed) for seed in given]
    ends = [convert_to_tensor(each)._node for each in nest.flatten(stop_gradients or [])]
    nodes = [convert_to_tensor(each)._node for each in targets]
    found = vjp(trace, nodes, seeds, [_source(trace, each) for each in sources], ends)
    if zero:
        found = [
            zeros_of(each) if part is None else part
            for each, part in zip(sources, found, strict=True)
        ]
    return found


def hessians(
    ys: Any,
    xs: Any,
    gate_gradients: bool = False,
    aggregation_method: Any = None,
    name: str = "hessians",
) -> list[Any]:
    """The second derivatives of the sum of ``ys`` in each of ``xs``, inside a ``tf.function``."""
    trace = _trace("hessians")
    sources = nest.flatten(xs)
    found: list[Any] = []
    for source, first in zip(sources, gradients(ys, sources), strict=True):
        if first is None:
            found.append(None)
            continue
        found.extend(jacobian(trace, convert_to_tensor(first)._node, [_source(trace, source)]))
    return found


def _trace(what: str) -> FunctionTrace:
    trace = running_trace()
    if trace is None:
        raise RuntimeError(
            f"tf.{what} works only in a tf.function; in eager execution use tf.GradientTape"
        )
    return trace


def _source(trace: FunctionTrace, value: Any) -> Source:
    if isinstance(value, Variable):
        nodes = dict.fromkeys([*trace.reads_of(value), value._node])
        return Source(list(nodes), Spec(value.dtype, value._node.shape))
    node = convert_to_tensor(value)._node
    return Source([node], node.spec)
