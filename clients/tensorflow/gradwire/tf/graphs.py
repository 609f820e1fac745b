"""Single operations in the graph of a ``tf.function``: calls, conditions and loops.

Functions run as they are here, so that a branch that is not taken leaves no trace. TensorFlow's
gradients in what only such a branch reads are zeros, not None; and loops make slices dense.
"""

from __future__ import annotations

import ast
import functools
import inspect
import itertools
import textwrap
from collections.abc import Callable, Iterator
from types import CodeType, FrameType
from typing import Any, ParamSpec, TypeVar

from gradwire.tf import nest
from gradwire.tf.connections import CONSTANT, captures, joined
from gradwire.tf.function_traces import FunctionTrace, running_trace
from gradwire.tf.nodes import TensorNode
from gradwire.tf.operators import identity
from gradwire.tf.tensors import METHODS, Operand, Tensor

P = ParamSpec("P")
R = TypeVar("R")


def one_operation(*, loop: bool) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Make a function that takes functions one operation, where a ``tf.function`` calls it."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def called(*args: P.args, **kwargs: P.kwargs) -> R:
            trace = running_trace()
            if trace is None:
                return function(*args, **kwargs)
            before = len(trace.recorded)
            found: Any = function(*args, **kwargs)
            if loop:
                make_dense(trace, before)
            found = nest.map_structure(_of_its_own, found)
            given = nest.flatten([args, kwargs])
            tensors = [each for each in given if isinstance(each, Operand)]
            joined(found, [*tensors, *captures(*filter(callable, given))])
            return found  # type: ignore[no-any-return]

        return called

    return decorate


def make_dense(trace: FunctionTrace, before: int) -> None:
    """Gradients of what was gathered since ``before``, in a loop, are not by slices."""
    for node in itertools.islice(trace.recorded, before, None):
        if isinstance(node, TensorNode):
            node.rows = None


def join_outputs(trace: FunctionTrace, outputs: Any) -> Any:
    """A function's outputs, as those of one operation."""
    for node in trace.recorded if trace.loops else ():
        if isinstance(node, TensorNode) and node.rows is not None and _is_within(trace.loops, node):
            node.rows = None
    own = nest.map_structure(
        lambda each: (
            _of_its_own(each)
            if isinstance(each, Tensor) and each._node not in trace.recorded
            else each
        ),
        outputs,
    )
    joined(own, trace.branches)
    return own


def _is_within(loops: set[tuple[str, int, int]], node: TensorNode) -> bool:
    """True if an operation was called in the lines of a loop."""
    at = node.place
    return at is not None and any(
        at.filename == name and first <= at.line <= last for name, first, last in loops
    )


def _of_its_own(value: Any) -> Any:
    return identity(value) if isinstance(value, Operand) else value


def note_decision() -> None:
    """Note what the branches name that a tensor has just decided upon."""
    trace = running_trace()
    frame = inspect.currentframe()
    for _ in range(2):  # this function, and the tensor's own method
        frame = None if frame is None else frame.f_back
    if trace is None or frame is None or frame.f_globals.get("__name__", "").startswith("gradwire"):
        return
    found, loops = _in_branches(frame.f_code, frame.f_lineno)
    trace.loops.update(loops)
    for names in found:
        value = _value(names, frame)
        if isinstance(value, Operand):
            trace.branches.append(value)


def _value(names: tuple[str, ...], frame: FrameType) -> Any:
    """The value of a name with attributes, if it is known without running anything."""
    first, *rest = names
    value = frame.f_locals.get(first, frame.f_globals.get(first))
    for name in rest:
        value = getattr(value, "__dict__", {}).get(name)
    return value


@functools.lru_cache(maxsize=1024)
def _in_branches(
    code: CodeType, line: int
) -> tuple[tuple[tuple[str, ...], ...], tuple[tuple[str, int, int], ...]]:
    """The names, with their attributes, in branches and loops that start in a line; the loops."""
    try:
        lines, first = inspect.getsourcelines(code)
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, SyntaxError, TypeError):  # no source, or a part of an expression
        return (), ()
    before = max(first, 1) - 1
    found: list[tuple[str, ...]] = []
    loops: list[tuple[str, int, int]] = []
    for node, following in _with_following(tree):
        head = node.iter if isinstance(node, ast.For) else node.test
        if head.lineno <= line - before <= (head.end_lineno or head.lineno):
            found += [name for part in (node.body, node.orelse, following) for name in _names(part)]
            if isinstance(node, ast.For | ast.While):
                last = node.body[-1].end_lineno or head.lineno
                loops.append((code.co_filename, node.lineno + before, last + before))
    return tuple(dict.fromkeys(found)), tuple(loops)


_Branching = ast.If | ast.While | ast.IfExp | ast.For


def _with_following(tree: ast.AST) -> Iterator[tuple[_Branching, list[ast.stmt]]]:
    """The branches and loops, with what follows those that return, the rest of a branch."""
    for parent in ast.walk(tree):
        for child in ast.iter_child_nodes(parent):
            if not isinstance(child, _Branching):
                continue
            rest: list[ast.stmt] = []
            if isinstance(child, ast.If) and isinstance(child.body[-1], ast.Return):
                for block in (getattr(parent, "body", None), getattr(parent, "orelse", None)):
                    if isinstance(block, list) and child in block:
                        rest = block[block.index(child) + 1 :]
            yield child, rest


def _names(part: Any) -> Iterator[tuple[str, ...]]:
    """The names that are read, but for those in comparisons and functions without derivative."""
    if isinstance(part, list):
        for each in part:
            yield from _names(each)
    elif isinstance(part, ast.Compare) or _is_constant(part):
        return
    elif isinstance(part, ast.Name | ast.Attribute) and (dotted := _dotted(part)):
        if isinstance(part.ctx, ast.Load):
            yield dotted
    elif isinstance(part, ast.AST):
        for each in ast.iter_child_nodes(part):
            yield from _names(each)


def _is_constant(node: Any) -> bool:
    return isinstance(node, ast.Call) and not CONSTANT.isdisjoint(_dotted(node.func)[-1:])


def _dotted(node: ast.AST) -> tuple[str, ...]:
    """``a.b.c`` as its parts; nothing for any other expression."""
    if isinstance(node, ast.Name):
        return (node.id,)
    if isinstance(node, ast.Attribute) and (before := _dotted(node.value)):
        return (*before, node.attr)
    return ()


METHODS.update(decided=note_decision, outputs=join_outputs)
