"""The reach of gradients, as in TensorFlow's tape: zeros where the service finds no derivative.

A ``tf.function``, a ``cond`` or a loop in one, is a single operation there: each of its outputs
counts as a function of whatever any of them, or a branch that was not taken, depends on. ``joined``
notes that, and ``reached`` follows it. Neither changes what is computed.
"""

from __future__ import annotations

import types
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from gradwire.frontends import Body, Term
from gradwire.tf import nest
from gradwire.tf.conversion import convert_to_tensor
from gradwire.tf.nodes import Joint, TensorNode
from gradwire.tf.recordings import TapeRecording
from gradwire.tf.tensors import Operand, Tensor

#: Functions, as the service and users name them, that no gradient goes through.
CONSTANT: frozenset[str] = frozenset(
    "floor ceil round rint sign_bit stop_gradient floordiv zeros_like ones_like shape size rank "
    "argmax argmin argsort one_hot".split()
)

#: Collections of more items are not searched for tensors.
MOST_ITEMS: int = 256


def joined(outputs: Any, captured: Iterable[Any]) -> None:
    """Note that nested outputs are those of one operation.

    They depend on the ``captured`` tensors and variables besides what they were computed from.
    """
    read = [convert_to_tensor(each)._node for each in captured]
    nodes = [each._node for each in nest.flatten(outputs) if isinstance(each, Tensor)]
    joint = Joint(tuple([weakref.ref(node) for node in nodes]), tuple(read))
    for node in nodes:
        node.joints = (*node.joints, joint)


def reached(
    recording: TapeRecording, targets: Sequence[TensorNode], *, varying: bool = True
) -> set[Term]:
    """The values that gradients of targets reach, through other gradients if these are varying."""
    found: set[Term] = set()
    waiting: list[Term] = list(targets)
    while waiting:
        term = waiting.pop()
        if term in found or not _carries(term):
            continue
        found.add(term)
        for joint in term.joints if isinstance(term, TensorNode) else ():
            waiting.extend(node for other in joint.outputs if (node := other()) is not None)
            waiting.extend(joint.captured)
        if varying or function_of(term) != "vjp" or _lead_to_joint(recording, [term]):
            waiting.extend(_operands(recording, term))
    return found


def are_joined(
    recording: TapeRecording, targets: Sequence[TensorNode], sources: Sequence[TensorNode]
) -> bool:
    """True if a gradient that the service does not find is zero: by an operation of ``joined``."""
    known = [node for node in sources if node in recording.known]
    if not known or not _lead_to_joint(recording, targets):
        return False
    found = reached(recording, targets, varying=False)  # the service knows whether they vary
    return any(node in found for node in known)


def _lead_to_joint(recording: TapeRecording, targets: Sequence[Term]) -> bool:
    """True if an operation that ``joined`` made leads to targets."""
    seen: set[Term] = set()
    waiting: list[Term] = list(targets)
    while waiting:
        term = waiting.pop()
        if isinstance(term, TensorNode) and term.joints:
            return True
        if term not in seen:
            seen.add(term)
            custom = recording.recorded.get(term)
            waiting.extend(term.operands if custom is None else custom.inputs)
    return False


def _operands(recording: TapeRecording, term: Term) -> Iterable[Term]:
    """The operands in which a recorded operation is differentiated."""
    if isinstance(term, Body):
        return (term.result,)
    if term not in recording.recorded or function_of(term) in CONSTANT:
        return ()
    custom_gradient = recording.recorded[term]
    return term.operands if custom_gradient is None else custom_gradient.inputs


def _carries(term: Term) -> bool:
    """True if a value's dtype has gradients."""
    return not isinstance(term, TensorNode) or term.dtype is None or term.dtype.is_differentiable


def function_of(term: Term) -> str:
    """The last part of the name of the operation that a term is."""
    return term.op.rpartition(".")[2]


def captures(*functions: Callable[..., Any]) -> list[Operand]:
    """The tensors and variables that functions name, themselves or by what they call."""
    found: dict[int, Operand] = {}
    seen: set[tuple[int, Sequence[str]]] = set()

    def visit(value: Any, names: Sequence[str]) -> None:
        if isinstance(value, Operand):
            found[id(value)] = value
        if (id(value), names) in seen or isinstance(value, (Operand, type, types.ModuleType)):
            return
        seen.add((id(value), names))
        function = getattr(value, "python_function", value)
        if isinstance(function, types.MethodType):
            visit(function.__self__, names)
            function = function.__func__
        if isinstance(function, types.FunctionType):
            for each, inside in _named(function):
                visit(each, inside)
        elif isinstance(value, (list, tuple, dict)):
            for each in _few(value):
                visit(each, names)
        elif hasattr(value, "__dict__"):
            for name in names:
                visit(vars(value).get(name), names)

    for function in functions:
        visit(function, ())
    return list(found.values())


def _few(values: Any) -> Iterable[Any]:
    """The items of a collection that is no data set."""
    if len(values) > MOST_ITEMS:
        return ()
    return values.values() if isinstance(values, dict) else values


def _named(function: types.FunctionType) -> Iterator[tuple[Any, Sequence[str]]]:
    """The values of a function's free and global names, with all names in it."""
    code = function.__code__
    inside = [code, *(each for each in code.co_consts if isinstance(each, types.CodeType))]
    names = tuple([name for each in inside for name in each.co_names])
    if not CONSTANT.isdisjoint(names):
        return
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents, names
        except ValueError:  # not assigned yet
            continue
    for name in names:
        if name in function.__globals__:
            yield function.__globals__[name], names
    for value in function.__defaults__ or ():
        yield value, names
