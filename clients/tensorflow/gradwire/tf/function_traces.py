"""Recordings of what a ``tf.function`` computes, and the one that is being run."""

from __future__ import annotations

import threading
import weakref
from contextlib import ExitStack
from typing import Any

from gradwire.frontends import Term
from gradwire.tf.nodes import TensorNode, paused, unnoticed
from gradwire.tf.recordings import CustomGradient, TapeRecording
from gradwire.tf.steps import Steps
from gradwire.tf.tensors import Operand

__all__ = ["executing_eagerly", "init_scope", "inside_function"]


class _Everything(set[Term]):
    """The known terms of a function's own recording: all."""

    def __contains__(self, term: object) -> bool:
        return True


class FunctionTrace(TapeRecording):
    """Records all that a function computes, so that ``tf.gradients`` may be asked of it."""

    def __init__(self) -> None:
        super().__init__()
        self.known: set[Term] = _Everything()
        #: The variables that were made, for as long as they live.
        self.made: list[weakref.ref[Any]] = []
        #: Tensors and variables named in branches that tensors decided upon, taken or not.
        self.branches: list[Operand] = []
        #: The loops over tensors: files, and their first and last lines.
        self.loops: set[tuple[str, int, int]] = set()
        #: The steps of the run of Python, if it is one.
        self.steps: Steps | None = None

    def note_made(self, variable: Any) -> None:
        """Note that a variable was made."""
        self.made.append(weakref.ref(variable))

    def note(self, node: TensorNode) -> None:
        """Record an operation."""
        self.add(node)
        if self.steps is not None:
            self.steps.note_recorded(node)

    def note_custom_gradient(self, custom_gradient: CustomGradient) -> None:
        """Record an operation with a gradient of the user's own."""
        if self.steps is not None:
            self.steps.note_custom_gradient(custom_gradient)
        for node in custom_gradient.outputs:
            self.add(node, custom_gradient)

    def note_read(self, variable: Any, node: TensorNode) -> None:
        """Note what a variable was read as."""
        self.watch_variable(variable)
        super().note_read(variable, node)
        if self.steps is not None:
            self.steps.note_read(variable, node)


class _ActiveTraces(threading.local):
    def __init__(self) -> None:
        self.traces: list[FunctionTrace] = []


#: The recordings of this thread, the innermost last.
running: _ActiveTraces = _ActiveTraces()


def executing_eagerly() -> bool:
    """True if no ``tf.function`` is being run."""
    return not running.traces


def running_trace() -> FunctionTrace | None:
    """The recording of the innermost ``tf.function`` that is being run."""
    return running.traces[-1] if running.traces else None


def inside_function() -> bool:
    """True if a ``tf.function`` is being run."""
    return bool(running.traces)


class init_scope:  # noqa: N801 - TensorFlow's name
    """A context outside of all functions and tapes."""

    def __enter__(self) -> None:
        self._traces: list[FunctionTrace] = running.traces
        running.traces = []
        self._contexts: ExitStack = ExitStack()
        self._contexts.enter_context(paused())
        self._contexts.enter_context(unnoticed())

    def __exit__(self, *error: object) -> None:
        self._contexts.close()
        running.traces = self._traces
