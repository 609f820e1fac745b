"""Looks for outputs that are not finite, as soon as they are computed."""

from __future__ import annotations

from cmath import isfinite
from collections.abc import Callable, Collection, Sequence
from typing import Any, TypeAlias

from gradwire_engine.backends.finite import sum_of_squares
from gradwire_engine.tape import ArrayType, Type

#: Those of the outputs that are not known to be finite, given the values and the outputs.
Unsure: TypeAlias = Callable[[list[Any], tuple[Any, ...]], tuple[Any, ...]]
#: Most outputs at which it pays to look, and most elements of these.
_FEW, _SMALL = 20, 4096


def unsure(
    kinds: Sequence[Type], checked: Collection[int] = (), flags: Sequence[int] = ()
) -> Unsure:
    """A function that gives the outputs, of these ``kinds``, that are not known to be finite.

    These are the ones that are not small. All of them are, unless a sum over the small ones is
    finite, which it is only if they are. Outputs of the numbers ``checked`` were looked at where
    they were made: they are finite if the values at the places ``flags`` are.
    BLAS adds up squares sooner than NumPy looks at elements.
    """
    scalars: list[int] = []
    vectors: list[int] = []
    arrays: list[int] = []
    left: list[int] = []
    for number, kind in enumerate(kinds):
        if number in checked:
            continue
        few = len(scalars) + len(vectors) + len(arrays) < _FEW
        if not isinstance(kind, ArrayType) or kind.size > _SMALL or not few:
            left.append(number)
        elif kind.differentiable:
            (scalars if not kind.shape else vectors if kind.ndim == 1 else arrays).append(number)

    if len(flags) == 1 and not (scalars or vectors or arrays or left):
        (flag,) = flags
        return lambda values, outputs: () if isfinite(values[flag]) else outputs

    def found(values: list[Any], outputs: tuple[Any, ...]) -> tuple[Any, ...]:
        total = 0.0
        for place in flags:
            total += values[place]
        for number in scalars:
            total += outputs[number]
        for number in vectors:
            x = outputs[number]
            total += x.dot(x)
        for number in arrays:
            total += sum_of_squares(outputs[number])
        if not isfinite(total):
            return outputs
        return tuple([outputs[number] for number in left]) if left else ()

    return found
