"""``tf.function``: Python that runs once for a signature; ``steps`` repeats what it has called."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from gradwire.tf import nest
from gradwire.tf.conversion import convert_to_tensor
from gradwire.tf.function_arguments import Arguments, check_fits, fitted_to
from gradwire.tf.function_runs import Paths, Runs, runs_of
from gradwire.tf.function_traces import FunctionTrace, running
from gradwire.tf.nodes import active
from gradwire.tf.repetitions import Differs
from gradwire.tf.seeds import SEEDS
from gradwire.tf.specs import TensorSpec
from gradwire.tf.steps import Steps, noticed
from gradwire.tf.tensors import METHODS, Tensor
from gradwire.tf.variables import Variable

__all__ = ["function"]

#: The setting of ``tf.config.run_functions_eagerly``.
_settings = {"eagerly": False}


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
            args = fitted_to(self._signature, args)
        runs = self._runs
        if _settings["eagerly"]:
            return self._function(*args, **kwargs)
        runs.calls += 1
        given = Arguments(args, kwargs, self._named)
        key = () if self._signature is not None else given.signature
        trace = FunctionTrace()
        stack = active()
        is_recorded = bool(stack)
        stack.append(trace)
        running.traces.append(trace)
        try:
            with SEEDS.function(runs.draws, key, self._compiled):
                paths = runs.paths.get(key)
                try:
                    if paths is None or not given.are_plain:
                        raise Differs
                    (result,) = paths.repeated(given.nodes, is_recorded=is_recorded)
                except Differs:
                    result = self._first_run(trace, given, key, paths)
            if len(stack) > 1 or len(running.traces) > 1:
                result = METHODS["outputs"](trace, nest.map_structure(_as_result, result))
        finally:
            stack[:] = [each for each in stack if each is not trace]
            running.traces.remove(trace)
            trace.release()
        if trace.made and (runs.calls > 1 or any(made() is None for made in trace.made)):
            raise ValueError(
                "a tf.function may create variables only in its first call, and must keep them; "
                "create them outside of it"
            )
        return nest.map_structure(_as_result, result)

    def _first_run(
        self, trace: FunctionTrace, given: Arguments, key: Hashable, paths: Paths | None
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
        runs = runs_of(instance, self)
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
                    check_fits(each, of, name)
        return self.function(**{**self._plain, **given})


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


def run_functions_eagerly(run_eagerly: bool) -> None:
    """Run functions without letting them ask ``tf.gradients``, as plain ones."""
    _settings["eagerly"] = bool(run_eagerly)


def functions_run_eagerly() -> bool:
    """The setting of ``run_functions_eagerly``."""
    return _settings["eagerly"]


def _as_result(value: Any) -> Any:
    if isinstance(value, (bool, int, float, complex, np.ndarray, np.generic, Variable)):
        return convert_to_tensor(value)
    # On the other side of a function's border a tensor is an operation's output no longer.
    return Tensor(value._node) if hasattr(value, "_logits") else value
