"""``tf.function``: Python that runs once for a signature; ``steps`` repeats what it has called."""

from __future__ import annotations

import functools
import inspect
import random
import threading
import types
import weakref
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np

from gradwire.tf import nest
from gradwire.tf.conversion import convert_to_tensor
from gradwire.tf.errors import invalid
from gradwire.tf.nodes import TensorNode, active, known, noticing, paused, record, unnoticed
from gradwire.tf.recordings import CustomGradient, TapeRecording
from gradwire.tf.seeds import SEEDS, Draws
from gradwire.tf.specs import TensorSpec
from gradwire.tf.steps import Differs, Repetition, Steps, noticed
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
        #: The steps of the run of Python, if it is one.
        self.steps: Steps | None = None

    def note_made(self, variable: Any) -> None:
        """Note that a variable was made."""
        self.made.append(weakref.ref(variable))

    def note(self, node: TensorNode) -> None:
        """Record an operation."""
        self.add(node)
        if self.steps is not None:
            self.steps.note_recorded(node)

    def note_custom_gradient(self, custom_gradient: CustomGradient) -> None:
        """Record an operation with a gradient of the user's own."""
        if self.steps is not None:
            self.steps.note_custom_gradient(custom_gradient)
        for node in custom_gradient.outputs:
            self.add(node, custom_gradient)

    def note_read(self, variable: Any, node: TensorNode) -> None:
        """Note what a variable was read as."""
        self.watch_variable(variable)
        super().note_read(variable, node)
        if self.steps is not None:
            self.steps.note_read(variable, node)


class _ActiveTraces(threading.local):
    def __init__(self) -> None:
        self.traces: list[FunctionTrace] = []


_running = _ActiveTraces()
#: A function whose Python decides in more ways than this is run anew in each call.
MOST_PATHS: int = 8
#: The setting of ``tf.config.run_functions_eagerly``.
_settings = {"eagerly": False}


class Runs:
    """What the runs of a function have in common: their steps and draws, by signature."""

    __slots__ = ("__weakref__", "calls", "draws", "paths")

    def __init__(self) -> None:
        self.calls: int = 0
        #: The draws of its random operations, by the signatures of arguments.
        self.draws: dict[Hashable, Draws] = {}
        self.paths: dict[Hashable, Paths] = {}

    def __deepcopy__(self, memo: Any) -> Runs:
        return Runs()

    def __reduce__(self) -> tuple[type[Runs], tuple[()]]:
        return Runs, ()


class Paths:
    """The ways through a function for one signature: each decision of Python's begins another."""

    __slots__ = ("_are_too_many", "_found", "_streams")

    def __init__(self) -> None:
        self._found: list[Repetition] = []
        self._are_too_many: bool = False
        #: The states of NumPy's and Python's random numbers before the first run.
        self._streams: Any = None

    def repeated(self, arguments: Sequence[TensorNode], *, is_recorded: bool) -> tuple[Any]:
        """The result of a way that has been gone, in a tuple.

        Raises:
            Differs: there is none.
        """
        if not self._are_too_many:
            for place, each in enumerate(self._found):
                try:
                    found = each.of(arguments, is_recorded=is_recorded)
                except Differs:
                    continue
                self._found.insert(0, self._found.pop(place))
                return (found,)
        raise Differs

    def add(self, repetition: Repetition | None) -> None:
        """Another way; None for one that cannot be repeated."""
        if repetition is None or len(self._found) >= MOST_PATHS:
            self._are_too_many = True
            self._found.clear()
        else:
            self._found.insert(0, repetition)

    @contextmanager
    def streams(self) -> Iterator[None]:
        """A context in which random numbers of NumPy's and Python's are those of the first run."""
        if self._streams is None:
            self._streams = np.random.get_state(), random.getstate()
            yield
            return
        before = np.random.get_state(), random.getstate()
        _set_streams(self._streams)
        try:
            yield
        finally:
            _set_streams(before)


def _set_streams(states: Any) -> None:
    np.random.set_state(states[0])
    random.setstate(states[1])


class PolymorphicFunction:
    """A function as ``tf.function`` gives it."""

    def __init__(
        self,
        python_function: Callable[..., Any],
        input_signature: Sequence[Any] | None = None,
        jit_compile: bool = False,
        runs: Runs | None = None,
    ) -> None:
        functools.update_wrapper(self, python_function)
        self._function: Callable[..., Any] = python_function
        self._signature: Sequence[Any] | None = input_signature
        self._compiled: bool = jit_compile
        self._runs: Runs = runs or Runs()

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
        runs = self._runs
        if _settings["eagerly"]:
            return self._function(*args, **kwargs)
        runs.calls += 1
        given = _Arguments(args, kwargs, self._named)
        key = () if self._signature is not None else given.signature
        trace = FunctionTrace()
        stack = active()
        is_recorded = bool(stack)
        stack.append(trace)
        _running.traces.append(trace)
        try:
            with SEEDS.function(runs.draws, key, self._compiled):
                paths = runs.paths.get(key)
                try:
                    if paths is None or not given.are_plain:
                        raise Differs
                    (result,) = paths.repeated(given.nodes, is_recorded=is_recorded)
                except Differs:
                    result = self._first_run(trace, given, key, paths)
            if len(stack) > 1 or len(_running.traces) > 1:
                result = METHODS["outputs"](trace, nest.map_structure(_as_result, result))
        finally:
            stack[:] = [each for each in stack if each is not trace]
            _running.traces.remove(trace)
            trace.release()
        if trace.made and (runs.calls > 1 or any(made() is None for made in trace.made)):
            raise ValueError(
                "a tf.function may create variables only in its first call, and must keep them; "
                "create them outside of it"
            )
        return nest.map_structure(_as_result, result)

    def _first_run(
        self, trace: FunctionTrace, given: _Arguments, key: Hashable, paths: Paths | None
    ) -> Any:
        """Run the Python, and remember its steps."""
        paths = paths or Paths()
        steps = trace.steps = Steps(given.nodes, SEEDS.outer)
        steps.is_whole = given.are_plain
        try:
            with noticed(steps), paths.streams():
                result = self._function(*given.args, **given.kwargs)
            found = None if trace.made else steps.repeatable(result)
        finally:
            steps.release()
            trace.steps = None
        if not trace.made:
            paths.add(found)
            self._runs.paths[key] = paths
        return result

    @functools.cached_property
    def _named(self) -> inspect.Signature | None:
        try:
            return inspect.signature(self._function)
        except (TypeError, ValueError):  # of C
            return None

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        method = types.MethodType(self._function, instance)
        runs = _runs_of(instance, self)
        return PolymorphicFunction(method, self._signature, self._compiled, runs)

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> Any:
        """The same for tensors of the given dtypes and shapes, with what else is given bound."""
        named = inspect.signature(self._function)
        if self._signature is not None and not args:
            args = tuple(self._signature)
        try:
            given = named.bind_partial(*args, **kwargs).arguments
        except TypeError:
            return self
        plain = {
            name: value
            for name, value in given.items()
            if isinstance(value, (bool, int, float, str))
            and named.parameters[name].kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
        }
        specs = {name: value for name, value in given.items() if name not in plain}
        return ConcreteFunction(self, plain, specs)

    def experimental_get_tracing_count(self) -> int:
        """The number of signatures for which the Python has run."""
        return len(self._runs.paths)


class ConcreteFunction:
    """A function for tensors of certain dtypes and shapes."""

    def __init__(
        self, function: PolymorphicFunction, plain: Mapping[str, Any], specs: Mapping[str, Any]
    ) -> None:
        functools.update_wrapper(self, function)
        self.function: PolymorphicFunction = function
        self._plain: Mapping[str, Any] = plain
        self._specs: Mapping[str, Any] = specs

    @property
    def structured_input_signature(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The specs of its arguments."""
        return tuple(self._specs.values()), {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        given = {**dict(zip(self._specs, args, strict=False)), **kwargs}
        if len(args) > len(self._specs):
            names = [*self._specs, *self._plain]
            given = {**dict(zip(names, args, strict=False)), **kwargs}
        for name, spec in self._specs.items():
            for each, of in zip(nest.flatten(given.get(name)), nest.flatten(spec), strict=False):
                if isinstance(of, TensorSpec) and isinstance(each, Tensor):
                    _check_fits(each, of, name)
        return self.function(**{**self._plain, **given})


def _check_fits(tensor: Tensor, spec: TensorSpec, name: str) -> None:
    if tensor.dtype != spec.dtype:
        raise invalid(
            f"{name} was expected to be a {spec.dtype.name} tensor but is a {tensor.dtype.name} "
            "tensor"
        )
    if not spec.shape.is_compatible_with(tensor.shape):
        raise invalid(f"{name} was expected to have shape {spec.shape} but has {tensor.shape}")


class _Arguments:
    """Arguments of a call: tensors are others inside, so that nothing else stands for them."""

    def __init__(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], named: inspect.Signature | None
    ) -> None:
        self.nodes: list[TensorNode] = []
        #: False if something besides may hold tensors.
        self.are_plain: bool = True
        self.args: tuple[Any, ...] = nest.map_structure(self._inside, args)
        self.kwargs: dict[str, Any] = nest.map_structure(self._inside, kwargs)
        try:
            bound = None if named is None else named.bind(*self.args, **self.kwargs)
        except TypeError:  # which the function itself raises
            bound = None
        if bound is not None:
            bound.apply_defaults()
        whole = (self.args, self.kwargs) if bound is None else dict(bound.arguments)
        self.signature: Hashable = _signature(whole)

    def _inside(self, value: Any) -> Any:
        if isinstance(value, Variable):
            return value
        if isinstance(value, (np.ndarray, np.generic)):
            value = convert_to_tensor(value)
        elif not isinstance(value, Tensor):
            self.are_plain &= not hasattr(value, "_components")
            return value
        self.are_plain &= getattr(value, "_keras_mask", None) is None
        inside = Tensor(_argument(value._node))
        for name in ("_beside", "_keras_mask"):
            if hasattr(value, name):
                setattr(inside, name, getattr(value, name))
        self.nodes.append(inside._node)
        return inside


def _argument(node: TensorNode) -> TensorNode:
    """A node of the same value, for a function's own tensor."""
    if node.value is not None and node.dtype is not None and not active() and not noticing():
        return known(node.value, node.dtype, node.hint)
    inside = record(TensorNode("copy", (node,), spec=node.spec))
    if node.value is not None:
        inside.settle(node.value)
    return inside


def _runs_of(instance: Any, function: PolymorphicFunction) -> Runs:
    """The runs of a method of one object, which are kept with it."""
    held = getattr(instance, "__dict__", None)
    if held is None:
        return Runs()
    of: _Methods | None = held.get("_tf_methods")
    if of is None or of.instance() is not instance:  # that of an object that it is a copy of
        held["_tf_methods"] = of = _Methods(instance)
    return of.runs.setdefault(function, Runs())


class _Methods:
    """The runs of an object's methods; copies of the object have none."""

    __slots__ = ("instance", "runs")

    def __init__(self, instance: Any = None) -> None:
        self.instance: Callable[[], Any] = (
            (lambda: None) if instance is None else weakref.ref(instance)
        )
        self.runs: dict[PolymorphicFunction, Runs] = {}

    def __deepcopy__(self, memo: Any) -> _Methods:
        return _Methods()

    def __reduce__(self) -> tuple[type[_Methods], tuple[()]]:
        return _Methods, ()


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


class _Identity:
    """An object as a key: itself alone, for as long as the key is kept."""

    __slots__ = ("_of",)

    def __init__(self, of: Any) -> None:
        self._of: Any = of

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identity) and self._of is other._of

    def __hash__(self) -> int:
        return id(self._of)


def _signature(value: Any) -> Hashable:
    """A key of arguments, the same for those that TensorFlow traces once."""
    if isinstance(value, Variable):
        return ("variable", value._number)
    if isinstance(value, Tensor):
        return (value.dtype.name, value._node.shape)
    if isinstance(value, (list, tuple)):
        return (type(value), *map(_signature, value))
    if isinstance(value, dict):
        return (dict, *((name, _signature(each)) for name, each in value.items()))
    return value if isinstance(value, Hashable) else _Identity(value)


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
        self._contexts: ExitStack = ExitStack()
        self._contexts.enter_context(paused())
        self._contexts.enter_context(unnoticed())

    def __exit__(self, *error: object) -> None:
        self._contexts.close()
        _running.traces = self._traces


def run_functions_eagerly(run_eagerly: bool) -> None:
    """Run functions without letting them ask ``tf.gradients``, as plain ones."""
    _settings["eagerly"] = bool(run_eagerly)


def functions_run_eagerly() -> bool:
    """The setting of ``run_functions_eagerly``."""
    return _settings["eagerly"]


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
