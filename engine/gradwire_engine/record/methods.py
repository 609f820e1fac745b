"""Methods and attributes of values: those of the library in whose names the text is written."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from gradwire_engine import dialects, hints
from gradwire_engine.errors import BadArgument, UnknownName, UnknownOperation
from gradwire_engine.ops.arrays.indexing import GetItem, SetItem
from gradwire_engine.ops.base import FUNCTIONS
from gradwire_engine.ops.builder import Var, describe
from gradwire_engine.ops.composites import Composite
from gradwire_engine.program import Program, nested_nodes
from gradwire_engine.record import composites
from gradwire_engine.record.calls import Results, call, operation
from gradwire_engine.record.indexing import At, Place, update
from gradwire_engine.record.language import LANGUAGE, OF_ARRAYS
from gradwire_engine.record.recorder import Recorder

#: The functions that NumPy's and JAX's arrays have as methods.
_OF_NUMPY = frozenset(
    "all any argmax argmin argsort astype clip compress conj conjugate copy cumprod cumsum "
    "diagonal dot flatten item max mean min nonzero prod ptp ravel repeat reshape round "
    "searchsorted sort squeeze std sum swapaxes take trace transpose var".split()
)
#: Those of which the same call means another thing to PyTorch's tensors.
_DIFFERING = frozenset("max min repeat sort std transpose var".split())
#: Where PyTorch keeps what tensors have as methods: alone, and as functions too.
_OF_TORCH = ("torch.Tensor.", "torch.")
#: Parameters of PyTorch's functions that take the tensor, functions of one that are no methods,
#: and parameters whose lengths or axes may be given one by one.
_TENSORS = ("input", "tensor", "A", "B", "L", "b")
_NO_METHODS = frozenset(
    "bucketize celu channel_shuffle combinations constant_pad_nd conv1d conv2d conv3d "
    "conv_transpose1d conv_transpose2d conv_transpose3d empty_like fill full_like gradient imag "
    "ones_like pdist pixel_shuffle pixel_unshuffle poisson rand_like randn_like real rsub "
    "searchsorted selu std_mean tensordot threshold var_mean view_as_complex view_as_real "
    "zeros_like".split()
)
_SPREAD = frozenset(("shape", "size", "sizes", "dims", "axes"))
#: Keywords of methods that only PyTorch has.
_KEYWORDS = frozenset(("dim", "dims", "keepdim", "unbiased"))
#: Prefixes of libraries whose arrays have NumPy's methods, or none.
_OTHERS = frozenset(("np", "numpy", "jnp", "jax", "lax", "tf"))
#: Methods of dicts and nested variables, as Python has them.
_VIEWS: dict[str, Callable[[dict[str, Any]], Iterable[Any]]] = {
    "keys": dict.keys,
    "values": dict.values,
    "items": dict.items,
}
#: Attributes that are operations.
_COMPUTED = {
    "T": "transpose",
    "mT": "matrix_transpose",
    "real": "real",
    "imag": "imag",
    "H": "torch.adjoint",
    "mH": "torch.adjoint",
    "data": "torch.detach",
}
_ATTRIBUTES = ("T", "mT", "real", "imag", "shape", "size", "ndim", "dtype")
_STATE = {"assign": None, "assign_add": "add", "assign_sub": "subtract"}

#: The functions of operators; these names mean the operation whatever variables are called.
_OPERATORS = frozenset(
    "add subtract multiply divide floor_divide remainder power matmul negative positive invert "
    "equal not_equal less less_equal greater greater_equal bitwise_and bitwise_or bitwise_xor "
    "left_shift right_shift logical_and not is is_not in not_in dict".split()
)


class Method(NamedTuple):
    """The function that a method is: its name, and the place of the value among its arguments."""

    function: str
    place: int = 0
    #: Whether what follows may be lengths or axes, one by one.
    spreads: bool = False


@cache
def _of_numpy(name: str) -> Method | None:
    return _method_of(name, name, ("a",)) if name in _OF_NUMPY else None


@cache
def _of_torch(name: str) -> Method | None:
    if name in _NO_METHODS:
        return None
    found = [_method_of(prefix + name, prefix + name, _TENSORS) for prefix in _OF_TORCH]
    return found[0] or found[1]


def _method_of(name: str, written: str, tensors: Sequence[str]) -> Method | None:
    record: Any = (LANGUAGE if "." in name else OF_ARRAYS).get(name)
    if record is None and (function := FUNCTIONS.get(name) or dialects.find(name)):
        record = function.record
    if record is None:
        return None
    _, *parameters = inspect.signature(record).parameters
    places = [i for i, p in enumerate(parameters) if p in tensors]
    if not places and tensors is _TENSORS:
        return None
    place = places[0] if places else 0
    others = [p for i, p in enumerate(parameters) if i != place]
    return Method(written, place, bool(others) and others[0] in _SPREAD)


def libraries(program: Program, variables: frozenset[str]) -> tuple[bool, bool]:
    """True if a text is written in PyTorch's names, and True if in another library's, too.

    PyTorch's are its functions, the methods that only tensors have, and their keywords.
    """
    of_torch = of_others = False
    nodes = [*chain.from_iterable(nested_nodes(program.body))]
    # Members of the text's dicts may be functions, of any name.
    members = {key for node in nodes if node.kind == "dict" for key in node.value}
    for node in nodes:
        keywords: Sequence[str] = ()
        if node.kind in ("method", "call"):
            name, keywords = node.value
            members.update(keywords if name == "dict" else ())
        elif node.kind == "load":
            name = node.value
        else:
            continue
        root, dot, _ = name.partition(".")
        if node.kind == "method" or (dot and root in variables):
            last = name.rpartition(".")[2]
            alone = last not in members and _is_of_tensors_alone(last)
            of_torch |= alone or not _KEYWORDS.isdisjoint(keywords)
        elif root in ("torch", "F", "nn") and dot:
            of_torch = True
        elif dot and node.kind == "call":
            of_others |= root in _OTHERS
    return of_torch, of_others


def _is_of_tensors_alone(name: str) -> bool:
    of_arrays = callable(getattr(np.ndarray, name, None)) and name != "view"
    return not of_arrays and _of_torch(name) is not None


def method(
    r: Recorder, target: Any, name: str, args: Sequence[Any], named: Mapping[str, Any]
) -> Any:
    """``target.name(*args)`` for an array, a list, or a variable's state."""
    if isinstance(target, Composite) and name in composites.METHODS:
        return call(r, composites.METHODS[name], [target, *args], named)
    if isinstance(target, dict):
        if name in _VIEWS and name not in target and not args and not named:
            return [list(item) if name == "items" else item for item in _VIEWS[name](target)]
        return r.apply(attribute(target, name), args, named)
    if isinstance(target, Place):
        return update(r.b, target, name, args, named)
    if not isinstance(target, Var):
        target = r.b.array(target)
    if name in _STATE:
        return _assign(r, target, name, args)
    meant = _meant(r, name, args, named)
    if meant is None:
        raise _unknown(name)
    given = [*args]
    if meant.spreads and given and not isinstance(given[0], list | tuple):
        given = [tuple(given)]
    given.insert(meant.place, target)
    record = call if "." in meant.function or meant.function in OF_ARRAYS else operation
    return record(r, meant.function, given, named)


def _meant(r: Recorder, name: str, args: Sequence[Any], named: Mapping[str, Any]) -> Method | None:
    """The function that a method is, by the library of the text where both have one."""
    of_numpy, of_torch = _of_numpy(name), _of_torch(name)
    if of_torch is None or (of_numpy is None and _is_of_tensors_alone(name)):
        return of_torch or of_numpy
    by_torch, by_others = r.libraries
    if not by_torch:
        return of_numpy
    differs = name in _DIFFERING and (args or named or name not in ("max", "min"))
    if by_others and differs and _KEYWORDS.isdisjoint(named):
        raise BadArgument(
            f".{name} means one thing to NumPy's arrays, another to PyTorch's tensors, and the "
            "program has names of both",
            hint=f"write np.{name}(x) or torch.{name}(x)",
        )
    return of_torch


def _unknown(name: str) -> UnknownOperation:
    hint: str | None
    if name in ("zero_", "fill_", "copy_"):
        hint = "arrays do not change: write x = torch.full_like(x, value)"
    elif name.endswith("_") and _of_torch(name[:-1]):
        hint = f"arrays do not change: write x = x.{name[:-1]}(…)"
    elif name in _ATTRIBUTES:
        hint = f"write .{name} without parentheses"
    else:
        hint = hints.for_name(name, _methods())
        if name in FUNCTIONS:
            hint = f"it is a function: {name}(x)"
    return UnknownOperation(f"arrays have no method '{name[:40]}'", hint=hint)


@cache
def _methods() -> list[str]:
    """Names of all methods that arrays have."""
    names = [n.rpartition(".")[2] for n in dialects.TORCH.functions if n.startswith(_OF_TORCH)]
    return sorted({*_OF_NUMPY, *[name for name in names if _of_torch(name)]})


def call_shadowed(r: Recorder, dotted: str, args: Sequence[Any], named: Mapping[str, Any]) -> Any:
    """A call in source text whose first name is a variable: of a method, or a mistake."""
    root, *path = dotted.split(".")
    if not path:
        if dotted in _OPERATORS:
            return call(r, dotted, args, named)
        hint = f"is a * missing? an element is written {root[:40]}[0]"
        raise BadArgument(f"'{root[:40]}' is a variable here and cannot be called", hint=hint)
    target = r.lookup(root)
    for part in path[:-1]:
        target = attribute(target, part)
    return method(r, target, path[-1], args, named)


def attribute(target: Any, name: str) -> Any:
    """A member of a nested variable, a named result, or one of the attributes that arrays have."""
    if isinstance(target, dict):
        if name not in target:
            known = composites.attribute(target, name) if isinstance(target, Composite) else None
            if known is not None:
                return known
            whole = target if isinstance(target, Composite) else "the nested variable"
            message = f"{whole} has no member '{name[:40]}'"
            raise UnknownName(message, hint=hints.like(name, target))
        return target[name]
    if isinstance(target, Results) and name in target.names:
        return target[target.names.index(name)]
    hint = None
    if isinstance(target, Var):
        if name in _COMPUTED:
            function = FUNCTIONS.get(_COMPUTED[name]) or dialects.find(_COMPUTED[name])
            assert function is not None
            return function.record(target.builder, target)
        if name in ("shape", "ndim", "dtype"):
            return getattr(target, name)
        if name == "size":
            return target.type.size
        if name == "at":
            return At(target)
        hint = hints.for_attribute(name) or f"arrays have {', '.join(_ATTRIBUTES)}"
        if name in _methods():
            hint = f"call it: .{name}()"
    raise BadArgument(f"{describe(target)} has no attribute '{name[:40]}'", hint=hint)


def _assign(r: Recorder, target: Var, name: str, args: Sequence[Any]) -> Var:
    """Assign to the variable that ``target`` is, or is elements of; gives the whole of it."""
    b, state = r.b, r.state
    op, operands, _, _ = b.instructions[target.slot]
    part = op if isinstance(op, GetItem) else None
    variable, *indices = [b.vars[slot] for slot in operands] if part else [target]
    if variable.slot not in state.owners:
        raise BadArgument("only variables can be assigned to", hint="rebind the name with =")
    if len(args) != 1:
        raise BadArgument(f"{name} takes one argument, got {len(args)}")
    variable = state.latest(variable)  # an alias may be of a value before
    old = part(variable, *indices) if part else variable
    operator = _STATE[name]
    value = args[0] if operator is None else FUNCTIONS[operator].record(b, old, args[0])
    if part:
        value = SetItem(part.pattern)(variable, r.fitting(old, value), *indices)
    return r.assign(variable, value)
