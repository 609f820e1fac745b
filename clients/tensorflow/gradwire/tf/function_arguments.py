"""Arguments of a ``tf.function``: as its own tensors, by signature, and fitted to specs."""

from __future__ import annotations

import inspect
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from gradwire.tf import nest
from gradwire.tf.conversion import convert_to_tensor
from gradwire.tf.errors import invalid
from gradwire.tf.nodes import TensorNode, active, known, noticing, record
from gradwire.tf.specs import TensorSpec
from gradwire.tf.tensors import Operand, Tensor
from gradwire.tf.variables import Variable


class Arguments:
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


def fitted_to(signature: Sequence[Any], args: tuple[Any, ...]) -> tuple[Any, ...]:
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


def check_fits(tensor: Tensor, spec: TensorSpec, name: str) -> None:
    """Raise unless a tensor is of the dtype and the shape of a spec."""
    if tensor.dtype != spec.dtype:
        raise invalid(
            f"{name} was expected to be a {spec.dtype.name} tensor but is a {tensor.dtype.name} "
            "tensor"
        )
    if not spec.shape.is_compatible_with(tensor.shape):
        raise invalid(f"{name} was expected to have shape {spec.shape} but has {tensor.shape}")
