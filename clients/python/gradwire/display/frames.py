"""Answers as frames of pandas: a row for each element, or a matrix with the names of its sides."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gradwire.bfloat16 import widened
from gradwire.display.elements import Index, elements, elements_at
from gradwire.display.figures import coalesced
from gradwire.display.matrices import Matrix, element_names, matrix_of
from gradwire.display.request_view import RequestView
from gradwire.display.rows import rows
from gradwire.display.sections import Section, sections
from gradwire.errors import NotInstalled
from gradwire.explanations import Explanation
from gradwire.results import Recording, Result
from gradwire.sparse import SparseArray
from gradwire.trees import MISSING

if TYPE_CHECKING:
    import pandas

#: Names of the sides of matrices.
SIDES = {"jacobian": ("target", "source"), "hessian": ("gradient", "source")}
#: The column of variables' values.
VALUE = "value"


def frame(shown: Result | Recording) -> pandas.DataFrame:
    """An answer as a frame."""
    pandas = _imported("pandas")
    if isinstance(shown, Recording):
        lines = [
            (each.slot, each.op, each.args, each.type, each.node and each.node.line)
            for each in shown.instructions
        ]
        return pandas.DataFrame(lines, columns=["slot", "op", "args", "type", "line"])
    if isinstance(shown, Explanation):
        columns = [
            *("slot", "op", "operands", "derivative", "flops", "bytes", "seconds"),
            *("line", "column"),
        ]
        lines = [
            (*[getattr(each, name) for name in columns[:-2]], each.place.line, each.place.column)
            for each in shown.instructions
        ]
        return pandas.DataFrame(lines, columns=columns)
    request = RequestView.of(shown.raw)
    matrix = matrix_of(shown, request)
    if matrix is not None:
        return _matrix(pandas, matrix)
    return _tidy(pandas, sections(shown, request)[0], request)


def _tidy(pandas: Any, section: Section, request: RequestView) -> pandas.DataFrame:
    """A row for each element of each leaf: its path, its index, and what each column has there."""
    names = [*([VALUE] if section.of == "source" else []), *section.columns]
    paths: list[str] = []
    indices: list[Index] = []
    parts: dict[str, list[NDArray[Any]]] = {name: [] for name in names}
    known = False
    for path, leaves in rows(section.columns, section.names):
        columns = dict(leaves)
        if section.of == "source":
            columns[VALUE] = request.variable(path)
            known = known or columns[VALUE] is not MISSING
        present = [leaf for leaf in columns.values() if leaf is not None and leaf is not MISSING]
        at: list[Index] = elements(present[0])[0] if present else [()]
        paths += [path] * len(at)
        indices += at
        for name, leaf in columns.items():
            parts[name].append(elements_at(leaf, at))
    if section.of == "source" and not known:  # of tapes
        del parts[VALUE]
    index = np.empty(len(indices), object)
    index[:] = indices
    joined = {name: _joined(each) for name, each in parts.items()}
    return pandas.DataFrame({"path": paths, "index": index, **joined})


def _joined(parts: list[NDArray[Any]]) -> NDArray[Any]:
    """Concatenated arrays; strings stay strings beside numbers."""
    parts = list(map(widened, parts))
    if any(part.dtype.kind not in "biufc" for part in parts):
        parts = [part.astype(object) for part in parts]
    return np.concatenate(parts) if parts else np.zeros(0)


def _matrix(pandas: Any, matrix: Matrix) -> pandas.DataFrame:
    index, columns = (
        pandas.Index(element_names(bands), name=side)
        for side, bands in zip(SIDES[matrix.name], (matrix.rows, matrix.columns), strict=True)
    )
    if not all(isinstance(block, SparseArray) for block in matrix.blocks.values()):
        return pandas.DataFrame(matrix.whole(), index=index, columns=columns)
    sparse = _imported("scipy.sparse")

    def block(row: str, column: str, shape: tuple[int, int]) -> Any:
        """A block as SciPy's; where none exists, one of zeros."""
        found = matrix.blocks.get((row, column))
        if found is None:
            return sparse.coo_array(shape)
        once = coalesced(found)
        places = np.ravel_multi_index(tuple(once.indices.T), once.shape)
        return sparse.coo_array((once.values, np.divmod(places, shape[1])), shape)

    whole = sparse.block_array(
        [[block(r.path, c.path, (r.size, c.size)) for c in matrix.columns] for r in matrix.rows],
        format="csc",
    )
    return pandas.DataFrame.sparse.from_spmatrix(whole, index=index, columns=columns)


def _imported(module: str) -> ModuleType:
    """A module of the extra ``gradwire[notebook]``; ``ImportError`` says how to get it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        hint = "pip install 'gradwire[notebook]'"
        raise NotInstalled(f"to_pandas needs {error.name}", hint=hint, name=error.name) from error
