"""Arrays with some elements, or some slices, and zeros elsewhere."""

from __future__ import annotations

import math
from dataclasses import dataclass
from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gradwire.errors import UsageError
from gradwire.hidden import check_hides_nothing
from gradwire.usage import used

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

    def __post_init__(self) -> None:
        with used("a sparse array"):
            check_hides_nothing(self.values, "the values of a sparse array")
            rows = len(getattr(self.indices, "shape", ()))
            is_whole = hasattr(self.values, "shape") and all(n >= 0 for n in map(index, self.shape))
        if rows != 2 or not is_whole:
            raise UsageError(
                "a sparse array needs an array of indices with two axes, an array of values, and a "
                "shape",
                hint="SparseArray.from_scipy(array) makes one of an array of SciPy's",
            )

    @classmethod
    def from_scipy(cls, array: Any) -> SparseArray:
        """The elements of one of SciPy's sparse arrays or matrices, of any format."""
        with used("a sparse array of SciPy's"):
            coo = array.tocoo()
            return cls(np.stack(coo.coords, axis=-1).astype(np.int64), coo.data, coo.shape)

    def toarray(self) -> NDArray[Any]:
        """The dense array."""
        ahead = self.indices.shape[1]
        strides = [math.prod(self.shape[axis + 1 : ahead]) for axis in range(ahead)]
        with used("the elements of a sparse array"):
            size = math.prod(self.shape[:ahead])
            whole = np.zeros((size, *self.shape[ahead:]), self.values.dtype)
            np.add.at(whole, self.indices @ np.array(strides, np.int64), self.values)
            return whole.reshape(self.shape)

    def to_scipy(self) -> coo_array:
        """The same for SciPy, which has to be installed; slices element by element."""
        from scipy.sparse import coo_array  # noqa: PLC0415 - SciPy is optional

        within = np.argwhere(np.ones(self.values.shape[1:], bool))
        rows = np.repeat(self.indices, len(within), axis=0)
        coordinates = np.hstack([rows, np.tile(within, (len(self.indices), 1))])
        return coo_array((self.values.ravel(), tuple(coordinates.T)), shape=self.shape)
