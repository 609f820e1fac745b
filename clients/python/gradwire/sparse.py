"""Arrays with some elements, or some slices, and zeros elsewhere."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy.sparse import coo_array


@dataclass(frozen=True, slots=True, eq=False)
class SparseArray:
    """``values`` at ``indices`` of an array of ``shape`` that is zero elsewhere; repeats add up.

    A row of ``indices`` is of the first axes, and each of ``values`` has what axes are left:
    elements where it is of all axes, else slices.

    >>> SparseArray(np.array([[0, 1], [2, 0]]), np.array([5.0, 7.0]), (3, 2)).toarray()
    array([[0., 5.],
           [0., 0.],
           [7., 0.]])
    """

    indices: NDArray[np.int64]
    values: NDArray[Any]
    shape: tuple[int, ...]

    @classmethod
    def from_scipy(cls, array: Any) -> SparseArray:
        """The elements of one of SciPy's sparse arrays or matrices, of any format."""
        coo = array.tocoo()
        return cls(np.stack(coo.coords, axis=-1).astype(np.int64), coo.data, coo.shape)

    def toarray(self) -> NDArray[Any]:
        """The dense array."""
        ahead = self.indices.shape[1]
        strides = [math.prod(self.shape[axis + 1 : ahead]) for axis in range(ahead)]
        whole = np.zeros((math.prod(self.shape[:ahead]), *self.shape[ahead:]), self.values.dtype)
        np.add.at(whole, self.indices @ np.array(strides, np.int64), self.values)
        return whole.reshape(self.shape)

    def to_scipy(self) -> coo_array:
        """The same for SciPy, which has to be installed; slices element by element."""
        from scipy.sparse import coo_array  # noqa: PLC0415 - SciPy is optional

        within = np.argwhere(np.ones(self.values.shape[1:], bool))
        rows = np.repeat(self.indices, len(within), axis=0)
        coordinates = np.hstack([rows, np.tile(within, (len(self.indices), 1))])
        return coo_array((self.values.ravel(), tuple(coordinates.T)), shape=self.shape)
