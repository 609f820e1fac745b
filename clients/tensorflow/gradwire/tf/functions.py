"""``tf.function``: functions run as they are, with what TensorFlow allows inside of them."""

from __future__ import annotations

import functools
import inspect
import threading
import types
import weakref
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from gradwire.tf import nest
from gradwire.tf.conversion import convert_to_tensor
from gradwire.tf.nodes import TensorNode, active, paused
from gradwire.tf.recordings import CustomGradient, TapeRecording
from gradwire.tf.seeds import SEEDS, Draws
from gradwire.tf.specs import TensorSpec
from gradwire.tf.tensors import METHODS, Operand, Tensor
from gradwire.tf.variables import Variable
from gradwire.tracing.terms import Term

__all__ = [
    "executing_eagerly",
    "function",
    "init_scope",
    "inside_function",
]


class _Everything(set[Term]):
    """The known terms of a function's own recording: all."""

    def __contains__(self, term: object) -> bool:
        return True


class FunctionTrace(TapeRecording):
    """Records all that a function computes, so that ``tf.gradients`` may be asked of it."""

    def __init__(self) -> None:
        super().__init__()
        self.known: set[Term] = _Everything()
        #: The variables that were made, for as long as they live.
        self.made: list[weakref.ref[Any]] = []
        #: Tensors and variables named in branches that tensors decided upon, taken or not.
        self.branches: list[Operand] = []
        #: The loops over tensors: files, and their first and last lines.
        self.loops: set[tuple[str, int, int]] = set()

    def note_made(self, variable: Any) -> None:
        """Note that a variable was made."""
        self.made.append(weakref.ref(variable))

    def note(self, node: TensorNode) -> None:
        """Record an operation."""
        self.add(node)

    def note_custom_gradient(self, custom_gradient: CustomGradient) -> None:
        """Record an operation with a gradient of the user's own."""
        for node in custom_gradient.outputs:
            self.add(node, custom_gradient)

    def note_read(self, variable: Any, node: TensorNode) -> None:
        """Note what a variable was read as."""
        self.watch_variable(variable)
        super().note_read(variable, node)


class _ActiveTraces(threading.local):
    def __init__(self) -> None:
        self.traces: list[FunctionTrace] = []


_running = _ActiveTraces()
#: The setting of ``tf.config.run_functions_eagerly``.
_settings = {"eagerly": False}


class PolymorphicFunction:
    """A function as ``tf.function`` gives it."""

    def __init__(
        self,
        python_function: Callable[..., Any],
        input_signature: Sequence[Any] | None = None,
        jit_compile: bool = False,
    ) -> None:
        functools.update_wrapper(self, python_function)
        self._function: Callable[..., Any] = python_function
        self._signature: Sequence[Any] | None = input_signature
        self._compiled: bool = jit_compile
        self._calls: int = 0
        #: The draws of its random operations, by the signatures of arguments.
        self._draws: dict[Hashable, Draws] = {}
        self._instance: int = 0

    @property
    def python_function(self) -> Callable[..., Any]:
        """The function itself."""
        return self._function

    @property
    def input_signature(self) -> Sequence[Any] | None:
        """The specs that arguments must match."""
        return self._signature

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._signature is not None:
            args = _fitted(self._signature, args)
        self._calls += 1
        if _settings["eagerly"]:
            return self._function(*args, **kwargs)
        trace = FunctionTrace()
        stack = active()
        stack.append(trace)
        _running.traces.append(trace)
        try:
            given = nest.map_structure(_as_argument, args)
            trace_of = (self._instance, _signature(given, kwargs))
            with SEEDS.function(self._draws, trace_of, self._compiled):
                result = self._function(*given, **kwargs)
            if len(stack) > 1 or len(_running.traces) > 1:
                result = METHODS["outputs"](trace, nest.map_structure(_as_result, result))
        finally:
            stack[:] = [each for each in stack if each is not trace]
            _running.traces.remove(trace)
            trace.release()
        if trace.made and (self._calls > 1 or any(made() is None for made in trace.made)):
            raise ValueError(
                "a tf.function may create variables only in its first call, and must keep them; "
                "create them outside of it"
            )
        return nest.map_structure(_as_result, result)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        method = types.MethodType(self._function, instance)
        bound = PolymorphicFunction(method, self._signature, self._compiled)
        bound._calls = self._calls
        bound._draws, bound._instance = self._draws, id(instance)
        return bound

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> PolymorphicFunction:
        """The same, which is one function for all tensors, with what else was given bound."""
        named = inspect.signature(self._function)
        try:
            given = named.bind_partial(*args, **kwargs).arguments
        except TypeError:
            return self
        bound = {
            name: value
            for name, value in given.items()
            if isinstance(value, (bool, int, float, str))
            and named.parameters[name].kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
        }
        if not bound:
            return self
        partial = functools.partial(self._function, **bound)
        return PolymorphicFunction(partial, self._signature, self._compiled)

    def experimental_get_tracing_count(self) -> int:
        """The number of first runs: one, or none."""
        return min(self._calls, 1)


def function(
    func: Callable[..., Any] | None = None,
    input_signature: Sequence[Any] | None = None,
    autograph: bool = True,
    jit_compile: bool | None = None,
    reduce_retracing: bool = False,
    experimental_implements: str | None = None,
    experimental_autograph_options: Any = None,
    experimental_attributes: Any = None,
    experimental_relax_shapes: bool | None = None,
    experimental_compile: bool | None = None,
    experimental_follow_type_hints: bool | None = None,
) -> Any:
    """The function as it is: what it computes is compiled by the service anyway.

    With ``jit_compile=True`` it must draw no random numbers, which would be other ones.
    """
    compiled = bool(experimental_compile if jit_compile is None else jit_compile)
    if func is None:
        return functools.partial(function, input_signature=input_signature, jit_compile=compiled)
    return PolymorphicFunction(func, input_signature, compiled)


def _signature(args: Any, kwargs: Any) -> Hashable:
    """A key of arguments, the same for those that TensorFlow traces once."""
    parts: list[Hashable] = []
    for part in nest.flatten([args, kwargs]):
        if isinstance(part, Variable):
            parts.append(id(part))
        elif isinstance(part, Tensor):
            parts.append((part.dtype.name, part._node.shape))
        else:
            parts.append(part if isinstance(part, Hashable) else id(part))
    return tuple(parts)


def executing_eagerly() -> bool:
    """True if no ``tf.function`` is being run."""
    return not _running.traces


def running_trace() -> FunctionTrace | None:
    """The recording of the innermost ``tf.function`` that is being run."""
    return _running.traces[-1] if _running.traces else None


def inside_function() -> bool:
    """True if a ``tf.function`` is being run."""
    return bool(_running.traces)


class init_scope:  # noqa: N801 - TensorFlow's name
    """A context outside of all functions and tapes."""

    def __enter__(self) -> None:
        self._traces: list[FunctionTrace] = _running.traces
        _running.traces = []
        self._paused: Any = paused()
        self._paused.__enter__()

    def __exit__(self, *error: object) -> None:
        self._paused.__exit__(*error)
        _running.traces = self._traces


def run_functions_eagerly(run_eagerly: bool) -> None:
    """Run functions without letting them ask ``tf.gradients``, as plain ones."""
    _settings["eagerly"] = bool(run_eagerly)


def functions_run_eagerly() -> bool:
    """The setting of ``run_functions_eagerly``."""
    return _settings["eagerly"]


def _as_argument(value: Any) -> Any:
    """Arrays are tensors inside of a function; numbers stay what they are."""
    if isinstance(value, (np.ndarray, np.generic)):
        return convert_to_tensor(value)
    return _passed(value)


def _as_result(value: Any) -> Any:
    if isinstance(value, (bool, int, float, complex, np.ndarray, np.generic, Variable)):
        return convert_to_tensor(value)
    return _passed(value)


def _passed(value: Any) -> Any:
    """A tensor on the other side of a function's border: an operation's output no longer."""
    return Tensor(value._node) if hasattr(value, "_logits") else value


def _fitted(signature: Sequence[Any], args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments as tensors of what a signature says."""
    fitted = list(args)
    skipped = len(args) - len(signature) if len(args) > len(signature) else 0
    for i, spec in enumerate(signature):
        position = i + skipped
        if position >= len(args) or not isinstance(spec, TensorSpec):
            continue
        value = args[position]
        try:
            tensor = convert_to_tensor(value, None if isinstance(value, Operand) else spec.dtype)
        except (TypeError, ValueError) as error:
            raise TypeError(f"{value!r} does not fit the signature's {spec!r}") from error
        if not spec.is_compatible_with(tensor):
            raise TypeError(
                f"{TensorSpec.from_tensor(tensor)!r} does not fit the signature's {spec!r}"
            )
        fitted[position] = tensor
    return tuple(fitted)
