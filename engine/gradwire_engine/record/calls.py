"""Calls while recording: operations by name and dialect, the names of results, calls met before.

Most calls of a long program were met before: an operation on the same types records the same
instruction, which need not be found again by name, dialect, promotion and type rule.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Container, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from gradwire_engine import dialects, hints
from gradwire_engine.errors import BadArgument, UnknownOperation
from gradwire_engine.ops.base import FUNCTIONS, Function, Op, is_static
from gradwire_engine.ops.builder import Builder, Var, check_nesting
from gradwire_engine.ops.halves import rounded_once
from gradwire_engine.ops.linalg.products import MatMul
from gradwire_engine.ops.promotion import DTYPES
from gradwire_engine.prelude import Definition
from gradwire_engine.record import composites
from gradwire_engine.record.composites import COMPOSITES
from gradwire_engine.record.language import CONSTANTS, LANGUAGE, OF_ARRAYS
from gradwire_engine.record.recorder import Recorder
from gradwire_engine.record.scope import MISSING, Operation
from gradwire_engine.tape import DType, Type

#: Types of the literals that become constants of the other operand's dtype.
_LITERALS = frozenset((bool, int, float, complex))


class CallCache:
    """The results of the calls of one recording, by their keys."""

    def __init__(self, b: Builder) -> None:
        self._b = b
        #: By words, and the type of each argument, Python's for a literal.
        self._known: dict[Hashable, tuple[Op, DType, Type]] = {}

    def again(self, words: Hashable, numbers: Sequence[int], results: Sequence[Any]) -> Var | None:
        """Record a call with the ``results`` of these numbers as before, if there was one."""
        if len(numbers) == 2:
            x, y = results[numbers[0]], results[numbers[1]]
            of_x = x.type if type(x) is Var else type(x)
            of_y = y.type if type(y) is Var else type(y)
            known = self._known.get((words, of_x, of_y))
            if known is None:
                return None
            b, (op, dtype, kind) = self._b, known
            if type(x) is not Var:
                x = b.scalar(x, dtype)
            elif type(y) is not Var:
                y = b.scalar(y, dtype)
            return b.again(op, (x.slot, y.slot), kind)
        if len(numbers) == 1 and type(x := results[numbers[0]]) is Var:
            known = self._known.get((words, x.type))
            return None if known is None else self._b.again(known[0], (x.slot,), known[2])
        return None

    def learn(self, words: Hashable, args: Sequence[Any], result: Var) -> None:
        """Remember a call that has just been recorded, if one instruction on ``args`` was all."""
        b = self._b
        op, slots, kind, _ = b.instructions[result.slot]
        if op.parameters or len(args) > 2 or not (op.elementwise or type(op) is MatMul):
            return
        arrays = [x.type for x in args if type(x) is Var]
        literals = [x for x in args if type(x) in _LITERALS]
        if not arrays:
            return
        if len(arrays) + len(literals) < len(args) or (literals and arrays[0].weak):
            return  # of literals alone each is a constant of its own
        for x, slot in zip(args, slots, strict=False):
            if type(x) is Var and x.slot != slot:
                return
        dtype = arrays[0].dtype
        operands = [x if type(x) is Var else b.scalar(x, dtype) for x in args]
        if slots == tuple([x.slot for x in operands]):
            of = [x.type if type(x) is Var else type(x) for x in args]
            self._known[words, *of] = op, dtype, kind


#: The items' names, and the functions that give such lists.
_NAMED = {
    "sign logabsdet": "slogdet torch.slogdet torch.linalg.slogdet",
    "sign log_abs_determinant": "tf.linalg.slogdet",
    "eigenvalues eigenvectors": "eigh eig torch.linalg.eigh torch.linalg.eig",
    "U S Vh": "svd torch.linalg.svd",
    "U S V": "torch.svd",
    "Q R": "qr torch.linalg.qr torch.qr",
    "q r": "tf.linalg.qr",
    "lu p": "tf.linalg.lu",
    "P L U": "torch.linalg.lu torch.lu_unpack",
    "LU pivots": "torch.linalg.lu_factor",
    "LU pivots info": "torch.linalg.lu_factor_ex",
    "mantissa exponent": "torch.frexp",
    "solution residuals rank singular_values": "torch.linalg.lstsq",
    "solution cloned_coefficient": "torch.triangular_solve",
    "inverse info": "torch.linalg.inv_ex",
    "L info": "torch.linalg.cholesky_ex",
    "result info": "torch.linalg.solve_ex",
    "min max": "torch.aminmax",
    "hist bin_edges": "torch.histogram",
    "values indices": "tf.math.top_k torch.topk torch.sort torch.max torch.min torch.median "
    "torch.nanmedian torch.mode torch.kthvalue torch.cummax torch.cummin",
}
_BY_FUNCTION = {
    function: tuple(names.split())
    for names, functions in _NAMED.items()
    for function in functions.split()
}


class Results(list[Any]):
    """A list whose items have names, too."""

    names: tuple[str, ...] = ()


def with_names(function: str, result: Any) -> Any:
    """The result of a function, with the names of its items where they have some."""
    if type(result) is not list:
        return result
    names = _BY_FUNCTION.get(function, ())
    if len(result) != len(names):
        return result
    results = Results(result)
    results.names = names
    return results


#: Prefixes under which the names are NumPy's and SciPy's own.
_NUMPY = (
    *("np.", "numpy.", "jnp.", "jax.numpy.", "jax.scipy.special.", "jax.scipy.linalg."),
    *("jax.scipy.", "jax.", "scipy.special.", "special.", "scipy.linalg.", "scipy.", "operator."),
)
#: Names that are not: NumPy's own draws have no key.
_KEYLESS = ("np.random.", "numpy.random.")
#: Before the names of constants of nature.
_PHYSICAL = "scipy.constants."
#: Python's types where a dtype is asked for.
_PYTHON_TYPES = {"bool": "bool", "int": "int64", "float": "float64", "complex": "complex128"}
#: Operators that are words, so no functions to suggest.
_WORDS = frozenset("not is is_not in not_in".split())


def call(r: Recorder, name: str, args: Sequence[Any], named: Mapping[str, Any]) -> Any:
    """Record the operation called ``name``."""
    special = of_language(name)
    if special is not None:
        return _invoke(name, special, r, args, named)
    return operation(r, name, args, named)


def of_language(name: str) -> Callable[..., Any] | None:
    """The function of the recorder that a name means, if it is none of arrays alone."""
    if name.startswith("nn."):
        name = f"torch.{name}"
    return LANGUAGE.get(name) or (OF_ARRAYS.get(_plain(name)) if "." in name else None)


def operation(r: Recorder, name: str, args: Sequence[Any], named: Mapping[str, Any]) -> Any:
    """Record an operation as the registry has it."""
    function = resolve(name)
    positions, names = _static_parameters(function)
    if named and (leading := _leading(function)) and named.keys() >= {*leading}:
        args = [*[named[name] for name in leading], *args]
        named = {k: a for k, a in named.items() if k not in leading}
    if names:
        args = [_static(r, a) if i in positions else a for i, a in enumerate(args)]
        named = {k: _static(r, a) if k in names else a for k, a in named.items()}
    if not COMPOSITES.isdisjoint(map(type, args)) and (rule := composites.rule(function)):
        return _invoke(name, rule, r, args, named)
    return with_names(function.name, _invoke(name, function.record, r.b, args, named))


def constant(name: str) -> Any:
    """The constant that a prefixed name means, ``np.pi``, or ``MISSING``."""
    if name.startswith(_PHYSICAL):
        value = getattr(import_module("scipy.constants"), name.removeprefix(_PHYSICAL), None)
        return value if isinstance(value, int | float) else MISSING
    if dialects.own(name) is None:
        return CONSTANTS.get(_plain(name), MISSING)
    return dialects.dtype(name) or CONSTANTS.get(name.partition(".")[2], MISSING)


def is_operation(name: str) -> bool:
    """True if a name that stands by itself is a function's."""
    if name in FUNCTIONS or of_language(name) is not None:
        return True
    return "." in name and _found(name) is not None


@cache
def resolve(name: str) -> Function:
    """The operation that a name means, or ``UnknownOperation`` with the closest name there is."""
    found = _found(name)
    if found is None and isinstance(dtype := constant(name), np.dtype):
        return _conversion(name, dtype)
    if found is None:
        hint = _closest(name) or "GET /v1/ops lists all"
        raise UnknownOperation(f"there is no operation '{name[:60]}'", hint=hint)
    record = found.record
    return replace(found, record=record.record) if isinstance(record, Definition) else found


def _found(name: str) -> Function | None:
    found = dialects.find(name)
    if found is None and dialects.own(name) is None:
        plain = _plain(name)
        found = FUNCTIONS.get(name) or FUNCTIONS.get(plain)
        if found is None and plain.startswith(("linalg.", "fft.")):
            found = FUNCTIONS.get(plain.partition(".")[2])
    return found


def _closest(name: str) -> str | None:
    if name.startswith(("torch.nn.", "nn.")) and name.rpartition(".")[2][:1].isupper():
        return "send a module's parameters in variables: F.linear(x, weight, bias)"
    dialect = dialects.own(name)
    if dialect is None:
        known = [*FUNCTIONS, *[name for name in LANGUAGE if name not in _WORDS]]
        return hints.for_name(_plain(name), known)
    _, full = dialects.full_name(name) or (dialect, name)
    last = full.rpartition(".")[2]
    if f"{dialect.name}.Tensor.{last}" in dialect.functions:
        return f"it is a method: x.{last}()"
    alike = hints.like(full, dialect.functions)
    if alike is None and last in FUNCTIONS:
        return f"without a prefix there is {last}"
    return alike


def _conversion(name: str, dtype: Any) -> Function:
    """The function that a dtype is when it is called: ``float32(x)``."""
    astype = FUNCTIONS["astype"]

    def convert(b: Any, x: Any) -> Any:
        return astype.record(b, x, dtype)

    return replace(astype, name=name, aliases=(), record=convert)


def _plain(name: str) -> str:
    for prefix in _NUMPY:
        if name.startswith(prefix) and not name.startswith(_KEYLESS):
            return name[len(prefix) :]
    return name


def _static(r: Recorder, value: Any) -> Any:
    if isinstance(value, Var):
        known = r.truth if value.dtype == bool else r.integer  # a mask is no list of 0 and 1
        return known(value) if value.ndim == 0 else [known(v) for v in r.iterate(value)]
    if isinstance(value, list | tuple):
        check_nesting(value)
        return type(value)([_static(r, item) for item in value])
    if isinstance(value, Operation):  # dtype=float
        return DTYPES.get(_PYTHON_TYPES.get(value.name, ""), value)
    return value


@cache
def _static_parameters(function: Function) -> tuple[Container[int], set[str]]:
    """Positions and names of the parameters annotated ``Static``."""
    parameters = [*inspect.signature(function.record).parameters.values()][1:]
    static = [(i, p) for i, p in enumerate(parameters) if is_static(p)]
    positions = {i for i, p in static if p.kind is not p.KEYWORD_ONLY}
    names = {p.name for _, p in static}
    synonyms: dict[str, str] = getattr(function.record, "synonyms", {})
    names.update([written for written, meant in synonyms.items() if meant in names])
    starred = [i for i, p in static if p.kind is p.VAR_POSITIONAL]
    return range(starred[0], sys.maxsize) if starred else positions, names


@cache
def _leading(function: Function) -> tuple[str, ...]:
    """Names of the parameters that any number of arguments follow: of einsum, its subscripts.

    A graph gives these by name, since the strings among its arguments are names of values.
    """
    parameters = [*inspect.signature(function.record).parameters.values()][1:]
    starred = [i for i, p in enumerate(parameters) if p.kind is p.VAR_POSITIONAL]
    return tuple([p.name for p in parameters[: starred[0]]]) if starred else ()


def _invoke(
    name: str, record: Callable[..., Any], first: Any, args: Sequence[Any], named: Mapping[str, Any]
) -> Any:
    try:
        if isinstance(first, Builder):
            return rounded_once(first, record, args, named)
        return record(first, *args, **named)
    except TypeError as error:
        try:
            inspect.signature(record).bind(first, *args, **named)
        except TypeError as mismatch:
            hint = _arguments_hint(record, named)
            raise BadArgument(f"{name[:60]}: {mismatch}", hint=hint) from None
        raise error


def _arguments_hint(record: Callable[..., Any], named: Mapping[str, Any]) -> str | None:
    """A hint at the parameter that was meant, or at all that there are."""
    _, *parameters = inspect.signature(record).parameters.values()
    known = [p.name for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    for name in named:
        if name not in known and (hint := hints.for_parameter(name, known)):
            return hint
    return f"its parameters are {', '.join(known)}" if known else None
