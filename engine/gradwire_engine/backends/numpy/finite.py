"""Whether outputs are finite, as quickly as they can be read."""

from __future__ import annotations

from cmath import isfinite
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradwire_engine.backends.numpy.quiet import quiet
from gradwire_engine.tape import ArrayType, Type

#: Most outputs for which it pays to write code, and most elements of these.
_FEW, _SMALL = 20, 4096


def all_finite(outputs: Sequence[Any]) -> bool:
    """Whether there is neither NaN nor infinity."""
    return all(quiet.run(_finite, x) if x.ndim else isfinite(x) for x in outputs)


def verdict(results: Sequence[tuple[str, Type]], bind: Callable[..., str]) -> str:
    """Code for a few small ``results`` of these names and types, true only if they are finite.

    A sum of numbers, or of their squares, is finite only if all of them are; it may overflow. BLAS
    adds squares up sooner than NumPy looks at elements.
    """
    terms: list[str] = []
    for name, kind in results:
        if not isinstance(kind, ArrayType) or kind.size > _SMALL:
            return "False"
        if kind.differentiable:
            square = (
                f"{bind(_square, 'square')}({name})" if kind.ndim > 1 else f"{name}.dot({name})"
            )
            terms.append(square if kind.shape else name)
    if len(terms) > _FEW:
        return "False"
    return f"{bind(isfinite, 'isfinite')}({' + '.join(terms)})" if terms else "True"


def _finite(x: Any) -> bool:
    """The same of an array's elements, which tell where their sum overflows."""
    if x.dtype.kind not in "fc":
        return True
    total = _square(x) if x.flags.forc else np.add.reduce(x, None)
    return isfinite(total) or bool(np.isfinite(x).all())


def _square(x: Any) -> Any:
    """The sum of squares."""
    flat = x.ravel("K")
    return flat.dot(flat)
