"""Nested parameters as the vectors that optimisers and samplers work with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradwire.bfloat16 import FLOATING
from gradwire.hidden import plain
from gradwire.tracing.structures import parameter_leaves, unflatten


class Raveled:
    """Parameters nested in any way, as one vector of all their elements.

    Floats keep their dtypes where they are nested again, all else is float64.

    >>> raveled = Raveled({"w": np.zeros((2, 3)), "b": 0.5})
    >>> raveled.vector.shape, raveled.nested(raveled.vector)["w"].shape
    ((7,), (2, 3))
    """

    def __init__(self, like: Any) -> None:
        leaves, self._structure = parameter_leaves(like)
        arrays = [plain(leaf, "x0") for leaf in leaves]
        self._arrays: list[NDArray[Any]] = [
            array if array.dtype.kind in FLOATING else array.astype(np.float64) for array in arrays
        ]
        flat = [np.ravel(array).astype(np.float64) for array in self._arrays]
        #: The elements of the initial parameters.
        self.vector: NDArray[np.float64] = np.concatenate([np.zeros(0), *flat])

    def nested(self, vector: Any) -> Any:
        """The parameters of a vector, recorded or not; leading axes are batch axes."""
        return unflatten(self._structure, self._parts(vector))

    def _parts(self, vector: Any) -> Iterator[Any]:
        start = 0
        for array in self._arrays:
            part = vector[..., start : start + array.size]
            start += array.size
            shaped = part.reshape((*vector.shape[:-1], *array.shape))
            if array.dtype != np.float64:
                shaped = shaped.astype(array.dtype)
            yield shaped[()] if isinstance(shaped, np.ndarray) else shaped  # numbers as such
