"""Half precision: what takes several operations is computed in float32, and rounded once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from gradwire_engine.ops.base import Op
from gradwire_engine.ops.builder import Builder, check_nesting
from gradwire_engine.ops.promotion import BFLOAT16, DTYPES
from gradwire_engine.ops.var import Var
from gradwire_engine.tape import ArrayType, DType

HALVES: tuple[DType, ...] = (DTYPES["float16"], BFLOAT16)
SINGLE = DTYPES["float32"]


def is_half(x: Any) -> bool:
    """True if ``x`` is a variable of half precision."""
    return type(x) is Var and type(x.type) is ArrayType and x.type.dtype in HALVES


def rounded_once(
    b: Builder, record: Callable[..., Any], args: Sequence[Any], named: Mapping[str, Any]
) -> Any:
    """The result of ``record``: of several operations in float32, if one of them rounds.

    Numbers among the arguments, and those of the function itself, are of float32 then, too. What
    must see its dtype is recorded as it is.
    """
    of_half = False
    for x in (*args, *named.values()):
        if isinstance(x, list | tuple):
            check_nesting(x)
            of_half = of_half or any(map(is_half, _leaves(x)))
        elif type(x) is Var and is_half(x):
            of_half = True
    if not of_half:
        return record(b, *args, **named)
    start = len(b.vars)
    with b.aside():
        kinds = [x.type if is_half(x) else None for x in _leaves(record(b, *args, **named))]
        made = [i for i in b.instructions[start:] if i.args or getattr(i.type, "shape", ())]
    rounding = [op for op, _, kind, _ in made if op.rounds and getattr(kind, "dtype", 0) in HALVES]
    of_dtype = any(type(op).in_single is not Op.in_single for op in rounding)
    if not rounding or len(made) < 2 or of_dtype:
        return record(b, *args, **named)
    wide = _mapped(args, in_single), {key: _mapped(x, in_single) for key, x in named.items()}
    following = iter(kinds)

    def rounded(x: Any) -> Any:
        kind = next(following)
        return x if kind is None else b.cast(x, kind.dtype, weak=kind.weak)

    return _mapped(record(b, *wide[0], **wide[1]), rounded)


def in_single(x: Any) -> Any:
    """``x`` in float32, if it is of half precision."""
    return x.builder.cast(x, SINGLE, weak=x.type.weak) if is_half(x) else x


def as_half(bar: Var, x: Var) -> Var:
    """A cotangent of ``x``, of the dtype that ``x`` has if that is half precision."""
    return bar.builder.cast(bar, x.dtype) if is_half(x) else bar


def _leaves(x: Any) -> Iterator[Any]:
    if isinstance(x, list | tuple):
        for item in x:
            yield from _leaves(item)
    else:
        yield x


def _mapped(x: Any, function: Callable[[Any], Any]) -> Any:
    if type(x) in (list, tuple):
        return type(x)([_mapped(item, function) for item in x])
    return function(x)
