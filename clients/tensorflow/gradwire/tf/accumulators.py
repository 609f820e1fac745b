"""``tf.autodiff.ForwardAccumulator``: derivatives along tangents, in forward mode."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self

import numpy as np

from gradwire.frontends import Term
from gradwire.tf import nest
from gradwire.tf.conversion import convert_to_tensor, tensor_of, zeros_of
from gradwire.tf.fetching import along, ask, fetch, named, separated, write_with_variables
from gradwire.tf.nodes import Recorder, Spec, TensorNode, active, only, record
from gradwire.tf.recordings import CustomGradient, Subgraph, TapeRecording
from gradwire.tf.remote import Query
from gradwire.tf.steps import again
from gradwire.tf.tapes import UnconnectedGradients
from gradwire.tf.tensors import Tensor
from gradwire.tf.variables import Variable

log: logging.Logger = logging.getLogger("gradwire.tf")


class _Accumulated(TapeRecording):
    """A recording that knows who else recorded each operation: they see its tangent come about."""

    def __init__(self) -> None:
        super().__init__(watches_reads=False)
        self.under: dict[Term, tuple[Recorder, ...]] = {}
        #: The tangent of each value that is watched.
        self.tangents: dict[TensorNode, Tensor] = {}
        self.of_variables: dict[int, Tensor] = {}

    def add(self, node: TensorNode, custom_gradient: CustomGradient | None = None) -> None:
        """Record an operation."""
        super().add(node, custom_gradient)
        if node not in self.under:
            self.under[node] = tuple(self._outer())

    def note_custom_gradient(self, custom_gradient: CustomGradient) -> None:
        """A gradient of the user's own is for reverse mode: tangents go with what was computed."""
        for node in custom_gradient.outputs:
            self.note(node)

    def note_read(self, variable: Any, node: TensorNode) -> None:
        """Watch a variable's value where it is read."""
        super().note_read(variable, node)
        if id(variable) in self.of_variables:
            self.tangents[node] = self.of_variables[id(variable)]

    def _outer(self) -> list[Recorder]:
        """The recorders that were entered before this one."""
        stack = active()
        own = next((i for i, each in enumerate(stack) if each is self), len(stack))
        return stack[:own]


class ForwardAccumulator:
    """Computes derivatives along ``tangents`` of what is computed of ``primals`` in its context.

    >>> x = tf.constant([1.0, 2.0])
    >>> with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 0.0])) as acc:
    ...     y = x**3
    >>> acc.jvp(y)
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([3., 0.], dtype=float32)>
    """

    def __init__(self, primals: Any, tangents: Any) -> None:
        self._recording: _Accumulated = _Accumulated()
        self._is_recording: bool = False
        flat = nest.flatten(primals)
        if len({id(primal) for primal in flat}) < len(flat):
            raise ValueError(
                "`primals` holds the same tensor twice; pass it once, with the sum of its tangents"
            )
        nest.map_structure(self._watch, primals, tangents)

    def _watch(self, primal: Any, tangent: Any) -> None:
        dtype = primal._dtype()
        if not dtype.is_floating:
            log.warning("a primal needs a floating dtype, such as tf.float32; got %r", dtype)
        along_it = convert_to_tensor(tangent, dtype)
        of = convert_to_tensor(primal)
        if along_it._lengths() != of._lengths():
            raise ValueError(
                f"a primal of shape {of.shape} needs a tangent of the same shape, got "
                f"{along_it.shape}"
            )
        if not dtype.is_differentiable:
            return
        if isinstance(primal, Variable):
            self._recording.watch_variable(primal)
            self._recording.of_variables[id(primal)] = along_it
            self._recording.tangents[primal._node] = along_it
        else:
            self._recording.watch(of._node)
            self._recording.tangents[of._node] = along_it

    def __enter__(self) -> Self:
        if self._is_recording:
            raise ValueError("Accumulator is already recording.")
        active().append(self._recording)
        self._is_recording = True
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if not self._is_recording:
            raise ValueError("Accumulator is not recording.")
        stack = active()
        stack[:] = [each for each in stack if each is not self._recording]
        self._is_recording = False

    def jvp(self, primals: Any, unconnected_gradients: Any = UnconnectedGradients.NONE) -> Any:
        """The derivative of each value along the tangents."""
        zero = UnconnectedGradients(unconnected_gradients) is UnconnectedGradients.ZERO

        def along_tangents(value: Any) -> Tensor | None:
            of = value._node if isinstance(value, Variable) else convert_to_tensor(value)._node
            found = self._pushed(of) if value._dtype().is_differentiable else None
            if found is None and zero:
                return zeros_of(value)
            return found

        return nest.map_structure(along_tangents, primals)

    def _pushed(self, target: TensorNode) -> Tensor | None:
        recording = self._recording
        if target in recording.tangents:
            return recording.tangents[target]
        if target not in recording.recorded:
            return None
        with only(*recording.under.get(target, ())):
            return self._derived(target)

    def _derived(self, target: TensorNode) -> Tensor | None:
        tangents = self._recording.tangents
        subgraph = Subgraph(self._recording, [target])
        starts = [
            node for node in subgraph.order if isinstance(node, TensorNode) and node in tangents
        ]
        subgraph.make(starts)
        of = subgraph.of(target)
        pairs = [
            (clone, tangents[node]) for node in starts if (clone := subgraph.of(node)) is not None
        ]
        if of is None or not pairs:
            return None
        return _tangent(target, of, pairs)


@again(effect=False, derives=True)
def _tangent(
    target: TensorNode, of: TensorNode, pairs: Sequence[tuple[TensorNode, Tensor]]
) -> Tensor | None:
    value = _request(target, of, pairs)
    if value is None:
        return None
    if not active():
        return tensor_of(value, target.dtype)
    node = record(_term(of, pairs, Spec(target.dtype, np.shape(value))))
    node.settle(value)
    return Tensor(node)


def _request(target: TensorNode, of: TensorNode, pairs: Sequence[tuple[TensorNode, Tensor]]) -> Any:
    fetch([tangent._node for _, tangent in pairs])
    written = write_with_variables([of, *(clone for clone, _ in pairs)])
    local, remote = separated(along(written))
    options = {
        "tangents": {written.names[clone]: tangent._value() for clone, tangent in pairs},
        "target": written.names[of],
        "outputs": named(written, local, remote),
        "promotion": "strict",
    }
    query = Query("jvp", written.text, options, ["outputs.1"] if remote else [])
    answer, values = ask(written, query)
    for node, value in zip([*local, *remote], [*answer.outputs[0], *values], strict=True):
        node.settle(value)
    of.settle(answer.value)
    if target.value is None:
        target.settle(answer.value)
    return answer.jvp


def _term(of: TensorNode, pairs: Sequence[tuple[TensorNode, Tensor]], spec: Spec) -> TensorNode:
    sources, tangents = [clone for clone, _ in pairs], [tangent._node for _, tangent in pairs]
    return TensorNode("jvp", (of, sources, tangents), spec=spec)
