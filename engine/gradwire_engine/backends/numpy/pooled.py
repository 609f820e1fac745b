"""Functions that compute large arrays in memory of the pool."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from gradwire_engine.backends.numpy.buffers import POOL, POOLED_BYTES
from gradwire_engine.backends.numpy.contraction import as_matmul
from gradwire_engine.backends.numpy.emit import ufunc_of
from gradwire_engine.backends.numpy.scalars import Scalars
from gradwire_engine.backends.numpy.text import Text
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.linalg.contraction import Contract
from gradwire_engine.tape import ArrayType, Type


def pooled_code(slot: int, op: Op, names: Mapping[int, str], scalars: Scalars, text: Text) -> str:
    """Code that computes a large array in memory of the pool, if the operation allows it."""
    kind = scalars.type(slot)
    if not isinstance(kind, ArrayType) or kind.nbytes < POOLED_BYTES:
        return ""
    function = writing(op)
    if function is None:
        return ""
    operands = written_operands(op, scalars.operands(slot, names))
    out = f"{text.bind(POOL.empty, 'pooled')}({kind.shape}, {text.bind(kind.dtype)})"
    return f"{text.bind(function, f'w_{function.__name__}')}({', '.join(operands)}, out={out})"


def pooled_function(op: Op, kind: Type) -> Callable[..., Any] | None:
    """A function that computes an array of type ``kind`` in pooled memory, if ``op`` allows it."""
    function = writing(op)
    if function is None or not isinstance(kind, ArrayType):
        return None

    turns = as_matmul(op) if isinstance(op, Contract) else None

    def into(*operands: Any) -> Any:
        if turns is not None:
            operands = tuple([x.T if turn else x for x, turn in zip(operands, turns, strict=True)])
        return function(*operands, out=POOL.empty(kind.shape, kind.dtype))

    return into


def writing(op: Op) -> Any:
    """NumPy's function that is the kernel, if it takes an array for its result."""
    if isinstance(op, Contract):
        return None if as_matmul(op) is None else np.matmul
    return ufunc_of(op)


def written_operands(op: Op, names: Sequence[str]) -> list[str]:
    """The code of the operands of the function that writes."""
    turns = as_matmul(op) if isinstance(op, Contract) else None
    return [*map("".join, zip(names, turns, strict=True))] if turns else [*names]
