"""Jacobians and Hessians as matrices of blocks, a band of rows or columns for each source."""

from __future__ import annotations

import math
from collections.abc import Mapping
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

#: Largest side of a matrix whose eigenvalues or singular values are computed.
MOST_DECOMPOSED = 200


@dataclass(frozen=True, slots=True)
class Band:
    """Rows or columns that belong together."""

    label: str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """The number of rows or columns."""
        return math.prod(self.shape)

    def elements(self) -> list[str]:
        """The name of each: ``w[0,1]``."""
        if not self.shape:
            return [self.label]
        indices = product(*map(range, self.shape))
        return [f"{self.label}[{','.join(map(str, index))}]" for index in indices]


@dataclass(frozen=True, slots=True)
class Matrix:
    """A matrix of blocks."""

    name: str
    rows: tuple[Band, ...]
    columns: tuple[Band, ...]
    #: By row and column; missing blocks have no entry.
    blocks: Mapping[tuple[int, int], Any]
    #: True for the matrix of one function at one point, not of a batch.
    is_single: bool

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns."""
        return sum(band.size for band in self.rows), sum(band.size for band in self.columns)

    def describe(self) -> str:
        """Its size and its nature."""
        height, width = self.shape
        return ", ".join(filter(None, (f"{height:,} × {width:,}", self.nature())))

    def whole(self) -> NDArray[Any]:
        """The dense matrix; missing blocks are NaN."""
        lines = []
        for i, row in enumerate(self.rows):
            line = []
            for j, column in enumerate(self.columns):
                block = self.blocks.get((i, j))
                if isinstance(block, SparseArray):
                    block = block.toarray()
                shape = (row.size, column.size)
                line.append(np.full(shape, np.nan) if block is None else block.reshape(shape))
            lines.append(line)
        return np.block(lines)

    def nature(self) -> str:
        """Its eigenvalues or singular values in words; empty if they would take long."""
        most = max(self.shape)
        if not self.is_single or not 1 < most <= MOST_DECOMPOSED or 0 in self.shape:
            return ""
        whole = self.whole()
        if np.iscomplexobj(whole) or not np.isfinite(whole).all():
            return ""
        whole = whole.astype(np.float64)
        scale = (
            float(np.abs(whole).max()) or 1.0
        )  # what is near the greatest number is no problem then
        whole /= scale
        if self.name == "hessian":
            values = np.linalg.eigvalsh((whole + whole.T) / 2)
            ends = f"{digits(float(values[0]) * scale)} … {digits(float(values[-1]) * scale)}"
            return f"eigenvalues {ends}: {_sign(values)}"
        values = np.linalg.svd(whole, compute_uv=False)
        rank = int((values > values[0] * most * np.finfo(np.float64).eps).sum())
        ends = f"{digits(float(values[-1]) * scale)} … {digits(float(values[0]) * scale)}"
        return f"singular values {ends}, rank {rank}"


def matrix(result: Result, asked: RequestView) -> Matrix | None:
    """The matrix of an answer, if it has one."""
    names = asked.names("sources")
    single = not asked.document.get("batch")
    if isinstance(result, Jacobian):
        ahead = np.shape(result.value)
        columns: list[Band] = []
        blocks: dict[tuple[int, int], Any] = {}
        for row in rows({"block": result.jacobian}, names):
            block = row.leaves["block"] if row.leaves is not None else None
            if block is not None:
                blocks[0, len(columns)] = block
                columns.append(Band(row.path, block.shape[len(ahead) :]))
        target = asked.names("target")
        label = target if isinstance(target, str) else "value"
        return _matrix("jacobian", [Band(label, ahead)], columns, blocks, single)
    if isinstance(result, Hessian):
        return _hessian(result, names, single)
    return None


def _hessian(result: Hessian, names: Any, single: bool) -> Matrix | None:
    outer = [
        (row.path, row.leaves)
        for row in rows({"gradient": result.gradients, "rows": result.hessian}, names)
        if row.leaves is not None and row.leaves["gradient"] is not None
    ]
    bands = [Band(path, np.shape(leaves["gradient"])) for path, leaves in outer]
    columns: dict[str, Band] = {}
    found: dict[tuple[int, str], Any] = {}
    for i, (_, leaves) in enumerate(outer):
        for row in rows({"block": leaves["rows"]}, names):
            block = row.leaves["block"] if row.leaves is not None else None
            if block is not None and block is not MISSING:
                found[i, row.path] = block
                columns[row.path] = Band(row.path, block.shape[len(bands[i].shape) :])
    order = {path: j for j, path in enumerate(columns)}
    blocks = {(i, order[path]): block for (i, path), block in found.items()}
    return _matrix("hessian", bands, list(columns.values()), blocks, single)


def _matrix(
    name: str,
    bands: list[Band],
    columns: list[Band],
    blocks: Mapping[tuple[int, int], Any],
    single: bool,
) -> Matrix | None:
    made = Matrix(name, tuple(bands), tuple(columns), blocks, single)
    return None if 0 in made.shape else made


def _sign(eigenvalues: NDArray[Any]) -> str:
    """The definiteness of a symmetric matrix, by its sorted eigenvalues."""
    least, most = eigenvalues[0], eigenvalues[-1]
    round_off = max(-least, most) * len(eigenvalues) * np.finfo(np.float64).eps
    if least > round_off:
        return "positive definite"
    if most < -round_off:
        return "negative definite"
    if least >= -round_off:
        return "positive semidefinite"
    return "negative semidefinite" if most <= round_off else "indefinite"
