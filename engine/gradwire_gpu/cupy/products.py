"""Contractions by cuBLAS, also while a graph is captured, which CuPy's own calls refuse.

Row-major matrices are column-major ones transposed: ``z = x y`` is computed as ``z' = y' x'``.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from gradwire_engine.backends.devices import MatmulPrecision
from gradwire_engine.ops.linalg.contraction import Contract

from gradwire_gpu.cupy.device import Device

#: cuBLAS's numbers of dtypes, bfloat16 among them as bits, and those of the types that it computes
#: with.
_TYPES = {"e": 2, "H": 14, "f": 0, "d": 1, "F": 4, "D": 5}
_COMPUTES = {"f": 68, "d": 70, "F": 68, "D": 70}
#: That which may round factors of single precision to TF32.
_ROUNDING = 77
#: The types of factors, which are of the types that are computed with.
_FACTORS: dict[str, Any] = {"d": ctypes.c_double * 1, "D": ctypes.c_double * 2}
_FACTORS |= {"f": ctypes.c_float * 1, "F": ctypes.c_float * 2}
#: Memory that cuBLAS computes in: as much as it may want on any GPU so far.
WORKSPACE_BYTES = 32 << 20
_PLAIN, _TRANSPOSED = 0, 1
#: The type of sizes, which in the older functions of cuBLAS are below 2^31.
_Size = ctypes.c_int64
#: Rows and columns that a processor computes together, and so many of these that all are busy.
_TILE, _BUSY_TILES = 64, 64
#: Products of an element that are worth being added up in parts, most parts, and the least of one.
_LONG, _MOST_PARTS, _SHORTEST = 1 << 14, 2048, 256
_DEFAULT_ALGORITHM = -1


class _Matrices(NamedTuple):
    """Matrices in memory, one after the other, each perhaps transposed."""

    array: Any
    turned: bool
    #: Elements from one row to the next, and from one matrix to the next.
    row: int
    stride: int


class Products:
    """cuBLAS on a device, with a handle and memory of its own.

    Factors of single precision may be rounded to ``precision``; sums are of single precision.
    """

    def __init__(self, device: Device, precision: MatmulPrecision = "float32") -> None:
        self._device = device
        self.precision = precision
        #: By the dtypes of factors: those of halves are not rounded.
        self._computes = _COMPUTES | dict.fromkeys("eH", _COMPUTES["f"])
        if precision != "float32":
            self._computes |= dict.fromkeys("fF", _ROUNDING)
        self._vectors: dict[tuple[int, str], Any] = {}

    @cached_property
    def _library(self) -> Any:
        """The library that CuPy has loaded."""
        cupy = self._device.cupy
        cupy.cuda.device.get_cublas_handle()
        major = cupy.cuda.runtime.runtimeGetVersion() // 1000
        return ctypes.CDLL(f"libcublas.so.{major}")

    @cached_property
    def _handle(self) -> ctypes.c_void_p:
        handle = ctypes.c_void_p()
        self._call("cublasCreate_v2", ctypes.byref(handle))
        self._call("cublasSetStream_v2", handle, ctypes.c_void_p(self._device.stream.ptr))
        pointer, size = ctypes.c_void_p(self._workspace.ptr), ctypes.c_size_t(WORKSPACE_BYTES)
        self._call("cublasSetWorkspace_v2", handle, pointer, size)
        return handle

    @cached_property
    def _workspace(self) -> Any:
        return self._device.cupy.cuda.alloc(WORKSPACE_BYTES)

    def _call(self, name: str, *args: Any) -> None:
        status = getattr(self._library, name)(*args)
        if status:
            raise RuntimeError(f"{name} failed with status {status}")

    def prepare(self) -> None:
        """Make the handle: it takes memory, which nothing does that is captured."""
        _ = self._handle

    def contract(self, op: Contract, x: Any, y: Any) -> Any:
        """A contraction of two arrays of one dtype."""
        lengths = op.lengths(x.shape, y.shape)
        if x.dtype.char not in _COMPUTES or not math.prod(lengths.values()):
            return self._device.cupy.einsum(op.subscripts, x, y)
        return self._contract(op, x, y, x.dtype.char)

    def contract_halves(self, op: Contract, x: Any, y: Any) -> Any:
        """One of float16, or of bits of bfloat16, added up in float32."""
        return self._contract(op, x, y, "f")

    def _contract(self, op: Contract, x: Any, y: Any, char: str) -> Any:
        """One that gives elements of the dtype ``char``."""
        xp, lengths = self._device.cupy, op.lengths(x.shape, y.shape)
        left, right, result = op.labels
        batch, swapped = _batch(left, right, result)
        if swapped:
            return self._contract(op.swapped, y, x, char)
        rows, columns = (
            "".join([i for i in result if i in own and i not in batch]) for own in (left, right)
        )
        inner = "".join([i for i in left if i not in result])
        count, m, n, k = (_size(group, lengths) for group in (batch, rows, columns, inner))
        a = self._matrices(x, left, batch, (rows, inner), lengths)
        b = self._matrices(y, right, batch, (inner, columns), lengths)
        z = xp.empty((count, m, n), char)
        parts = _parts(count, m, n, k)
        if parts == 1:
            self._multiply((count, m, n, k), a, b, z, self._computes[a.array.dtype.char])
        else:
            self._multiply_by_parts((count, m, n, k), parts, a, b, z)
        made = batch + rows + columns
        z = z.reshape([lengths[i] for i in made])
        return z if made == result else z.transpose([made.index(i) for i in result])

    def _matrices(
        self,
        x: Any,
        labels: str,
        batch: str,
        groups: tuple[str, str],
        lengths: Mapping[str, int],
    ) -> _Matrices:
        """An array as matrices whose rows and columns are ``groups`` of axes."""
        first, second = groups
        turned = labels.endswith(second + first) and not labels.endswith(first + second)
        own = "".join([i for i in batch if i in labels])
        order = own + (second + first if turned else first + second)
        if labels != order:
            x = x.transpose([labels.index(i) for i in order])
        array = self._device.cupy.ascontiguousarray(x)
        row = _size(first if turned else second, lengths)
        return _Matrices(array, turned, row, _size(first + second, lengths) if own else 0)

    def _multiply_by_parts(
        self, sizes: Sequence[int], parts: int, a: _Matrices, b: _Matrices, z: Any
    ) -> None:
        """Few elements, each of many products, which would keep few processors busy."""
        xp, (count, m, n, k) = self._device.cupy, sizes
        each = k // parts
        steps = each * (a.row if a.turned else 1), each * (1 if b.turned else b.row)
        sums = xp.empty((count, parts, m, n), z.dtype)
        for number in range(count):
            own = [
                x._replace(array=x.array.reshape(-1)[number * x.stride :], stride=step)
                for x, step in zip((a, b), steps, strict=True)
            ]
            sizes = parts, m, n, each
            self._multiply(sizes, own[0], own[1], sums[number], self._computes[a.array.dtype.char])
        ones = _Matrices(self._ones(parts, z.dtype), False, parts, 0)
        terms = _Matrices(sums, False, m * n, parts * m * n)
        self._multiply((count, 1, m * n, parts), ones, terms, z, _COMPUTES[z.dtype.char])

    def _ones(self, count: int, dtype: Any) -> Any:
        """A vector of ones, which stays in memory."""
        key = count, dtype.char
        if key not in self._vectors:
            self._vectors[key] = self._device.copied(np.ones(count, dtype))
        return self._vectors[key]

    def _multiply(
        self, sizes: Sequence[int], a: _Matrices, b: _Matrices, z: Any, computes: int
    ) -> None:
        count, m, n, k = sizes
        factor = _FACTORS[z.dtype.char]
        one, nothing = factor(1), factor(0)
        self._call(
            "cublasGemmStridedBatchedEx_64",
            self._handle,
            *[_TRANSPOSED if each.turned else _PLAIN for each in (b, a)],
            *map(_Size, (n, m, k)),
            ctypes.byref(one),
            *_given(b),
            *_given(a),
            ctypes.byref(nothing),
            *_given(_Matrices(z, False, n, m * n)),
            _Size(count),
            computes,
            _DEFAULT_ALGORITHM,
        )


@lru_cache(maxsize=4096)
def _parts(count: int, m: int, n: int, k: int) -> int:
    """In how many parts the products of each element are added up."""
    tiles = count * -(-m // _TILE) * -(-n // _TILE)
    if tiles > _BUSY_TILES or k < _LONG:
        return 1
    most = min(_MOST_PARTS, k // _SHORTEST)
    return next(parts for parts in range(most, 0, -1) if not k % parts)


@lru_cache(maxsize=4096)
def _batch(left: str, right: str, result: str) -> tuple[str, bool]:
    """The labels of the batch, such that the result is made in its own order if it can be.

    Each operand has all of them, or none. Operands are to be swapped if columns come first.
    """
    common = "".join([i for i in result if i in left and i in right])
    for cut in range(len(result) + 1):
        batch, rest = result[:cut], result[cut:]
        whole = all({*batch} <= {*own} or not {*batch} & {*own} for own in (left, right))
        if not whole or not {*common} <= {*batch}:
            continue
        rows, columns = ("".join([i for i in rest if i in own]) for own in (left, right))
        if rest in (rows + columns, columns + rows):
            return batch, rest != rows + columns
    return common, False


def _given(x: _Matrices) -> Sequence[Any]:
    """Matrices as cuBLAS takes them."""
    kind = ctypes.c_int(_TYPES[x.array.dtype.char])
    return ctypes.c_void_p(x.array.data.ptr), kind, _Size(max(x.row, 1)), _Size(x.stride)


def _size(labels: str, lengths: Mapping[str, int]) -> int:
    return math.prod([lengths[i] for i in labels])
