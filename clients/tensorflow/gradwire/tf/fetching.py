"""Values from the service: what is asked for together is one request."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from gradwire.defaults import default_client
from gradwire.errors import APIError, GradwireError, TransportError
from gradwire.tf import errors
from gradwire.tf.nodes import TensorNode
from gradwire.tracing.terms import Term
from gradwire.tracing.writing import Written, write

T = TypeVar("T")

#: Values of other tensors that are computed on the way come along up to so many elements.
COMES_ALONG_ELEMENTS: int = 1 << 16

_CLASSES = {
    "over_budget": errors.ResourceExhaustedError,
    "body_too_large": errors.ResourceExhaustedError,
    "deadline_exceeded": errors.DeadlineExceededError,
    "unknown_op": errors.UnimplementedError,
    "unauthenticated": errors.UnauthenticatedError,
    "forbidden": errors.PermissionDeniedError,
    "rate_limited": errors.UnavailableError,
    "overloaded": errors.UnavailableError,
    "draining": errors.UnavailableError,
}
_OF_ARGUMENTS = frozenset({"shape_mismatch", "dtype_mismatch", "bad_argument", "domain_error"})


def fetch(nodes: Iterable[TensorNode]) -> None:
    """Make the values of nodes known."""
    pending = [node for node in dict.fromkeys(nodes) if node.value is None]
    if not pending:
        return
    written = write(pending)
    wanted = pending + [node for node in along(written) if node not in set(pending)]
    answer = asked(
        written,
        lambda: default_client().evaluate(
            written.text,
            written.variables,
            outputs=[written.names[node] for node in wanted],
            promotion="strict",
        ),
    )
    for node, value in zip(wanted, answer.outputs, strict=True):
        node.settle(value)


def along(written: Written) -> list[TensorNode]:
    """Nodes of a program whose values are worth fetching with it: tensors of the user's."""
    return [
        term
        for term in written.names
        if isinstance(term, TensorNode)
        and term.value is None
        and term.owner is not None
        and term.owner() is not None
        and term.scope is None
        and (term.shape is None or _elements(term.shape) <= COMES_ALONG_ELEMENTS)
    ]


def asked(written: Written, request: Any) -> Any:
    """The answer to a request, its errors as TensorFlow's."""
    try:
        return request()
    except GradwireError as error:
        raise translated(error, written) from error


def translated(error: GradwireError, written: Written | None = None) -> Exception:
    """TensorFlow's error for one of the service's."""
    if isinstance(error, TransportError):
        return errors.UnavailableError(None, None, str(error))
    if not isinstance(error, APIError):
        return errors.InternalError(None, None, str(error))
    message = error.detail
    line = None if error.node is None else error.node.line
    place = written.place_of(line) if written is not None else None
    if place is not None:
        message = f"{message} [at {place}]"
    if error.code == "not_differentiable":
        return LookupError(message)
    if error.code in _OF_ARGUMENTS:
        return errors.InvalidArgumentError(None, None, message)
    return _CLASSES.get(error.code or "", errors.InternalError)(None, None, message)


def _elements(shape: Sequence[int]) -> int:
    count = 1
    for length in shape:
        count *= length
    return count


def is_node(term: Term) -> bool:
    """Whether a term is one of these."""
    return isinstance(term, TensorNode)
