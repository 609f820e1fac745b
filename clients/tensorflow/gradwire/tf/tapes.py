"""``tf.GradientTape``: what is computed on watched values is recorded, and differentiated."""

from __future__ import annotations

import enum
import functools
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

import numpy as np

from gradwire.tf import nest
from gradwire.tf.backprop import jacobian, vjp
from gradwire.tf.calls import call
from gradwire.tf.checks import broadcast, mismatch
from gradwire.tf.conversion import convert_to_tensor, filled, zeros_of
from gradwire.tf.errors import invalid
from gradwire.tf.gathered import Source
from gradwire.tf.nodes import Spec, TensorNode, active
from gradwire.tf.recordings import TapeRecording
from gradwire.tf.tensors import Operand, Tensor
from gradwire.tf.variables import Variable

__all__ = ["GradientTape", "UnconnectedGradients"]

log: logging.Logger = logging.getLogger("gradwire.tf")

USED_UP: str = (
    "this tape has been used, and its recording is gone; create it with persistent=True to use it "
    "more than once"
)
NOT_PERSISTENT: str = "{}() with experimental_use_pfor=False needs a tape with persistent=True"
INSIDE: str = (
    "gradient() was called within the context of its persistent tape, which records the "
    "gradient's operations too. Unless you need higher derivatives, call it after the context: "
    "that takes less time and memory."
)


class UnconnectedGradients(enum.Enum):
    """The gradient in a source that the target does not depend on."""

    NONE = "none"
    ZERO = "zero"


class GradientTape:
    """Records what is computed on watched values within its context, and differentiates it.

    Trainable variables are watched where they are read, unless ``watch_accessed_variables`` is
    false; tensors are ``watch``ed. It answers once, unless it is ``persistent``.

    >>> x = tf.Variable(3.0)
    >>> with tf.GradientTape() as tape:
    ...     y = x**2
    >>> tape.gradient(y, x)
    <tf.Tensor: shape=(), dtype=float32, numpy=6.0>
    """

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        self._persistent: bool = persistent
        self._watches_reads: bool = watch_accessed_variables
        self._recording: TapeRecording | None = None
        self._is_recording: bool = False
        self._watched: tuple[Any, ...] = ()

    def __enter__(self) -> Self:
        self._push()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._is_recording:
            self._pop()

    def _push(self) -> None:
        if self._is_recording:
            raise ValueError(
                "this tape is recording already; leave its context before you enter it again"
            )
        if self._recording is None:
            self._recording = TapeRecording(watches_reads=self._watches_reads)
        active().append(self._recording)
        self._is_recording = True

    def _pop(self) -> None:
        if not self._is_recording:
            raise ValueError("Tape is not recording.")
        stack = active()
        stack[:] = [recorder for recorder in stack if recorder is not self._recording]
        self._is_recording = False

    def watch(self, tensor: Any) -> None:
        """Record from now on what is computed of tensors or variables, nested or not."""
        for each in nest.flatten(tensor, expand_composites=True):
            if not isinstance(each, Operand):
                raise ValueError(
                    f"watch() takes tensors and variables, got {each} of type "
                    f"{type(each).__name__!r}"
                )
            if not each._dtype().is_differentiable:
                _warn_of_dtype(each)
            if self._recording is None:
                raise AttributeError("'NoneType' object has no attribute '_tape'")
            if isinstance(each, Variable):
                self._recording.watch_variable(each)
            else:
                self._recording.watch(convert_to_tensor(each)._node)
        for each in nest.flatten(tensor):
            for splits in getattr(each, "nested_row_splits", ()):
                _warn_of_dtype(splits)

    @contextmanager
    def stop_recording(self) -> Iterator[None]:
        """A context in which this tape records nothing."""
        if self._recording is None:
            raise RuntimeError("stop_recording() needs a tape that is recording")
        self._pop()
        try:
            yield
        finally:
            self._push()

    def reset(self) -> None:
        """Forget all that was recorded and watched, and go on."""
        self._pop()
        self._recording = None
        self._push()

    def watched_variables(self) -> tuple[Any, ...]:
        """The variables that are watched, in the order in which they were made."""
        if self._recording is not None:
            self._watched = self._recording.variables()
        return self._watched

    def gradient(
        self,
        target: Any,
        sources: Any,
        output_gradients: Any = None,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
    ) -> Any:
        """The gradient of the sum of targets in each source, nested as the sources are."""
        recording = self._begin()
        if self._is_recording:
            if self._persistent:
                _warn_of_gradients_inside()
            else:
                self._pop()
        if target is None:
            raise TypeError("`target` is None; pass the tensors to differentiate")
        zero = _is_zero(unconnected_gradients)
        _check_whole([target, sources])
        targets = nest.flatten(target, expand_composites=True)
        _check_tensors(targets, "target")
        wanted = nest.flatten(sources)
        flat = nest.flatten(sources, expand_composites=True)
        _check_tensors(flat, "source")
        seeds = _seeds(output_gradients, targets)
        pairs = [
            (self._node_of(each), seed)
            for each, seed in map(_with_gradient, targets, seeds)
            if each is not None
        ]
        nodes, weights = [node for node, _ in pairs], [seed for _, seed in pairs]
        found = self._found(
            recording, flat, lambda asked: vjp(recording, nodes, weights, asked) if pairs else []
        )
        found = [
            _of_itself(each, targets) if part is None else part
            for each, part in zip(flat, found, strict=True)
        ]
        if not self._persistent:
            self._end()
        if zero:
            found = _or_zeros(found, flat)
        return nest.pack_sequence_as(sources, _composed(wanted, found))

    def _found(
        self,
        recording: TapeRecording,
        flat: list[Any],
        derivatives: Callable[[list[Source]], list[Any]],
    ) -> list[Any]:
        """The derivatives in those sources that may have some, None in all others."""
        fit = [each._dtype().is_differentiable for each in flat]
        asked = [self._source(recording, each) for each, ok in zip(flat, fit, strict=True) if ok]
        parts = iter(derivatives(asked) if asked else ())
        return [next(parts, None) if ok else None for ok in fit]

    def jacobian(
        self,
        target: Any,
        sources: Any,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """The derivative of each element of a target in each element of the sources."""
        recording = self._begin()
        if not (self._persistent or experimental_use_pfor):
            raise RuntimeError(NOT_PERSISTENT.format("jacobian"))
        zero = _is_zero(unconnected_gradients)
        _check_whole(sources)
        _check_tensors([target], "target")
        if self._is_recording and not self._persistent:
            self._pop()
        flat = nest.flatten(sources, expand_composites=True)
        found: list[Any] = [None] * len(flat)
        if target._dtype().is_differentiable:
            node = self._node_of(target)
            found = self._found(recording, flat, lambda asked: jacobian(recording, node, asked))
        if zero:
            found = _or_zeros(found, flat, convert_to_tensor(target)._lengths())
        if not self._persistent:
            self._end()
        return nest.pack_sequence_as(sources, _composed(nest.flatten(sources), found))

    def batch_jacobian(
        self,
        target: Any,
        source: Any,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """The Jacobians of the rows of a target in the same rows of a source."""
        del unconnected_gradients  # TensorFlow gives zeros in either case
        recording = self._begin()
        if not (self._persistent or experimental_use_pfor):
            raise RuntimeError(NOT_PERSISTENT.format("batch_jacobian"))
        _check_tensors([target], "target")
        _check_tensors([source], "source")
        before, inside = convert_to_tensor(target)._lengths(), convert_to_tensor(source)._lengths()
        if len(before) < 2 or len(inside) < 2 or before[0] != inside[0]:
            raise ValueError(
                f"Need first dimension of target shape ({convert_to_tensor(target).shape}) and "
                f"source shape ({convert_to_tensor(source).shape}) to match."
            )
        if self._is_recording and not self._persistent:
            self._pop()
        active().append(recording)
        try:
            summed = call(
                "np.sum",
                convert_to_tensor(target),
                axis=0,
                spec=Spec(target._dtype(), before[1:]),
            )
        finally:
            active().remove(recording)
        (found,) = jacobian(recording, summed._node, [self._source(recording, source)])
        if not self._persistent:
            self._end()
        shape = (before[0], *before[1:], *inside[1:])
        if found is None:
            return filled(shape, 0, target._dtype())
        axis = len(before) - 1
        order = (axis, *(i for i in range(axis + len(inside)) if i != axis))
        return call("np.transpose", found, order, spec=Spec(found.dtype, shape))

    def _begin(self) -> TapeRecording:
        if self._recording is None:
            raise RuntimeError(USED_UP)
        return self._recording

    def _end(self) -> None:
        if self._recording is not None:
            self._watched = self._recording.variables()
            if not self._is_recording:
                self._recording.release()
        self._recording = None

    def _node_of(self, target: Any) -> TensorNode:
        return target._node if isinstance(target, Variable) else convert_to_tensor(target)._node

    def _source(self, recording: TapeRecording, source: Any) -> Source:
        if isinstance(source, Variable):
            nodes = dict.fromkeys([*recording.reads_of(source), source._node])
            return Source(list(nodes), Spec(source.dtype, source._node.shape), variable=source)
        tensor = convert_to_tensor(source)
        return Source([tensor._node], Spec(tensor.dtype, tensor._node.shape))


def _warn_of_dtype(watched: Any) -> None:
    text = "The dtype of the watched tensor must be floating (e.g. tf.float32), got %r"
    log.warning(text, watched.dtype)


class NotATensor(TypeError, AttributeError):  # TensorFlow raises either, by what was given
    """An argument is neither a tensor nor a variable."""


def _check_tensors(values: Sequence[Any], what: str) -> None:
    for value in values:
        if not isinstance(value, Operand):
            raise NotATensor(
                f"a {what} must be a tensor or a variable, not {value!r} of type "
                f"{type(value).__name__!r}"
            )


def _check_whole(structure: Any) -> None:
    """Refuse what has gradients in its parts alone."""
    for value in nest.flatten(structure):
        if hasattr(value, "_refuse_gradient"):
            value._refuse_gradient()


def _seeds(output_gradients: Any, targets: Sequence[Any]) -> list[Tensor | None]:
    """A seed for each target, ones where there are too few; those too many are ignored."""
    if output_gradients is None:
        return [None] * len(targets)
    seeds: list[Tensor | None] = [None] * len(targets)
    given = nest.flatten(output_gradients, expand_composites=True)
    for i, (seed, target) in enumerate(zip(given, targets, strict=False)):
        dtype = target._dtype()
        own = isinstance(seed, (Operand, np.ndarray, np.generic))
        tensor = convert_to_tensor(seed, None if own else dtype)
        if tensor.dtype != dtype:
            raise mismatch("Mul", tensor.dtype, dtype)
        seeds[i] = _broadcast(tensor, convert_to_tensor(target)._lengths())
    return seeds


def _broadcast(seed: Tensor, lengths: tuple[int, ...]) -> Tensor:
    """A seed in its target's shape."""
    if seed._lengths() == lengths:
        return seed
    if broadcast("Mul", seed._lengths(), lengths) != lengths:
        raise invalid(
            f"an output gradient of shape {list(seed._lengths())} does not fit a target of shape "
            f"{list(lengths)}"
        )
    return call("np.broadcast_to", seed, lengths, spec=Spec(seed.dtype, lengths))


def _is_zero(option: Any) -> bool:
    try:
        return UnconnectedGradients(option) is UnconnectedGradients.ZERO
    except ValueError:
        raise ValueError(f"Unknown value for unconnected_gradients: {option!r}") from None


def _or_zeros(found: list[Any], sources: list[Any], before: tuple[int, ...] = ()) -> list[Any]:
    """Derivatives, zeros in place of None; ``before`` are the lengths of a Jacobian's target."""
    pairs = zip(sources, found, strict=True)
    return [zeros_of(source, before) if part is None else part for source, part in pairs]


def _of_itself(source: Any, targets: list[Any]) -> Tensor | None:
    """Ones where a source that has no derivative is a target itself, as often as it is one."""
    times = sum(each is source for each in targets)
    dtype = source._dtype()
    if not times or dtype.is_differentiable or dtype.name == "string":
        return None
    return filled(convert_to_tensor(source)._lengths(), times, dtype)


def _composed(sources: list[Any], parts: list[Any]) -> list[Any]:
    """Gradients of tensors in parts, put together like the sources."""
    rest = iter(parts)
    found: list[Any] = []
    for source in sources:
        if isinstance(source, Operand) or not hasattr(source, "_components"):
            found.append(next(rest))
            continue
        of = [next(rest) for _ in source._components()]
        made = source._gradient(of) if hasattr(source, "_gradient") else source._with_components(of)
        found.append(made)
    return found


@functools.cache
def _warn_of_gradients_inside() -> None:
    """Log the warning once in a process, as TensorFlow does."""
    log.warning(INSIDE)


def _with_gradient(target: Any, seed: Any) -> tuple[Any, Any]:
    """A target and its seed; of integers, the tensor beside them with zeros, or None."""
    if target._dtype().is_differentiable:
        return target, seed
    beside = getattr(target, "_beside", None)
    return beside, None if beside is None else zeros_of(beside)
