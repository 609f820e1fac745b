"""Variables: values that may be assigned anew."""

from __future__ import annotations

import enum
import itertools
import weakref
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from gradwire.frontends import VALUE
from gradwire.tf.arguments import only
from gradwire.tf.conversion import convert_to_tensor as as_tensor
from gradwire.tf.dtypes import DType
from gradwire.tf.errors import OutOfRangeError, invalid
from gradwire.tf.fetching import note_assigned
from gradwire.tf.indexing import getitem
from gradwire.tf.nodes import Spec, TensorNode, active, known, noticing, paused, record
from gradwire.tf.restoring import settle
from gradwire.tf.scattering import Scattered
from gradwire.tf.scopes import scoped
from gradwire.tf.shapes import TensorShape, as_shape
from gradwire.tf.tensors import METHODS, Operand, Tensor, shown
from gradwire.tf.variable_creators import Created
from gradwire.tf.variable_slices import VariableSlice

__all__ = [
    "Variable",
    "VariableAggregation",
    "VariableSynchronization",
    "convert_to_tensor",
]

_numbers = itertools.count()


def replace(variables: Sequence[Variable], tensors: Sequence[Tensor]) -> None:
    """Give variables the values of tensors of their dtypes and shapes, which nobody else has."""
    settle()
    pairs = zip(variables, tensors, strict=True)
    note_assigned(*[each for each, tensor in pairs if each._take(tensor, is_new=True)])


class VariableSynchronization(enum.Enum):
    """When replicas agree on a variable: there is one replica here."""

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


class VariableAggregation(enum.Enum):
    """The combination of replicas' updates: there is one replica here."""

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3


class Variable(Scattered, metaclass=Created):
    """A value that may be assigned anew; tapes watch it where it is read if it is ``trainable``.

    >>> w = tf.Variable([1.0, 2.0], name="w")
    >>> w.assign_add([0.5, 0.5])
    <tf.Variable 'w:0' shape=(2,) dtype=float32, numpy=array([1.5, 2.5], dtype=float32)>
    """

    def __init__(
        self,
        initial_value: Any = None,
        trainable: bool | None = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        variable_def: Any = None,
        dtype: Any = None,
        import_scope: str | None = None,
        constraint: Any = None,
        synchronization: VariableSynchronization = VariableSynchronization.AUTO,
        aggregation: VariableAggregation = VariableAggregation.NONE,
        shape: Any = None,
        experimental_enable_variable_lifting: bool = True,
    ) -> None:
        only("Variable", variable_def=(variable_def, None), import_scope=(import_scope, None))
        if initial_value is None:
            raise ValueError(
                "`initial_value` is missing; pass a value, or a function that returns one"
            )
        if callable(initial_value) and not isinstance(initial_value, Operand):
            initial_value = initial_value()
        with paused():
            try:
                initial = as_tensor(initial_value, dtype)
            except ValueError as error:
                raise ValueError(f"initial_value: {error}") from None
        self._stem: str = scoped(name or "Variable")
        self._trainable: bool = True if trainable is None else bool(trainable)
        self._of: DType = initial.dtype
        self._declared: TensorShape = initial.shape if shape is None else as_shape(shape)
        if not self._declared.is_compatible_with(initial.shape):
            raise ValueError(
                f"`initial_value` has shape {initial.shape}, which does not fit `shape` {shape}"
            )
        self._number: int = next(_numbers)
        self.constraint: Any = constraint
        self.synchronization: VariableSynchronization = synchronization
        self.aggregation: VariableAggregation = aggregation
        self._current: TensorNode
        #: True if Python reads its values: the one before it was assigned, and the one since.
        self._was_read: bool = False
        self._is_read: bool = False
        #: True if it has read a gradient.
        self._gradient_is_read: bool = False
        self._set(initial)
        for recorder in active():
            recorder.note_made(self)

    def _set(self, tensor: Tensor, *, is_new: bool = False) -> None:
        """Make a tensor's value the current one, a fresh leaf to every tape.

        One that ``is_new`` has been recorded by no tape, and nobody else has it.
        """
        if self._take(tensor, is_new=is_new):
            note_assigned(self)

    def _take(self, tensor: Tensor, *, is_new: bool) -> bool:
        """The same without noting it; whether the value is still to be computed."""
        of = tensor._node
        hint = self._stem.rpartition("/")[2]
        if of.value is not None:
            node = known(of.value, self._of, hint)
        else:
            node = of if is_new else TensorNode(VALUE, (of,), spec=Spec(self._of, of.shape))
            node.hint, node.assigned = hint, True
        node.owner = weakref.ref(self)
        self._current = node
        self._was_read, self._is_read = self._is_read, False
        for run in noticing():
            run.note_assigned(self, of, node, is_new)
        return of.value is None

    @property
    def _node(self) -> TensorNode:
        node = self._current
        for run in noticing():
            run.note_current(self, node)
        return node

    def _state(self) -> tuple[TensorNode, bool, bool]:
        """The state that an assignment changes."""
        return self._current, self._was_read, self._is_read

    def _restore(self, state: tuple[TensorNode, bool, bool]) -> None:
        """Take assignments back."""
        self._current, self._was_read, self._is_read = state
        self._current.owner = weakref.ref(self)

    def _to_tensor(self) -> Tensor:
        """A read of the value that it has now."""
        settle()
        for recorder in active():
            recorder.note_read(self, self._node)
        return Tensor(self._node)

    def _value(self) -> np.ndarray[Any, Any]:
        settle()
        self._is_read = True
        return Tensor(self._node)._value()

    def _note_gradient_read(self) -> None:
        self._gradient_is_read = True

    def _dtype(self) -> DType:
        return self._of

    @property
    def name(self) -> str:
        """The name that it was given, with the number of its output."""
        return f"{self._stem}:0"

    @property
    def _shared_name(self) -> str:
        return self._stem

    @property
    def dtype(self) -> DType:
        """The elements' type."""
        return self._of

    @property
    def shape(self) -> TensorShape:
        """The shape that every value of it has."""
        return self._declared

    @property
    def trainable(self) -> bool:
        """True if tapes watch it where it is read."""
        return self._trainable

    @property
    def handle(self) -> Variable:
        """The identity of the variable, apart from its values."""
        return self

    @property
    def ndim(self) -> int | None:
        """The number of dimensions."""
        return self._declared.rank

    def get_shape(self) -> TensorShape:
        """The shape that every value of it has."""
        return self._declared

    def set_shape(self, shape: Any) -> None:
        """Make the declared shape more exact."""
        self._declared = self._declared.merge_with(shape)

    def is_initialized(self, name: str | None = None) -> Tensor:
        """True: every variable has a value."""
        return as_tensor(True)

    def read_value(self) -> Tensor:
        """A tensor of the value that it has now."""
        of = self._to_tensor()._node
        return Tensor(record(TensorNode("copy", (of,), spec=Spec(self._of, of.shape))))

    def value(self) -> Tensor:
        """A tensor of the value that it has now."""
        return self.read_value()

    def initialized_value(self) -> Tensor:
        """A tensor of the value that it has now."""
        return self.read_value()

    def assign(
        self, value: Any, use_locking: Any = False, name: str | None = None, read_value: bool = True
    ) -> Variable | None:
        """Give it another value, of its dtype and shape."""
        settle()
        with paused():
            tensor = as_tensor(value, self._of)
        lengths = tensor._lengths()
        if not self._declared.is_compatible_with(lengths):
            raise ValueError(
                f"Cannot assign value to variable ' {self.name}': Shape mismatch."
                f"The variable shape {self._declared}, and the assigned value shape "
                f"{TensorShape(lengths)} are incompatible."
            )
        self._set(tensor)
        return self if read_value else None

    def assign_add(
        self, delta: Any, use_locking: Any = False, name: str | None = None, read_value: bool = True
    ) -> Variable | None:
        """Add to its value."""
        self._move("add", "AssignAddVariableOp", delta)
        return self if read_value else None

    def assign_sub(
        self, delta: Any, use_locking: Any = False, name: str | None = None, read_value: bool = True
    ) -> Variable | None:
        """Subtract from its value."""
        self._move("subtract", "AssignSubVariableOp", delta)
        return self if read_value else None

    def _move(self, method: str, op: str, delta: Any) -> None:
        settle()
        with paused():
            change = as_tensor(delta, self._of)
            of = Tensor(self._node)
            if change._lengths() != of._lengths():
                mine, given = (
                    f"[{','.join(map(str, tensor._lengths()))}]" for tensor in (of, change)
                )
                raise invalid(
                    f"Cannot update variable with shape {mine} using a Tensor with shape {given}, "
                    f"shapes must be equal. [Op:{op}] name: "
                )
            self._set(METHODS[method](of, change), is_new=True)

    def count_up_to(self, limit: int) -> Tensor:
        """Its value, which is then one more."""
        before = Tensor(self._node)
        if int(before) >= limit:
            raise OutOfRangeError(None, None, f"Reached limit of {limit}")
        self.assign_add(1)
        return before

    def __getitem__(self, key: Any) -> VariableSlice:
        part = getitem(self, key)
        return VariableSlice(part._node, self, key)

    def __iter__(self) -> Iterator[Tensor]:
        return iter(self._to_tensor())

    def __iadd__(self, other: Any) -> Any:
        raise _in_place("+", "assign_add")

    def __isub__(self, other: Any) -> Any:
        raise _in_place("-", "assign_sub")

    def __imul__(self, other: Any) -> Any:
        raise _in_place("*", "assign", "var * value")

    def __itruediv__(self, other: Any) -> Any:
        raise _in_place("/", "assign", "var / value")

    def __ipow__(self, other: Any, modulo: Any = None) -> Any:
        raise _in_place("**", "assign", "var ** value")

    def __setitem__(self, key: Any, value: Any) -> None:
        raise TypeError("'ResourceVariable' object does not support item assignment")

    def __deepcopy__(self, memo: Any) -> Variable:
        copied = Variable(
            self._value(),
            trainable=self._trainable,
            name=self._stem,
            dtype=self._of,
            shape=self._declared,
        )
        memo[id(self)] = copied
        return copied

    def __repr__(self) -> str:
        value = shown(self._value(), self._of)
        text = repr(value) if isinstance(value, np.ndarray) else str(value)
        if "\n" in text:
            text = f"\n{text}"
        return (
            f"<tf.Variable '{self.name}' shape={self.shape} dtype={self.dtype.name}, numpy={text}>"
        )


def _in_place(operator: str, method: str, value: str = "value") -> RuntimeError:
    return RuntimeError(
        f"a variable refuses `{operator}=`; call its `{method}({value})` to change it, or write "
        f"`variable {operator} value` for a new tensor"
    )


def convert_to_tensor(
    value: Any,
    dtype: Any = None,
    dtype_hint: Any = None,
    name: str | None = None,
    preferred_dtype: Any = None,
) -> Tensor:
    """Anything that is an array, as a tensor; of a variable, what it is now."""
    return as_tensor(
        value.read_value() if isinstance(value, Variable) else value,
        dtype,
        dtype_hint,
        name,
        preferred_dtype,
    )


# What ``type(x).__name__`` is in TensorFlow.
Variable.__name__ = "ResourceVariable"
