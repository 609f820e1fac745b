"""Nodes: terms of a program that have a dtype and a shape, and a value once it was fetched."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol

import numpy as np

from gradwire.frontends import ITEM, NOTHING, Leaf, Place, Scope, Term
from gradwire.tf.dtypes import DType, of_numpy
from gradwire.tf.remote import RemoteArray

#: ``None`` where it is not known without asking the service.
Shape = tuple[int, ...] | None


class Spec(NamedTuple):
    """The known dtype and shape of an operation's result before it is computed."""

    dtype: DType | None = None
    shape: Shape = None


UNKNOWN: Spec = Spec()
#: Operations one after another, after which a value is computed: programs do not grow for ever.
LONGEST_CHAIN: int = 1000


class Joint(NamedTuple):
    """The outputs of what is one operation for TensorFlow, and what it reads besides operands."""

    outputs: tuple[weakref.ref[TensorNode], ...]
    captured: tuple[TensorNode, ...]


class TensorNode(Term):
    """A value that the service computes, or that is known already."""

    __slots__ = (
        "assigned",
        "computed",
        "depth",
        "dtype",
        "hint",
        "joints",
        "kept",
        "owner",
        "rows",
        "shape",
        "value",
    )

    def __init__(
        self,
        op: str,
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] = NOTHING,
        spec: Spec = UNKNOWN,
        place: Place | None = None,
    ) -> None:
        super().__init__(op, args, kwargs, place)
        self.dtype: DType | None = spec.dtype
        self.shape: Shape = spec.shape
        self.value: Any = None
        #: The number of operations one after another that lead to it from known values.
        self.depth: int = 1
        for each in self.operands:
            if isinstance(each, TensorNode) and each.depth >= self.depth and each.value is None:
                self.depth = each.depth + 1
        self.hint: str = "c"
        #: The number of tapes that need its operands though the value may be known.
        self.kept: int = 0
        #: The tensor or variable that stands for it, if there still is one.
        self.owner: weakref.ref[Any] | None = None
        #: The indices, where it is rows of its first operand.
        self.rows: Term | None = None
        #: The operations of several outputs that it is an output of.
        self.joints: tuple[Joint, ...] = ()
        #: True if it was assigned to a variable.
        self.assigned: bool = False
        #: True if a request has computed it, whose answer did not have its value.
        self.computed: bool = False
        for run in _active.runs:
            run.note_created(self)

    @property
    def spec(self) -> Spec:
        """The known dtype and shape of the value."""
        return Spec(self.dtype, self.shape)

    def leaf(self) -> Leaf | None:
        """The value, to be sent, once it is known."""
        return None if self.value is None else Leaf(self.value, self.hint)

    def settle(self, value: Any) -> None:
        """The value has become known: what it was computed from is needed by tapes alone."""
        array = value if isinstance(value, RemoteArray) else np.asarray(value)
        if self.dtype is not None and array.dtype != self.dtype.storage:
            array = np.asarray(array, self.dtype.storage)
        if self.dtype is None:
            self.dtype = of_numpy(array.dtype)
        self.value = array
        self.shape = array.shape
        self.cut()

    def cut(self) -> None:
        """Forget what the value was computed from where nobody needs it."""
        if self.value is not None and not self.kept and self.operands:
            self.forget()


def known(value: Any, dtype: DType, hint: str = "c") -> TensorNode:
    """A node whose value is known from the beginning."""
    node = _bare(Spec(dtype, np.shape(value)), hint)
    node.value = value
    return node


def parameter(scope: Scope, of: TensorNode) -> TensorNode:
    """A parameter of a function of the program, for values such as another node's."""
    node = _bare(of.spec, of.hint)
    node.scope = scope
    return node


def part_of(whole: TensorNode, index: int, spec: Spec) -> TensorNode:
    """One of the results of an operation with several."""
    node = _bare(spec, "c")
    node.op, node.args, node.operands = ITEM, (whole, index), (whole,)
    node.scope, node.place, node.depth = whole.scope, whole.place, whole.depth + 1
    for run in _active.runs:
        run.note_created(node)
    return node


def _bare(spec: Spec, hint: str) -> TensorNode:
    """A node without an operation."""
    node: TensorNode = TensorNode.__new__(TensorNode)
    node.op, node.args, node.kwargs, node.operands = "", (), NOTHING, ()
    node.scope, node.place = None, None
    node.dtype, node.shape = spec
    node.value, node.hint, node.kept, node.owner = None, hint, 0, None
    node.rows, node.depth, node.assigned, node.computed = None, 0, False, False
    node.joints = ()
    return node


class Recorder(Protocol):
    """A recorder, which is notified of every operation that is called while it records."""

    def note(self, node: TensorNode) -> None:
        """An operation was called, of which this is a result."""

    def note_custom_gradient(self, custom_gradient: Any) -> None:
        """An operation with a gradient of the user's own was called."""

    def note_made(self, variable: Any) -> None:
        """A variable was made."""

    def note_read(self, variable: Any, node: TensorNode) -> None:
        """A variable was read, of whose value this is the node."""


class Run(Protocol):
    """A run of a function, whose steps are noticed: see ``steps``."""

    is_whole: bool

    def note_created(self, node: TensorNode) -> None:
        """An operation was called, recorded or not."""

    def note_current(self, variable: Any, node: TensorNode) -> None:
        """A variable had this value."""

    def note_assigned(self, variable: Any, of: TensorNode, node: TensorNode, is_new: bool) -> None:
        """A variable was assigned a value, as a node of its own."""

    def note_asked(self, node: TensorNode) -> None:
        """Python asked for a value."""

    def note_shapes(self, nodes: Sequence[TensorNode]) -> None:
        """Python learned shapes that values decide."""

    def note_called(
        self,
        function: Any,
        arguments: tuple[Any, Any],
        result: Any,
        effect: bool,
        derives: bool,
        place: Any,
    ) -> None:
        """A function was called that repetitions call again."""


class _Active(threading.local):
    """The recorders that record in this thread, and the runs that are noticed, innermost last."""

    def __init__(self) -> None:
        self.stack: list[Recorder] = []
        self.runs: list[Run] = []


_active = _Active()


class only:  # noqa: N801 - used as a statement
    """A context in which some recorders record in this thread, and no others."""

    def __init__(self, *recorders: Recorder) -> None:
        self._recorders: list[Recorder] = list(recorders)

    def __enter__(self) -> None:
        self._stack: list[Recorder] = _active.stack
        _active.stack = self._recorders

    def __exit__(self, *error: object) -> None:
        _active.stack = self._stack


def paused() -> only:
    """A context in which nobody records in this thread."""
    return only()


def active() -> list[Recorder]:
    """The recorders that record in this thread, the innermost last."""
    return _active.stack


def noticing() -> list[Run]:
    """The runs whose steps are noticed in this thread."""
    return _active.runs


@contextmanager
def unnoticed() -> Iterator[None]:
    """A context whose steps are noticed by no run."""
    runs, _active.runs = _active.runs, []
    try:
        yield
    finally:
        _active.runs = runs


def record(node: TensorNode) -> TensorNode:
    """Tell all who record of an operation."""
    for recorder in _active.stack:
        recorder.note(node)
    return node
