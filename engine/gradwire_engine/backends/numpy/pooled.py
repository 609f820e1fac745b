"""Functions that compute large arrays in memory of the pool."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gradwire_engine.backends.numpy.buffers import POOL, POOLED_BYTES
from gradwire_engine.backends.numpy.contraction import lowered
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
    operands = scalars.operands(slot, names)
    out = f"{text.bind(POOL.empty, 'pooled')}({kind.shape}, {text.bind(kind.dtype)})"
    if isinstance(op, Contract):
        x, y = scalars.operand_types(slot)
        how = lowered(op, x.shape, y.shape, x.dtype.kind)
        return how.text(text.bind, out).format(*operands) if how.writes else ""
    function = ufunc_of(op)
    if function is None:
        return ""
    return f"{text.bind(function, f'w_{function.__name__}')}({', '.join(operands)}, out={out})"


def pooled_function(op: Op, kind: Type) -> Callable[..., Any] | None:
    """A function that computes an array of type ``kind`` in pooled memory, if ``op`` allows it."""
    if not isinstance(kind, ArrayType):
        return None
    if isinstance(op, Contract):

        def contract(x: Any, y: Any) -> Any:
            how = lowered(op, x.shape, y.shape, x.dtype.kind)
            return how(x, y, POOL.empty(kind.shape, kind.dtype) if how.writes else None)

        return contract
    function = ufunc_of(op)
    if function is None:
        return None
    return lambda *operands: function(*operands, out=POOL.empty(kind.shape, kind.dtype))
