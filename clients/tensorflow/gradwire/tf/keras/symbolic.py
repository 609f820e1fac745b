"""Symbolic values: what stands for inputs of a model, and what layers give for them."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import gradwire.tf as tf
from gradwire.tf.keras.names import snake_case, unique_name
from gradwire.tf.seeds import SEEDS

#: Lengths of examples where an axis is of any length, until one is long enough for all layers.
_LENGTHS = (1, 16, 256)


class Call:
    """A layer or an operation, its arguments, and the symbolic values that it gives."""

    def __init__(
        self, operation: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> None:
        self.operation: Any = operation
        self.args: Any = args
        self.kwargs: dict[str, Any] = kwargs or {}
        self.outputs: Any = None

    @property
    def inputs(self) -> list[KerasTensor]:
        """The symbolic values in the arguments."""
        return symbolic_parts((self.args, self.kwargs))

    @property
    def first(self) -> Any:
        """The first argument; for an input, the input itself."""
        return next(iter((*self.args, *self.kwargs.values())), self.outputs)

    def value(self, known: Mapping[int, Any], training: bool | None = None) -> Any:
        """The result for values of the symbolic inputs, by their identities."""
        args = [_valued(part, known) for part in self.args]
        kwargs = {name: _valued(part, known) for name, part in self.kwargs.items()}
        if training is not None and not isinstance(self.operation, Operation):
            kwargs["training"] = training
        return self.operation(*args, **kwargs)


def _valued(part: Any, known: Mapping[int, Any]) -> Any:
    """An argument with the values of the symbolic ones in it."""
    if isinstance(part, KerasTensor):
        return known[id(part)]
    if tf.nest.is_nested(part):
        return tf.nest.map_structure(lambda each: _valued(each, known), part)
    return part


def _operator(kind: str, is_second: bool = False) -> Callable[..., Any]:
    """The method of an operator of symbolic values: a call of the operation of Keras's class."""

    def applied(self: Any, *others: Any) -> Any:
        return Operation(kind)(*others, self) if is_second else Operation(kind)(self, *others)

    return applied


class KerasTensor:
    """The output of a layer for inputs that are not known yet.

    An example, one row of zeros, has gone through the layers, so that they are built.
    """

    def __init__(self, example: Any, call: Call, name: str | None = None) -> None:
        self.example: Any = example
        self.call: Call = call
        self.name: str = name or unique_name("keras_tensor")
        self._lengths: tuple[int | None, ...] | None = None

    @classmethod
    def of_shape(cls, shape: Sequence[Any], dtype: Any, layer: Any = None) -> KerasTensor:
        """An input of a shape, of which lengths may be None."""
        call = Call(layer)
        name = None if layer is None else layer.name
        made = cls(tf.zeros(_filled(shape, _LENGTHS[0]), tf.as_dtype(dtype)), call, name)
        made._lengths = tuple(shape)
        call.outputs = made
        return made

    @classmethod
    def of_call(cls, operation: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        """The outputs of a layer or an operation for symbolic inputs, nested as for tensors."""
        call = Call(operation, args, kwargs)
        example = _example(call)
        call.outputs = tf.nest.map_structure(lambda part: cls(part, call), example)
        if not isinstance(operation, Operation):
            operation.__dict__.setdefault("_calls", []).append(call)
        return call.outputs

    @property
    def shape(self) -> tuple[int | None, ...]:
        """The lengths of its axes, None where any is possible."""
        if self._lengths is None:
            now = tuple(self.example.shape)[1:]
            sources = [call.outputs for call in calls_before([self]) if not call.inputs]
            if any(None in source.shape[1:] for source in sources):
                other = _at_length([self], 64 + _LENGTHS[-1])[id(self)]
                pairs = zip(now, tuple(other.shape)[1:], strict=True)
                now = tuple(a if a == b else None for a, b in pairs)
            self._lengths = (None, *now)
        return self._lengths

    @property
    def dtype(self) -> Any:
        """The dtype's name."""
        return self.example.dtype.name

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.example.shape)

    def __repr__(self) -> str:
        return (
            f"<KerasTensor shape={self.shape}, dtype={self.dtype}, sparse=False, ragged=False, "
            f"name={self.name}>"
        )

    __getitem__: Callable[..., Any] = _operator("GetItem")
    __neg__: Callable[..., Any] = _operator("Negative")
    __pow__: Callable[..., Any] = _operator("Power")
    __matmul__: Callable[..., Any] = _operator("Matmul")
    __add__: Callable[..., Any] = _operator("Add")
    __radd__: Callable[..., Any] = _operator("Add", is_second=True)
    __sub__: Callable[..., Any] = _operator("Subtract")
    __rsub__: Callable[..., Any] = _operator("Subtract", is_second=True)
    __mul__: Callable[..., Any] = _operator("Multiply")
    __rmul__: Callable[..., Any] = _operator("Multiply", is_second=True)
    __truediv__: Callable[..., Any] = _operator("TrueDivide")
    __rtruediv__: Callable[..., Any] = _operator("TrueDivide", is_second=True)


#: The operations that operators stand for, by Keras's classes.
_OPERATORS: dict[str, Callable[..., Any]] = {
    "Add": operator.add,
    "GetItem": operator.getitem,
    "Matmul": operator.matmul,
    "Multiply": operator.mul,
    "Negative": operator.neg,
    "Power": operator.pow,
    "Subtract": operator.sub,
    "TrueDivide": operator.truediv,
}


class Operation:
    """A function without weights, as part of a graph of symbolic values."""

    def __init__(
        self, kind: str, name: str | None = None, function: Callable[..., Any] | None = None
    ) -> None:
        self._class_name: str = kind
        self._function = _OPERATORS[kind] if function is None else function
        self.name: str = name or unique_name(snake_case(kind))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Its value, or a symbolic one for such arguments."""
        if is_symbolic((args, kwargs)):
            return KerasTensor.of_call(self, args, kwargs)
        return self._function(*args, **kwargs)

    def again(self) -> Operation:
        """Another such operation, of the same name."""
        return Operation(self._class_name, self.name, self._function)

    def get_config(self) -> dict[str, Any]:
        """Its name, if it is one of an operator."""
        if self._class_name not in _OPERATORS:
            raise NotImplementedError(
                f"a configuration of the operation {self._class_name} is not possible; layers and "
                "operators are"
            )
        return {"name": self.name}

    @classmethod
    def of_class(cls, kind: str) -> Callable[..., Operation]:
        """The function that makes the operation of one of Keras's classes."""
        if kind not in _OPERATORS:
            raise NotImplementedError(
                f"the operation {kind} is not made from configurations; {sorted(_OPERATORS)} are"
            )
        return lambda name=None: cls(kind, name)


def with_symbols(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that takes symbolic values, too: then it is an operation of their graph."""

    @functools.wraps(function)
    def applied(*args: Any, **kwargs: Any) -> Any:
        if is_symbolic((args, kwargs)):
            kind = "".join(part.title() for part in name.split("_"))
            return Operation(kind, function=function)(*args, **kwargs)
        return function(*args, **kwargs)

    return applied


def is_symbolic(value: Any) -> bool:
    """True if nested values hold a symbolic one."""
    if isinstance(value, dict):
        return any(map(is_symbolic, value.values()))
    if isinstance(value, (list, tuple)):
        return any(map(is_symbolic, value))
    return isinstance(value, KerasTensor)


def symbolic_parts(value: Any) -> list[KerasTensor]:
    """The symbolic values in nested ones, in order."""
    return [part for part in tf.nest.flatten(value) if isinstance(part, KerasTensor)]


def calls_before(outputs: Sequence[KerasTensor], inputs: Sequence[KerasTensor] = ()) -> list[Call]:
    """The calls that lead from inputs to outputs, or from where these begin, in a good order."""
    ordered: list[Call] = []
    seen = {id(part) for part in inputs}

    def visit(part: KerasTensor) -> None:
        if id(part) in seen:
            return
        seen.add(id(part))
        for each in part.call.inputs:
            visit(each)
        if not any(part.call is known for known in ordered):
            ordered.append(part.call)

    for part in outputs:
        visit(part)
    return ordered


def run(
    calls: Sequence[Call], known: dict[int, Any], training: bool | None = None
) -> dict[int, Any]:
    """The values of all that calls give, by identities, from those of inputs."""
    for call in calls:
        given = tf.nest.flatten(call.value(known, training))
        for part, value in zip(tf.nest.flatten(call.outputs), given, strict=True):
            known.setdefault(id(part), value)
    return known


def _filled(shape: Sequence[Any], length: int) -> list[int]:
    first, *others = shape or (1,)
    return [first or 1, *(each or length for each in others)] if shape else []


def _at_length(outputs: Sequence[KerasTensor], length: int) -> dict[int, Any]:
    """Values where all axes of inputs that may be of any length are of this one."""
    calls = calls_before(outputs)
    known = {
        id(call.outputs): tf.zeros(_filled(call.outputs.shape, length), call.outputs.dtype)
        for call in calls
        if not call.inputs
    }
    with SEEDS.scratch():
        return run([call for call in calls if call.inputs], known, training=False)


def _example(call: Call) -> Any:
    """The result of a call for examples of its inputs, or for longer ones if these are short."""
    known = {id(part): part.example for part in call.inputs}
    try:
        with SEEDS.scratch():
            return call.value(known, training=False)
    except Exception:
        sources = [each.outputs for each in calls_before(call.inputs) if not each.inputs]
        if any(None in source.shape[1:] for source in sources):
            for length in _LENGTHS[1:]:
                with SEEDS.scratch(), suppress(tf.errors.InvalidArgumentError, ValueError):
                    return call.value(_at_length(call.inputs, length), training=False)
        raise


def is_keras_tensor(x: Any) -> bool:
    """True if a value is symbolic."""
    return isinstance(x, KerasTensor)
