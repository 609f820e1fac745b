"""Inputs that stand for what a model will be called with: the functional way to make models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gradwire.tf as tf
from gradwire.tf.arguments import only
from gradwire.tf.seeds import SEEDS


class KerasTensor:
    """The output of a layer for inputs that are not known yet.

    An example, one row of zeros, has gone through the layers, so that they are built.
    """

    def __init__(self, example: Any, layer: Any = None, args: Any = (), kwargs: Any = None) -> None:
        self.example: Any = example
        self.layer: Any = layer
        self.args: Any = args
        self.kwargs: dict[str, Any] = kwargs or {}

    @classmethod
    def of_call(cls, layer: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        """What a layer gives for symbolic inputs, nested as its outputs are."""
        with SEEDS.scratch():
            examples = layer(*_examples(args), **_examples(kwargs))
        if isinstance(examples, (list, tuple)):
            whole = cls(None, layer, args, kwargs)
            return [cls(example, _Part(index), (whole,)) for index, example in enumerate(examples)]
        return cls(examples, layer, args, kwargs)

    @property
    def shape(self) -> tuple[int | None, ...]:
        """The lengths of its axes, the first of which is not known."""
        return (None, *tuple(self.example.shape)[1:])

    @property
    def dtype(self) -> Any:
        """The dtype's name."""
        return self.example.dtype.name

    def __repr__(self) -> str:
        return f"<KerasTensor shape={self.shape}, dtype={self.dtype}>"

    def value(self, known: dict[int, Any]) -> Any:
        """What it is for values of the inputs, by their identities."""
        if id(self) not in known:
            if self.layer is None:
                raise ValueError("a symbolic input of the model was given no value")
            args, kwargs = _values(self.args, known), _values(self.kwargs, known)
            known[id(self)] = self.layer(*args, **kwargs)
        return known[id(self)]

    def __getitem__(self, key: Any) -> Any:
        return self._computed(lambda x: x[key])

    def _computed(self, function: Any, *others: Any) -> Any:
        return KerasTensor.of_call(function, (self, *others), {})

    def __add__(self, other: Any) -> Any:
        return self._computed(lambda x, y: x + y, other)

    def __radd__(self, other: Any) -> Any:
        return self._computed(lambda x, y: y + x, other)

    def __sub__(self, other: Any) -> Any:
        return self._computed(lambda x, y: x - y, other)

    def __rsub__(self, other: Any) -> Any:
        return self._computed(lambda x, y: y - x, other)

    def __mul__(self, other: Any) -> Any:
        return self._computed(lambda x, y: x * y, other)

    def __rmul__(self, other: Any) -> Any:
        return self._computed(lambda x, y: y * x, other)

    def __truediv__(self, other: Any) -> Any:
        return self._computed(lambda x, y: x / y, other)

    def __neg__(self) -> Any:
        return self._computed(lambda x: -x)

    def __pow__(self, other: Any) -> Any:
        return self._computed(lambda x, y: x**y, other)

    def __matmul__(self, other: Any) -> Any:
        return self._computed(lambda x, y: x @ y, other)


class _Part:
    """One of the outputs of a layer that gives several."""

    def __init__(self, index: int) -> None:
        self._index = index

    def __call__(self, whole: Any) -> Any:
        return whole[self._index]


def Input(  # noqa: N802 - Keras's name
    shape: Sequence[int | None] = (),
    batch_size: int | None = None,
    dtype: Any = None,
    sparse: bool | None = None,
    ragged: bool | None = None,
    batch_shape: Sequence[int | None] | None = None,
    name: str | None = None,
    tensor: Any = None,
    optional: bool = False,
) -> KerasTensor:
    """A symbolic input: examples of this shape."""
    only(
        "Input",
        sparse=(sparse or None, None),
        ragged=(ragged or None, None),
        tensor=(tensor, None),
        optional=(optional, False),
    )
    if batch_shape is not None:
        if batch_size is not None or tuple(shape):
            raise ValueError("You cannot pass both `shape` or `batch_size` and `batch_shape`.")
        batch_size, *shape = batch_shape
    lengths = (batch_size or 1, *(length or 1 for length in shape))
    made = KerasTensor(tf.zeros(lengths, tf.as_dtype(dtype or "float32")))
    made.kwargs = {"name": name}
    return made


def is_symbolic(value: Any) -> bool:
    """Whether nested values hold a symbolic one."""
    if isinstance(value, dict):
        return any(map(is_symbolic, value.values()))
    if isinstance(value, (list, tuple)):
        return any(map(is_symbolic, value))
    return isinstance(value, KerasTensor)


def symbolic_parts(value: Any) -> list[KerasTensor]:
    """The symbolic values in nested ones, in order."""
    if isinstance(value, dict):
        return [part for key in value for part in symbolic_parts(value[key])]
    if isinstance(value, (list, tuple)):
        return [part for item in value for part in symbolic_parts(item)]
    return [value] if isinstance(value, KerasTensor) else []


def _examples(value: Any) -> Any:
    return _mapped(value, lambda part: part.example)


def _values(value: Any, known: dict[int, Any]) -> Any:
    return _mapped(value, lambda part: part.value(known))


def values(value: Any, known: dict[int, Any]) -> Any:
    """Nested symbolic values, for values of the inputs."""
    return _values(value, known)


def _mapped(value: Any, f: Any) -> Any:
    if isinstance(value, dict):
        return {key: _mapped(part, f) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)([_mapped(part, f) for part in value])
    return f(value) if isinstance(value, KerasTensor) else value
