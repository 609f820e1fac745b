"""PyTorch's sparse matrices, lists of indices, values and size, and what takes them; embeddings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.dialects.base import recorded
from gradwire_engine.dialects.torch.names import TORCH
from gradwire_engine.errors import BadArgument, ShapeMismatch
from gradwire_engine.ops.base import Static
from gradwire_engine.ops.linalg.sparse import matrix_shape

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder

TORCH.entry("nn.functional.embedding", "embedding", "input:ids weight padding_idx=None")
TORCH.entry(
    "nn.functional.embedding_bag",
    "embedding_bag",
    "input:ids weight offsets=None * mode='mean' per_sample_weights=None "
    "include_last_offset=False padding_idx=None",
)


@TORCH.macro("sparse_coo_tensor")
def sparse_coo_tensor(b: Builder, indices: Any, values: Any, size: Static) -> Any:
    """A sparse matrix: the list of its parts, ``indices`` with a column for each of ``values``."""
    return [b.array(indices), b.array(values), list(matrix_shape(size))]


@TORCH.macro("sparse.mm")
def mm(b: Builder, sparse: Any, dense: Any) -> Any:
    """Product of a sparse and a dense matrix."""
    if not isinstance(sparse, list | tuple) or len(sparse) != 3:
        hint = "torch.sparse_coo_tensor(indices, values, size)"
        raise BadArgument("a sparse matrix is needed: indices, values, size", hint=hint)
    indices = b.array(sparse[0])
    if indices.ndim != 2 or indices.type.shape[0] != 2:
        raise ShapeMismatch(f"a sparse matrix needs indices of shape (2, n), got {indices.type}")
    row, column = recorded("unstack")(b, indices)
    return recorded("sparse.coo_matmul")(b, sparse[1], row, column, matrix_shape(sparse[2]), dense)
