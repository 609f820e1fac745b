"""Jacobians and Hessians by coordinates inside programs: indices and values of their nonzeros."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gradwire_engine.autodiff.sparse_matrices import coordinates, sparse_hessian, sparse_jacobian
from gradwire_engine.errors import BadArgument
from gradwire_engine.nesting import arrays, rebuild
from gradwire_engine.ops.builder import Var
from gradwire_engine.ops.composites import Sparse
from gradwire_engine.record.calculus import derivative, variables

if TYPE_CHECKING:
    from gradwire_engine.record.recorder import Recorder


def _jacobian(r: Recorder, y: Any, x: Any = None) -> Any:
    """The elements of ``∂ y / ∂ x`` that may differ from zero, in ``x``'s structure; as ``grad``.

    Each is a sparse tensor, of ``indices``, ``values`` and ``shape``.  Costs a product for each
    colour of rows or columns that share no element.  Source: Gebremedhin, Manne and Pothen,
    What Color Is Your Jacobian? (2005).
    """
    return derivative(r, _jacobians, y, x)


def _hessian(r: Recorder, y: Any, x: Any = None) -> Any:
    """The elements of the Hessian of the sum of ``y`` in one value that may differ from zero.

    As ``sparse.jacobian``, by a star colouring: both of each symmetric pair.
    """
    return derivative(r, _hessians, y, x)


def _jacobians(r: Recorder, y: Any, x: Any) -> Any:
    x = arrays(x)
    variables(x)
    target, known = r.b.array(y), r.concrete

    def block(source: Var) -> Sparse:
        versions = r.state.leaves(source)
        found = [sparse_jacobian(r.b, target, version, known=known) for version in versions]
        return coordinates([part for part in found if part is not None], target, source)

    return rebuild(x, block)


def _hessians(r: Recorder, y: Any, x: Any) -> Any:
    x = arrays(x)
    if len(given := variables(x)) != 1 or len(r.state.leaves(given[0])) != 1:
        raise BadArgument("a sparse Hessian is of one value", hint="concatenate them, then split")

    def block(source: Var) -> Sparse:
        found = sparse_hessian(r.b, r.b.array(y), source, r.concrete)
        return coordinates([] if found is None else [found], source, source)

    return rebuild(x, block)


#: Called as ``function(recorder, *args, **named)``.
SPARSE: dict[str, Callable[..., Any]] = {"sparse.jacobian": _jacobian, "sparse.hessian": _hessian}
