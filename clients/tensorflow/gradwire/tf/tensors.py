"""Tensors: values of programs, fetched when Python asks for them."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, TypeAlias

import numpy as np

from gradwire.tf.dtypes import DType, of_numpy
from gradwire.tf.fetching import fetch
from gradwire.tf.nodes import TensorNode, noticing
from gradwire.tf.seeds import SEEDS
from gradwire.tf.shapes import TensorShape

__all__ = ["Tensor"]

#: Methods that functions of other modules fill in: operators, indexing, joining.
METHODS: dict[str, Callable[..., Any]] = {}


class Reference:
    """A tensor or variable as a key: equal to other references to the same object."""

    __slots__ = ("_wrapped",)

    def __init__(self, wrapped: Any) -> None:
        self._wrapped: Any = wrapped

    def deref(self) -> Any:
        """The object that it refers to."""
        return self._wrapped

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Reference):
            return NotImplemented
        return self._wrapped is other._wrapped

    def __hash__(self) -> int:
        return id(self._wrapped)

    def __repr__(self) -> str:
        return f"<Reference wrapping {self._wrapped!r}>"


Binary: TypeAlias = Callable[[Any, Any], Any]


def _operator(name: str) -> Binary:
    def operator(self: Any, other: Any) -> Any:
        return METHODS[name](self, other)

    return operator


def _reflected(name: str) -> Binary:
    def operator(self: Any, other: Any) -> Any:
        return METHODS[name](other, self)

    return operator


class Operand:
    """The base of tensors and variables: they are operands, and are read as arrays."""

    __slots__ = ()

    #: NumPy's arrays leave operators to tensors.
    __array_priority__ = 100

    def _value(self) -> np.ndarray[Any, Any]:
        raise NotImplementedError

    def _dtype(self) -> DType:
        raise NotImplementedError

    def numpy(self) -> Any:
        """The value, as NumPy has it."""
        value = self._value()
        return value.copy() if value.ndim else value[()]

    @property
    def device(self) -> str:
        """The device that TensorFlow would name."""
        return "/job:localhost/replica:0/task:0/device:CPU:0"

    def ref(self) -> Reference:
        """A key for dictionaries and sets."""
        return Reference(self)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        value = self._value()
        return np.array(value, dtype) if copy or copy is None else np.asarray(value, dtype)

    def __bool__(self) -> bool:
        value = self._value()
        METHODS["decided"]()
        return bool(value) if value.size else False

    def __float__(self) -> float:
        return float(self._scalar())

    def __int__(self) -> int:
        return int(self._scalar())

    def __complex__(self) -> complex:
        return complex(self._scalar())

    def __index__(self) -> int:
        value = self._value()
        if value.ndim or value.dtype.kind not in "iu":
            raise TypeError("only integer scalar tensors can be converted to an index")
        return int(value)

    def __format__(self, spec: str) -> str:
        value = self.numpy()
        return format(value, spec) if spec else str(value)

    def _scalar(self) -> Any:
        value = self._value()
        if value.ndim:
            raise TypeError(f"a tensor of shape {value.shape} is not one number")
        return value[()]

    __add__: ClassVar[Binary] = _operator("add")
    __radd__: ClassVar[Binary] = _reflected("add")
    __sub__: ClassVar[Binary] = _operator("subtract")
    __rsub__: ClassVar[Binary] = _reflected("subtract")
    __mul__: ClassVar[Binary] = _operator("multiply")
    __rmul__: ClassVar[Binary] = _reflected("multiply")
    __truediv__: ClassVar[Binary] = _operator("truediv")
    __rtruediv__: ClassVar[Binary] = _reflected("truediv")
    __floordiv__: ClassVar[Binary] = _operator("floordiv")
    __rfloordiv__: ClassVar[Binary] = _reflected("floordiv")
    __mod__: ClassVar[Binary] = _operator("mod")
    __rmod__: ClassVar[Binary] = _reflected("mod")
    __pow__: ClassVar[Binary] = _operator("pow")
    __rpow__: ClassVar[Binary] = _reflected("pow")
    __matmul__: ClassVar[Binary] = _operator("matmul")
    __rmatmul__: ClassVar[Binary] = _reflected("matmul")
    __and__: ClassVar[Binary] = _operator("and")
    __rand__: ClassVar[Binary] = _reflected("and")
    __or__: ClassVar[Binary] = _operator("or")
    __ror__: ClassVar[Binary] = _reflected("or")
    __xor__: ClassVar[Binary] = _operator("xor")
    __rxor__: ClassVar[Binary] = _reflected("xor")
    __lt__: ClassVar[Binary] = _operator("less")
    __le__: ClassVar[Binary] = _operator("less_equal")
    __gt__: ClassVar[Binary] = _operator("greater")
    __ge__: ClassVar[Binary] = _operator("greater_equal")

    def __eq__(self, other: object) -> Any:
        return METHODS["same"](self, other)

    def __ne__(self, other: object) -> Any:
        return METHODS["differs"](self, other)

    def __hash__(self) -> int:
        kind = "Tensor" if isinstance(self, Tensor) else "Variable"
        raise TypeError(f"{kind} is unhashable. Instead, use {kind.lower()}.ref() as the key.")

    def __neg__(self) -> Any:
        return METHODS["negative"](self)

    def __pos__(self) -> Any:
        return METHODS["identity"](self)

    def __abs__(self) -> Any:
        return METHODS["abs"](self)

    def __invert__(self) -> Any:
        return METHODS["invert"](self)

    def __getitem__(self, key: Any) -> Any:
        return METHODS["getitem"](self, key)


class Tensor(Operand):
    """A value that the service computes once it is asked for.

    ``numpy()``, printing, ``bool``, ``float``, iteration and ``np.asarray`` fetch it, with all
    other values that the same request brings.
    """

    #: ``_keras_mask`` says which steps of a sequence count, for layers of Keras.
    __slots__ = ("__weakref__", "_beside", "_keras_mask", "_logits", "_node")

    #: Of integers, a result or operand of their operation that has a gradient: as targets they
    #: give zeros of it, where their operation gives them beside it.
    _beside: Tensor

    #: The activations that it is taken for an output of, and what that was computed from.
    _logits: tuple[tuple[str, ...], Tensor]

    _keras_mask: Any

    def __init__(self, node: TensorNode) -> None:
        self._node: TensorNode = node
        if node.owner is None or node.owner() is None:
            node.owner = weakref.ref(self)

    def _value(self) -> np.ndarray[Any, Any]:
        node = self._node
        if node.value is None:
            fetch([node])
        for run in noticing():
            run.note_asked(node)
        return np.asarray(node.value)

    def _dtype(self) -> DType:
        return self.dtype

    @property
    def dtype(self) -> DType:
        """The elements' type."""
        node = self._node
        if node.dtype is None:
            node.dtype = of_numpy(self._value().dtype)
        return node.dtype

    @property
    def shape(self) -> TensorShape:
        """The lengths of the dimensions."""
        return TensorShape(self._lengths())

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self._lengths())

    def _lengths(self) -> tuple[int, ...]:
        node = self._node
        if node.shape is None:
            node.shape = self._value().shape
        return node.shape

    def get_shape(self) -> TensorShape:
        """The lengths of the dimensions."""
        return self.shape

    def set_shape(self, shape: Any) -> None:
        """Check that the tensor has a shape."""
        if not self.shape.is_compatible_with(shape):
            raise ValueError(
                f"the tensor has shape {self.shape}, which does not fit {TensorShape(shape)}"
            )

    def cpu(self) -> Tensor:
        """The same."""
        return self

    def gpu(self, gpu_index: int = 0) -> Tensor:
        """Refused: there is no GPU.

        Raises:
            RuntimeError: always.
        """
        raise RuntimeError(f"GPU:{gpu_index} unknown device.")

    def __copy__(self) -> Tensor:
        return self

    def __deepcopy__(self, memo: Any) -> Tensor:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return METHODS["constant"], (self._value(), self.dtype.name)

    def __len__(self) -> int:
        lengths = self._lengths()
        if not lengths:
            raise TypeError("Scalar tensor has no `len()`")
        return lengths[0]

    def __iter__(self) -> Iterator[Tensor]:
        lengths = self._lengths()
        if not lengths:
            raise TypeError("Cannot iterate over a scalar tensor.")
        METHODS["decided"]()
        return _passes([self[i] for i in range(lengths[0])])

    def __setitem__(self, key: Any, value: Any) -> None:
        raise TypeError(
            "'tensorflow.python.framework.ops.EagerTensor' object does not support item assignment"
        )

    def __delitem__(self, key: Any) -> None:
        raise TypeError(
            "'tensorflow.python.framework.ops.EagerTensor' object doesn't support item deletion"
        )

    def __repr__(self) -> str:
        value = shown(self._value(), self.dtype)
        text = repr(value) if isinstance(value, np.ndarray) else _scalar_text(value)
        if "\n" in text:
            text = f"\n{text}"
        return f"<tf.Tensor: shape={self.shape}, dtype={self.dtype.name}, numpy={text}>"

    def __str__(self) -> str:
        value = shown(self._value(), self.dtype)
        text = str(value)
        if "\n" in text:
            text = f"\n{text}"
        return f"tf.Tensor({text}, shape={self.shape}, dtype={self.dtype.name})"


def _passes(rows: list[Tensor]) -> Iterator[Tensor]:
    """Rows, each of them for a pass of a loop, which is a graph of its own in functions."""
    body = SEEDS.part()
    for row in rows:
        with SEEDS.running(body):
            yield row


def shown(value: np.ndarray[Any, Any], dtype: DType) -> Any:
    """A value as it is printed."""
    return value if value.ndim else value[()]


def _scalar_text(value: Any) -> str:
    return str(value) if isinstance(value, np.generic) else repr(value)


# What ``type(x).__name__`` is in TensorFlow.
Tensor.__name__ = "EagerTensor"
