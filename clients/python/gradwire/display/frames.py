"""Answers as frames of pandas: a row for each element, or a matrix with the names of its sides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gradwire.display.elements import Elements
from gradwire.display.matrices import Matrix, matrix
from gradwire.display.optional import imported
from gradwire.display.request_view import RequestView
from gradwire.display.rows import rows
from gradwire.display.sections import Section, sections
from gradwire.results import Instruction, Recording, Result
from gradwire.sparse import SparseArray
from gradwire.trees import MISSING

if TYPE_CHECKING:
    import pandas

WANTED_BY = "to_pandas"
#: Names of the sides of matrices.
SIDES = {"jacobian": ("target", "source"), "hessian": ("gradient", "source")}
#: The column of variables' values.
VALUE = "value"


def frame(shown: Result | Recording) -> pandas.DataFrame:
    """An answer as a frame."""
    pandas = imported("pandas", WANTED_BY)
    if isinstance(shown, Recording):
        lines = [_instruction(each) for each in shown.instructions]
        return pandas.DataFrame(lines, columns=["slot", "op", "args", "type", "line"])
    asked = RequestView.of(shown.raw)
    made = matrix(shown, asked)
    if made is not None:
        return _matrix(pandas, made)
    return _tidy(pandas, sections(shown, asked)[0], asked)


def _tidy(pandas: Any, section: Section, asked: RequestView) -> pandas.DataFrame:
    """A row for each element of each leaf: its path, its index, and what each column has there."""
    names = [*([VALUE] if section.of_sources else []), *section.columns]
    paths: list[str] = []
    indices: list[tuple[int, ...]] = []
    parts: dict[str, list[NDArray[Any]]] = {name: [] for name in names}
    known = False
    for row in rows(section.columns, section.names):
        if row.leaves is None:
            continue
        value = {VALUE: asked.variable(row.path)} if section.of_sources else {}
        known = known or value.get(VALUE, MISSING) is not MISSING
        elements = Elements.of(*row.leaves.values(), *value.values())
        paths += [row.path or row.label] * elements.count
        indices += elements.indices()
        for name, leaf in {**value, **row.leaves}.items():
            parts[name].append(elements.values(leaf))
    index = np.empty(len(indices), object)
    index[:] = indices
    if section.of_sources and not known:  # of tapes
        del parts[VALUE]
    columns = {name: _joined(each) for name, each in parts.items()}
    return pandas.DataFrame({"path": paths, "index": index, **columns})


def _joined(parts: list[NDArray[Any]]) -> NDArray[Any]:
    """Concatenated arrays; strings stay strings beside numbers."""
    if any(part.dtype.kind not in "biufc" for part in parts):
        parts = [part.astype(object) for part in parts]
    return np.concatenate(parts) if parts else np.zeros(0)


def _matrix(pandas: Any, made: Matrix) -> pandas.DataFrame:
    rows_, columns = (
        pandas.Index([name for band in bands for name in band.elements()], name=side)
        for side, bands in zip(SIDES[made.name], (made.rows, made.columns), strict=True)
    )
    if not all(isinstance(block, SparseArray) for block in made.blocks.values()):
        return pandas.DataFrame(made.whole(), index=rows_, columns=columns)
    sparse = imported("scipy.sparse", f"{WANTED_BY} of sparse matrices")
    blocks = [
        [_block(sparse, made, i, j) for j in range(len(made.columns))]
        for i in range(len(made.rows))
    ]
    whole = sparse.block_array(blocks, format="csc")
    return pandas.DataFrame.sparse.from_spmatrix(whole, index=rows_, columns=columns)


def _block(sparse: Any, made: Matrix, i: int, j: int) -> Any:
    """A block as SciPy's; where none exists, one of zeros."""
    shape = made.rows[i].size, made.columns[j].size
    block = made.blocks.get((i, j))
    if block is None:
        return sparse.coo_array(shape)
    elements = Elements.of(block)
    return sparse.coo_array((elements.values(block), np.divmod(elements.flat(), shape[1])), shape)


def _instruction(each: Instruction) -> tuple[int, str, tuple[int, ...], str, int | None]:
    return each.slot, each.op, each.args, each.type, None if each.node is None else each.node.line
