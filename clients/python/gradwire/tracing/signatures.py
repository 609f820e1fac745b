"""Signatures: the structure, shapes and dtypes of arguments, in one pass at every call."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from gradwire.stored import RemoteArray
from gradwire.tracing.structures import is_array_like
from gradwire.trees import Static, children, default_factory

#: The levels' types and keys, the leaves' dtypes and shapes, and all other values themselves.
Signature: TypeAlias = "tuple[Any, ...]"


def signature(
    args: Sequence[Any], kwargs: Mapping[str, Any], numbers: Collection[int] = ()
) -> tuple[list[Any], Signature]:
    """The leaves of arguments, as ``structures.flatten`` has them, and their signature.

    In the positional arguments ``numbers``, an ``int`` is a leaf: the ``float`` that is as large.
    """
    leaves: list[Any] = []
    tokens: list[Any] = [len(args)]
    for i, arg in enumerate(args):
        _walk(arg, leaves, tokens, i in numbers)
    for name, arg in kwargs.items():
        tokens.append(name)
        _walk(arg, leaves, tokens, False)
    return leaves, tuple(tokens)


def _walk(value: Any, leaves: list[Any], tokens: list[Any], numbers: bool) -> None:
    kind = type(value)
    if kind is np.ndarray:
        leaves.append(value)
        tokens += (value.dtype, value.shape)
        if not value.flags.c_contiguous:  # reshape makes a copy then, not a view
            tokens.append(...)
    elif kind is float or kind is complex:
        leaves.append(value)
        tokens.append(kind)
    elif kind is tuple or kind is list:
        tokens += (kind, len(value))
        for part in value:
            _walk(part, leaves, tokens, numbers)
    elif kind is dict:
        tokens += (dict, *value, None)
        for part in value.values():
            _walk(part, leaves, tokens, numbers)
    elif numbers and kind is int:
        leaves.append(float(value))
        tokens.append(float)
    elif kind is int or kind is str or kind is bool or value is None:
        tokens += (kind, value)
    else:
        _walk_other(value, leaves, tokens, numbers)


def _walk_other(value: Any, leaves: list[Any], tokens: list[Any], numbers: bool) -> None:
    if is_array_like(value):
        leaves.append(value)
        if isinstance(value, RemoteArray):
            tokens += (value.dtype, value.shape)
        elif isinstance(value, (float, complex)) and not isinstance(value, np.generic):
            tokens.append(float if isinstance(value, float) else complex)
        else:
            array = np.asarray(value)
            tokens += (array.dtype, array.shape)
            if isinstance(value, np.generic):  # an array without axes is no number
                tokens.append(np.generic)
            if not array.flags.c_contiguous:
                tokens.append(...)
        return
    found = children(value)
    if found is None:
        tokens.append(Static(value))
        return
    keys, parts = found
    tokens += (type(value), tuple(keys), default_factory(value))
    for part in parts:
        _walk(part, leaves, tokens, numbers)
