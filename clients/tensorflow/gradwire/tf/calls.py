"""Calls of operations, which return tensors.

``call`` writes an operation of the language; what its result will be, its dtype and shape, is said
by a ``Spec`` where it is known here, so that nothing need be fetched to go on and mistakes are
raised where they are made.

>>> call("tf.reduce_sum", x, axis=0, spec=Spec(x.dtype, (3,)))
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradwire.frontends import Leaf, Term, call_arguments, printed
from gradwire.tf.conversion import array_of, convert_to_tensor
from gradwire.tf.dtypes import DType, of_numpy, string
from gradwire.tf.errors import invalid
from gradwire.tf.fetching import fetch
from gradwire.tf.nodes import LONGEST_CHAIN, UNKNOWN, Spec, TensorNode, noticing, part_of, record
from gradwire.tf.shapes import TensorShape
from gradwire.tf.tensors import Operand, Tensor

#: Numbers that are written with no more characters than this are part of a program; longer ones
#: were computed, and are values that it is given: so it is the same program next time.
LONGEST_LITERAL: int = 8


def call(
    function: str, *args: Any, spec: Spec = UNKNOWN, now: bool = False, **kwargs: Any
) -> Tensor:
    """``function(*args, **kwargs)`` of the language; fetched ``now`` where it may be refused."""
    return finished(TensorNode(function, *call_arguments(args, kwargs, operand), spec), now)


def calls(
    function: str, *args: Any, specs: Sequence[Spec], now: bool = False, **kwargs: Any
) -> list[Tensor]:
    """The tensors of a call of a function that gives several values."""
    whole = TensorNode(function, *call_arguments(args, kwargs, operand))
    key = _kind(whole)
    found = list(specs)
    unknown = not now and not all(map(_is_complete, found))
    if unknown and key in _specs:
        found, unknown = _specs[key], False
    record(whole)
    parts = [Tensor(record(part_of(whole, i, spec))) for i, spec in enumerate(found)]
    if whole.scope is None and (now or unknown):
        nodes = [part._node for part in parts]
        fetch(nodes)
        if unknown:
            _learn(key, nodes)
    return parts


def finished(node: TensorNode, now: bool = False) -> Tensor:
    """The tensor of an operation."""
    result = Tensor(node)
    key = None
    unknown = not now and (node.dtype is None or node.shape is None)
    if unknown:
        key = _kind(node)
        learned = _specs.get(key)
        if learned is not None:
            node.dtype, node.shape = learned[0]
            unknown = False
    record(node)
    if node.scope is None and (now or unknown or node.depth > LONGEST_CHAIN):
        fetch([node])
        if unknown:
            _learn(key, [node])
    return result


#: Specs that were learned from results, by the operation's text and its operands' specs.
_specs: dict[Any, list[Spec]] = {}
LONGEST_MEMORY: int = 4096
#: Numbers that are too long to be written, by their type, text and dtype.
_numbers: dict[tuple[type, str, str], TensorNode] = {}


def _is_complete(spec: Spec) -> bool:
    return spec.dtype is not None and spec.shape is not None


def _kind(node: TensorNode) -> Any:
    """A key that determines an operation's dtype and shape; ``None`` where values may."""
    operands: list[Spec] = []
    for each in node.operands:
        if isinstance(each, Leaf):
            operands.append(Spec(of_numpy(each.value.dtype), each.value.shape))
        elif isinstance(each, TensorNode):
            operands.append(each.spec)
        else:
            return None
    for dtype, shape in operands:
        if dtype is None or shape is None or not dtype.is_differentiable:
            return None
    return printed(node, lambda _: "?"), tuple(operands)


def _learn(kind: Any, nodes: list[TensorNode]) -> None:
    if kind is None:
        for run in noticing():
            run.note_shapes(nodes)
    else:
        if len(_specs) >= LONGEST_MEMORY:
            _specs.clear()
        _specs[kind] = [node.spec for node in nodes]


def operand(value: Any) -> Term | None:
    """The term that computes an argument; ``None`` for one that is written out."""
    if isinstance(value, Operand) or hasattr(value, "_to_tensor"):
        node = convert_to_tensor(value)._node
        if node.dtype == string:
            raise invalid("there is no such operation on string tensors")
        return node
    if isinstance(value, Term):
        return value
    if isinstance(value, (np.ndarray, np.generic)):
        return Leaf(np.asarray(value))
    return None


def argument(value: Any, dtype: DType | None = None) -> Tensor | int | float | complex:
    """An operand beside others of a dtype: a short number is written into the program."""
    if isinstance(value, (int, float, complex)) and not isinstance(value, (bool, np.generic)):
        if dtype is None or dtype.name in ("bool", "string"):
            return convert_to_tensor(value, dtype)
        is_held = isinstance(value, (int, float)) and dtype.is_floating
        held = value if is_held else array_of(value, dtype)  # it may be refused
        wraps = isinstance(value, int) and dtype.is_integer and held != value
        if len(repr(value)) <= LONGEST_LITERAL and _is_finite(value) and not wraps:
            return value
        return number(value, dtype)
    if isinstance(value, Operand):
        return convert_to_tensor(value)
    return convert_to_tensor(value, dtype)


def number(value: complex, dtype: DType) -> Tensor:
    """A number as a tensor: the same for all places where it stands, so it is sent once."""
    key = type(value), repr(value), dtype.name
    found = _numbers.get(key)
    if found is None:
        if len(_numbers) >= LONGEST_MEMORY:
            _numbers.clear()
        found = _numbers[key] = convert_to_tensor(value, dtype)._node
    return Tensor(found)


def shape_of(value: Any) -> tuple[int, ...] | None:
    """An argument's shape where it is known without asking."""
    if isinstance(value, Tensor):
        return value._node.shape
    return () if isinstance(value, (int, float, complex)) else tuple(np.shape(value))


def integers(value: Any) -> list[int]:
    """A shape or list of axes, given as numbers, a tensor or a ``TensorShape``."""
    if isinstance(value, TensorShape):
        return [int(length) for length in value.as_list() if length is not None]
    if isinstance(value, Operand):
        return [int(item) for item in np.atleast_1d(value._value()).tolist()]
    if isinstance(value, (int, np.integer)):
        return [int(value)]
    return [int(item) for item in value]


def _is_finite(value: complex) -> bool:
    return math.isfinite(value.real) and math.isfinite(value.imag)
