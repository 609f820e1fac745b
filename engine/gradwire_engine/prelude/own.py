"""Gradwire's own functions of the prelude: their words, and their place among all functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradwire_engine.ops.base import FUNCTIONS, SINGLETONS, Op, publish
from gradwire_engine.ops.builder import Builder, Var
from gradwire_engine.ops.elementwise import (
    BOOL,
    Binary,
    InexactBinary,
    InexactUnary,
    SpecialBinary,
    SpecialUnary,
    Unary,
)
from gradwire_engine.ops.linalg.products import MatMul
from gradwire_engine.ops.pointwise.activations import Softplus, gated
from gradwire_engine.ops.promotion import DTYPES, inexact_promoted
from gradwire_engine.ops.random.keys import place_of, real_parameters, uniforms
from gradwire_engine.prelude.compiler import OPERATORS
from gradwire_engine.prelude.source import sources
from gradwire_engine.prelude.vocabulary import WORDS

#: Their namespace, which names do not show.
OWN = "np"
#: Dtypes that need no conversion for any operation.
_FLOATING = "fdFD"


def _operator(name: str) -> Callable[..., Any]:
    """An operator as derivative rules have it: operands have one dtype, which numbers adopt."""
    op, known = SINGLETONS[name], OPERATORS[name]

    def apply(b: Builder, x: Any, y: Any) -> Any:
        if type(x) is Var:
            return b.emit(op, x, y if type(y) is Var else b.scalar(y, x.type.dtype))
        return b.emit(op, b.scalar(x, y.type.dtype), y) if type(y) is Var else known(x, y)

    return apply


def _of_one(op: Op, record: Callable[..., Any]) -> Callable[..., Any]:
    """An operation, at once on an array that needs no conversion."""

    def apply(b: Builder, x: Any) -> Any:
        if type(x) is Var and x.type.dtype.char in _FLOATING:
            return b.emit(op, x)
        return record(b, x)

    return apply


def _of_two(op: Op, record: Callable[..., Any]) -> Callable[..., Any]:
    """An operation, at once on two arrays that need no conversion."""

    def apply(b: Builder, x: Any, y: Any) -> Any:
        if type(x) is type(y) is Var:
            dtype = x.type.dtype
            if dtype is y.type.dtype and dtype.char in _FLOATING:
                return b.emit(op, x, y)
        return record(b, x, y)

    return apply


def _where(b: Builder, condition: Any, x: Any, y: Any) -> Any:
    """A choice, at once among arrays of one dtype."""
    if type(condition) is type(x) is type(y) is Var:
        dtype = x.type.dtype
        if dtype is y.type.dtype and condition.type.dtype is BOOL:
            return b.emit(SINGLETONS["where"], condition, x, y)
    return FUNCTIONS["where"].record(b, condition, x, y)


#: By what records them, operations that record one instruction on such arrays.
_AT_ONCE: dict[Any, Callable[[Op, Callable[..., Any]], Callable[..., Any]]] = {
    **{
        vars(kind)["record"].__func__: _of_one
        for kind in (Unary, InexactUnary, SpecialUnary, Softplus)
    },
    **{
        vars(kind)["record"].__func__: _of_two
        for kind in (Binary, InexactBinary, SpecialBinary, MatMul)
    },
}


def _promoted_some(b: Builder, *operands: Any) -> list[Any]:
    """Those that are given, in one floating dtype."""
    made = iter(b.promote(*[x for x in operands if x is not None], rule=inexact_promoted))
    return [None if x is None else next(made) for x in operands]


#: By name, what is called with a builder first.
OWN_WORDS: dict[str, Callable[..., Any]] = {
    **WORDS,
    **{name: _operator(name) for name in OPERATORS if name != "negative"},
    "where": _where,
    "promoted_some": _promoted_some,
    "falling": lambda b, n: b.table((n,), lambda i: n - i, weak=True),
    # What draws need: uniform numbers, and parameters of one floating dtype.
    "uniforms": lambda b, key, shape: uniforms(b, key, shape, DTYPES["float64"]),
    "real_parameters": real_parameters,
    "place_of": place_of,
    # A product with a gate that may be 0 where the other factor is infinite.
    "gated": lambda b, x, gate: gated(x, gate),
}


def own(name: str) -> Callable[..., Any]:
    """The recorder of a call of ``name`` in Gradwire's own functions."""
    plain = name.removeprefix("np.")
    word = OWN_WORDS.get(plain if plain in OPERATORS else name)
    if word is not None:
        return word
    function = FUNCTIONS[plain]
    at_once = _AT_ONCE.get(getattr(function.record, "__func__", None))
    record: Callable[..., Any] = function.record
    return record if at_once is None else at_once(SINGLETONS[function.name], record)


def enter() -> None:
    """Give Gradwire's own functions a place among those that are written in Python."""
    for source in sources(OWN, own):
        for made in source.public:
            names = [f"{source.namespace}.{made.name}", *source.aliases[made.name]]
            name, *aliases = [each.removeprefix(f"{OWN}.") for each in names]
            publish(name, tuple(aliases), made, made.doc, source.family, made.differentiable)
