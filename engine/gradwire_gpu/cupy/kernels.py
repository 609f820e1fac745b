"""Functions of the array namespace that CuPy has not, or that differ from NumPy's there."""

from __future__ import annotations

import math
from typing import Any

import cupy
import cupyx.scipy.signal
import cupyx.scipy.special

from gradwire_gpu.cupy.indexing import add_rows
from gradwire_gpu.cupy.requirements import require

__all__ = [
    "accumulate",
    "convolve",
    "coo_product",
    "extreme",
    "max",
    "min",
    "random_words",
    "require",
]

#: Multipliers of Philox 4x64, and what its keys grow by in each round.
_MULTIPLIERS = 0xD2E7470EE14C6C93, 0xCA5A826395121157
_GROWTH = 0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B
_ROUNDS = 10
_LOW, _HALF = 0xFFFFFFFF, 32


def extreme(ufunc: Any, x: Any, axes: tuple[int, ...], *, initial: Any = None) -> Any:
    """The largest or smallest elements of ``x`` over ``axes``, by the ``ufunc`` of two."""
    return _reduced(ufunc, x, axes, False, initial)


def max(x: Any, axis: Any = None, *, keepdims: bool = False, initial: Any = None) -> Any:
    """The largest elements; of none, and at least, ``initial``."""
    return _reduced(cupy.maximum, x, axis, keepdims, initial)


def min(x: Any, axis: Any = None, *, keepdims: bool = False, initial: Any = None) -> Any:
    """The smallest elements; of none, and at most, ``initial``."""
    return _reduced(cupy.minimum, x, axis, keepdims, initial)


def _reduced(ufunc: Any, x: Any, axis: Any, keepdims: bool, initial: Any) -> Any:
    reduce = cupy.amax if ufunc is cupy.maximum else cupy.amin
    if initial is None:
        return reduce(x, axis=axis, keepdims=keepdims)
    if not x.size:
        shape = cupy.sum(x, axis=axis, keepdims=keepdims).shape
        return cupy.full(shape, initial, x.dtype)
    return ufunc(reduce(x, axis=axis, keepdims=keepdims), initial)


def accumulate(ufunc: Any, x: Any, axis: int) -> Any:
    """Elements combined by an associative ``ufunc`` with all before along ``axis``.

    Each with the one before, then with what that two before has become, and so on.
    """
    z, step = cupy.moveaxis(x, axis, 0), 1
    while step < len(z):
        z = cupy.concatenate((z[:step], ufunc(z[:-step], z[step:])))
        step *= 2
    return cupy.moveaxis(z, 0, axis)


def convolve(x: Any, y: Any, mode: str = "full") -> Any:
    """The convolution of two vectors, as a sum: a Fourier transform rounds small elements away."""
    return cupyx.scipy.signal.convolve(x, y, mode, method="direct")


def coo_product(rows: int, values: Any, row: Any, column: Any, x: Any) -> Any:
    """A sparse matrix times a dense one, element by element added up in any order.

    Raises: ``IndexError``.
    """
    if row.size:
        inside = (row >= 0).all() & (column >= 0).all() & (column < x.shape[0]).all()
        require(inside, IndexError("an index is out of range"))
    if not x.size:
        return cupy.zeros((rows, x.shape[1]), x.dtype)
    return add_rows((rows, x.shape[1]), row, values[:, None] * x[column])


def polygamma(n: int, x: Any) -> Any:
    """The derivative of order ``n`` of the digamma function, of real numbers.

    Source: DLMF 5.15, 25.11.12.
    """
    special = cupyx.scipy.special
    if n == 0:
        return special.digamma(x)
    return (-1.0) ** (n + 1) * math.factorial(n) * special.zeta(n + 1.0, x)


def random_words(places: Any, count: int) -> Any:
    """``count`` words of Philox 4x64-10 at each place: its key, and the counter's upper words.

    Source: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (2011).
    """
    blocks = cupy.arange(1, -(-count // 4) + 1, dtype="uint64")  # NumPy counts before it draws
    keys = [places[:, i : i + 1] for i in (0, 1)]
    words = [cupy.broadcast_to(blocks, (len(places), blocks.size)), cupy.zeros_like(keys[0])]
    words += [places[:, i : i + 1] for i in (2, 3)]
    for _ in range(_ROUNDS):
        (high, low), (other_high, other_low) = (
            _product(words[i], multiplier)
            for i, multiplier in zip((0, 2), _MULTIPLIERS, strict=True)
        )
        words = [other_high ^ words[1] ^ keys[0], other_low, high ^ words[3] ^ keys[1], low]
        keys = [key + cupy.uint64(grown) for key, grown in zip(keys, _GROWTH, strict=True)]
    return cupy.stack(words, axis=-1).reshape(len(places), -1)[:, :count]


def _product(x: Any, factor: int) -> tuple[Any, Any]:
    """The upper and the lower words of 64 bits of a product."""
    half, low = cupy.uint64(_HALF), cupy.uint64(_LOW)
    top, bottom = cupy.uint64(factor >> _HALF), cupy.uint64(factor & _LOW)
    x_top, x_bottom = x >> half, x & low
    carried = (x_bottom * bottom >> half) + (x_top * bottom & low) + (x_bottom * top & low)
    high = x_top * top + (x_top * bottom >> half) + (x_bottom * top >> half) + (carried >> half)
    return high, x * cupy.uint64(factor)
