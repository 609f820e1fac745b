"""Arrays whose rows differ in length."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradwire.errors import UsageError
from gradwire.hidden import check_hides_nothing
from gradwire.usage import used


@dataclass(frozen=True, slots=True, eq=False)
class RaggedArray:
    """Row ``i`` is ``values[row_splits[i]:row_splits[i + 1]]``.

    >>> rows = RaggedArray.of([[1.0, 2.0], [], [3.0]])
    >>> len(rows), rows.row_splits, rows[0]
    (3, array([0, 2, 2, 3]), array([1., 2.]))
    """

    values: NDArray[Any]
    row_splits: NDArray[np.int64]

    def __post_init__(self) -> None:
        with used("a ragged array"):
            axes = len(getattr(self.row_splits, "shape", ()))
            is_whole = axes == 1 and hasattr(self.values, "shape")
        if not is_whole:
            raise UsageError(
                "a ragged array needs an array of values and one row of row_splits",
                hint="RaggedArray.of(rows) makes one of its rows",
            )

    @classmethod
    def of(cls, rows: Sequence[NDArray[Any] | Sequence[Any]]) -> RaggedArray:
        """An array of these rows; as in all variables, Python's numbers are float64."""
        with used("the rows of a ragged array"):
            return cls._of(rows)

    @classmethod
    def _of(cls, rows: Sequence[NDArray[Any] | Sequence[Any]]) -> RaggedArray:
        for row in rows:
            check_hides_nothing(row, "a row")
        arrays = [r if isinstance(r, np.ndarray) else np.asarray(r, np.float64) for r in rows]
        splits = np.cumsum([0, *map(len, arrays)])
        return cls(np.concatenate([a for a in arrays if len(a)] or [np.zeros(0)]), splits)

    def __len__(self) -> int:
        return len(self.row_splits) - 1

    def __getitem__(self, index: int) -> NDArray[Any]:
        start, stop = self.row_splits[range(len(self))[index] :][:2]
        return self.values[start:stop]

    def __iter__(self) -> Iterator[NDArray[Any]]:
        return (self[i] for i in range(len(self)))
