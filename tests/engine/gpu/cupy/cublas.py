"""cuBLAS as far as it is called, computed by NumPy in the memory of a simulated GPU."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np

#: The bytes from an address to the end of its allocation.
Memory: TypeAlias = Callable[[int], np.ndarray[Any, Any]]
#: By cuBLAS's numbers.
_DTYPES = {2: "e", 14: ml_dtypes.bfloat16, 0: "f", 1: "d", 4: "F", 5: "D"}
#: Digits of single precision that TF32 has not.
_LOST = 13


def _rounded(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Numbers of single precision rounded to TF32."""
    bits = np.ascontiguousarray(x).view(np.uint32)
    half = ((1 << _LOST - 1) - 1 + (bits >> _LOST & 1)).astype(np.uint32)
    return ((bits + half) >> _LOST << _LOST).view(x.dtype)


class Cublas:
    """What is called of cuBLAS: column-major products of matrices, one after the other."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._streams: dict[int, Any] = {}

    def cublasCreate_v2(self, handle: Any) -> int:  # noqa: N802
        """Make a handle."""
        handle._obj.value = 1
        return 0

    def cublasSetStream_v2(self, handle: ctypes.c_void_p, stream: ctypes.c_void_p) -> int:  # noqa: N802
        """Work in order with a stream."""
        assert handle.value is not None
        assert stream.value is not None
        found = ctypes.cast(stream, ctypes.py_object).value
        self._streams[handle.value] = found
        return 0

    def cublasSetWorkspace_v2(self, _: Any, memory: ctypes.c_void_p, size: ctypes.c_size_t) -> int:  # noqa: N802
        """Take memory."""
        assert memory.value is not None
        assert self._memory(memory.value).nbytes >= size.value
        return 0

    def cublasGemmStridedBatchedEx_64(self, handle: ctypes.c_void_p, *given: Any) -> int:  # noqa: N802
        """``C = alpha op(A) op(B) + beta C``, for each matrix of a batch."""
        turned_a, turned_b, *sizes, alpha = given[:6]
        of_a, of_b, beta, of_c = given[6:10], given[10:14], given[14], given[15:19]
        wide_count, computes, _ = given[19:]
        # ctypes passes a plain number as 32 bits
        m, n, k, count = (size.value for size in (*sizes, wide_count))
        assert handle.value is not None
        assert alpha._obj[0] == 1
        assert beta._obj[0] == 0
        wide = np.dtype(_DTYPES[of_c[1].value])
        assert of_a[1].value == of_b[1].value
        assert of_a[1].value == of_c[1].value or of_a[1].value in (2, 14)
        assert {68: "fF", 70: "dD", 77: "fF"}[computes].find(wide.char) >= 0
        rounds = computes == 77
        assert not rounds or of_a[1].value == of_c[1].value
        a = self._matrices(of_a, (k, m) if turned_a else (m, k), count)
        b = self._matrices(of_b, (n, k) if turned_b else (k, n), count)
        c = self._matrices(of_c, (m, n), count)

        def multiply() -> None:
            left, right = a.swapaxes(1, 2) if turned_a else a, b.swapaxes(1, 2) if turned_b else b
            with np.errstate(all="ignore"):
                factors = [x.astype(wide) for x in (left, right)]
                c[...] = np.matmul(*map(_rounded, factors) if rounds else factors)

        self._streams[handle.value].add(multiply)
        return 0

    def _matrices(self, given: Sequence[Any], shape: tuple[int, int], count: int) -> Any:
        pointer, kind, leading, stride = given
        dtype = np.dtype(_DTYPES[kind.value])
        leading = leading.value
        assert leading >= shape[0]
        needed = ((shape[1] - 1) * leading + shape[0] + (count - 1) * stride.value) * dtype.itemsize
        memory = self._memory(pointer.value)
        assert memory.nbytes >= needed
        flat = memory[: memory.nbytes // dtype.itemsize * dtype.itemsize].view(dtype)
        steps = [x * dtype.itemsize for x in (stride.value, 1, leading)]
        return np.lib.stride_tricks.as_strided(flat, (count, *shape), steps)
