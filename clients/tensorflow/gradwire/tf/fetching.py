"""Values from the service: what is asked for together is one request."""

from __future__ import annotations

import math
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any
from weakref import WeakValueDictionary

from gradwire import APIError, GradwireError, TransportError
from gradwire.frontends import Written, default_address, write
from gradwire.tf import errors
from gradwire.tf.nodes import Shape, Spec, TensorNode
from gradwire.tf.remote import Query, answered

#: A tensor is large if it has more elements.
COMES_ALONG_ELEMENTS: int = 1 << 16
#: Smaller values come with each answer: a reference takes hardly fewer bytes.
KEPT_BYTES: int = 1 << 12

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


class _Assigned(threading.local):
    """The variables that were assigned a value in this thread since its last request.

    By the service that the request goes to: another one does not have what they are computed from.
    """

    def __init__(self) -> None:
        self.at: defaultdict[Any, WeakValueDictionary[int, Any]] = defaultdict(WeakValueDictionary)


_assigned = _Assigned()


def note_assigned(*variables: Any) -> None:
    """Compute the new values of variables with the next request of this thread."""
    assigned = _assigned.at[default_address()]
    for variable in variables:
        assigned[variable._number] = variable


def write_with_variables(roots: Sequence[TensorNode]) -> Written:
    """The program that computes the roots, and what variables have become.

    So a variable that no loss reads, as a moving average, does not keep what it was computed from.
    Where the request fails, these variables are computed when they are read.
    """
    pending = _assigned.at.pop(default_address(), None)
    nodes = [] if pending is None else [each._node for each in pending.values()]
    return write([*roots, *(node for node in nodes if node.value is None and node.scope is None)])


def fetch(nodes: Iterable[TensorNode]) -> None:
    """Make the values of nodes known."""
    pending = [node for node in dict.fromkeys(nodes) if node.value is None]
    if not pending:
        return
    written = write_with_variables(pending)
    asked = set(pending)
    local, remote = separated([node for node in along(written) if node not in asked])
    query = Query(
        "evaluate",
        written.text,
        {"outputs": named(written, [*pending, *local], remote), "promotion": "strict"},
        ["outputs.1"] if remote else [],
    )
    answer, values = ask(written, query)
    for node, value in zip([*pending, *local, *remote], [*answer.outputs[0], *values], strict=True):
        node.settle(value)


def named(written: Written, *groups: Iterable[TensorNode]) -> list[list[str]]:
    """The names of groups of nodes."""
    return [[written.names[node] for node in nodes] for nodes in groups]


def along(written: Written) -> list[TensorNode]:
    """Nodes of a program whose values are worth fetching with it: the user's tensors and variables.

    Large tensors may never be read, but the next step of a loop reads what its variables have
    become. If that were computed again, with all that led to it, each step would be another, longer
    program. So large tensors come along, too, if a program repeats what another has computed.
    """
    nodes = [
        term
        for term in written.names
        if isinstance(term, TensorNode) and term.value is None and term.scope is None
    ]
    repeats = any(node.computed for node in nodes)
    for node in nodes:
        node.computed = True
    return [
        node
        for node in nodes
        if _is_held(node) and (repeats or node.assigned or not _is_large(node.shape))
    ]


def _is_held(node: TensorNode) -> bool:
    """True if there is a tensor of it, or a variable that has not been assigned anew."""
    owner = None if node.owner is None else node.owner()
    return owner is not None and owner._node is node


def separated(nodes: Iterable[TensorNode]) -> tuple[list[TensorNode], list[TensorNode]]:
    """Nodes whose values come with an answer, and those that may stay with the service.

    The latter are variables' that Python did not read the time before, and large ones.
    """
    local: list[TensorNode] = []
    remote: list[TensorNode] = []
    for node in nodes:
        variable = node.owner() if node.assigned and node.owner is not None else None
        unread = _is_large(node.shape) if variable is None else not variable._was_read
        (remote if unread and may_stay(node.spec) else local).append(node)
    return local, remote


def may_stay(spec: Spec) -> bool:
    """True if a value is large enough to stay with the service."""
    if spec.shape is None or spec.dtype is None:
        return False
    return math.prod(spec.shape) * spec.dtype.size >= KEPT_BYTES


def ask(
    written: Written, query: Query, on_reads: Iterable[Callable[[], None]] | None = None
) -> tuple[Any, list[Any]]:
    """The answer to a query and what it may have left with the service."""
    try:
        return answered(query, written.variables, on_reads)
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


def _is_large(shape: Shape) -> bool:
    return shape is not None and math.prod(shape) > COMES_ALONG_ELEMENTS
