"""Jacobians and Hessians as matrices of blocks, a band of rows or columns for each source."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradwire.display.figures import digits
from gradwire.display.request_view import RequestView
from gradwire.display.rows import rows
from gradwire.results import Hessian, Jacobian, Result
from gradwire.sparse import SparseArray
from gradwire.trees import MISSING

#: Largest side of a matrix whose eigenvalues are computed.
MOST_DECOMPOSED = 200


@dataclass(frozen=True, slots=True)
class Band:
    """Rows or columns that belong together."""

    path: str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """The number of rows or columns."""
        return math.prod(self.shape)


@dataclass(frozen=True, slots=True)
class Matrix:
    """A matrix of blocks."""

    name: str
    rows: Sequence[Band]
    columns: Sequence[Band]
    #: By the paths of row and column; missing blocks have no entry.
    blocks: Mapping[tuple[str, str], Any]

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns."""
        return sum(band.size for band in self.rows), sum(band.size for band in self.columns)

    def whole(self) -> NDArray[Any]:
        """The dense matrix; missing blocks are NaN."""
        return np.block(
            [[self._dense(row, column) for column in self.columns] for row in self.rows]
        )

    def note(self) -> str:
        """Its size, and the least and greatest eigenvalue of a Hessian that is not too large."""
        size = "{:,} × {:,}".format(*self.shape)
        if self.name != "hessian" or max(self.shape) > MOST_DECOMPOSED:
            return size
        whole = self.whole()
        if whole.shape[0] != whole.shape[1] or np.iscomplexobj(whole):
            return size
        if len(whole) < 2 or not np.isfinite(whole).all():
            return size
        scale = float(np.abs(whole).max()) or 1.0  # so that no sum overflows
        values = np.linalg.eigvalsh(whole / scale + whole.T / scale) / 2
        ends = " … ".join(digits(float(values[end]) * scale) for end in (0, -1))
        return f"{size}, eigenvalues {ends}"

    def _dense(self, row: Band, column: Band) -> NDArray[Any]:
        shape, block = (row.size, column.size), self.blocks.get((row.path, column.path))
        if block is None:
            return np.full(shape, np.nan)
        dense = block.toarray() if isinstance(block, SparseArray) else np.asarray(block)
        return dense.reshape(shape)


def matrix_of(result: Result, request: RequestView) -> Matrix | None:
    """The matrix of an answer, if it has one with any elements."""
    names = request.names("sources")
    if isinstance(result, Jacobian):
        target = request.names("target")
        label = target if isinstance(target, str) else "value"
        outer: list[tuple[str, Mapping[str, Any]]] = [
            (label, {"value": result.value, "row": result.jacobian})
        ]
    elif isinstance(result, Hessian):
        outer = list(rows({"value": result.gradients, "row": result.hessian}, names))
    else:
        return None
    bands: list[Band] = []
    columns: dict[str, Band] = {}
    blocks: dict[tuple[str, str], Any] = {}
    for path, leaves in outer:
        if leaves["value"] is None:
            continue
        bands.append(Band(path, np.shape(leaves["value"])))
        for inner, parts in rows({"block": leaves["row"]}, names):
            block = parts["block"]
            if block is not None and block is not MISSING:
                columns[inner] = Band(inner, block.shape[len(bands[-1].shape) :])
                blocks[path, inner] = block
    kind = type(result).__name__.lower()
    matrix = Matrix(kind, bands, list(columns.values()), blocks)
    return None if 0 in matrix.shape else matrix


def element_names(bands: Sequence[Band]) -> list[str]:
    """The name of each row or column: ``w[0,1]``."""
    names = []
    for band in bands:
        indices = (f"[{','.join(map(str, index))}]" for index in product(*map(range, band.shape)))
        names += [band.path + (index if band.shape else "") for index in indices]
    return names
