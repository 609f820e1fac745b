"""PyTorch's sparse tensors, and what takes them; embeddings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.dialects.base import recorded
from gradwire_engine.dialects.torch.names import TORCH
from gradwire_engine.errors import BadArgument
from gradwire_engine.ops.axes import lengths
from gradwire_engine.ops.base import Static
from gradwire_engine.ops.builder import describe
from gradwire_engine.ops.composites import Sparse
from gradwire_engine.ops.linalg.sparse import matrix_parts, sparse_of

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
    """A sparse tensor, ``indices`` with a column for each of the ``values``."""
    return sparse_of(b, recorded("transpose")(b, indices), values, lengths(size))


@TORCH.macro("sparse.mm")
def mm(b: Builder, sparse: Any, dense: Any) -> Any:
    """Product of a sparse and a dense matrix."""
    if not isinstance(sparse, Sparse):
        hint = "torch.sparse_coo_tensor(indices, values, size)"
        raise BadArgument(f"a sparse matrix is needed, got {describe(sparse)}", hint=hint)
    values, places, shape = matrix_parts(sparse)
    return recorded("sparse.coo_matmul")(b, values, *places, shape, dense)
