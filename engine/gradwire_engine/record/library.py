"""Functions that are programs: what the prelude has of them runs as the client's functions do.

All of it belongs to the node that calls it, so that errors and costs are of the client's text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache, partial, reduce
from itertools import count
from typing import Any

from gradwire_engine.autodiff import matrices
from gradwire_engine.autodiff.reverse import pullback
from gradwire_engine.batching.retrace import Retrace, reads
from gradwire_engine.frontends.text import read_body
from gradwire_engine.nesting import leaves, rebuild
from gradwire_engine.ops.base import Cotangents
from gradwire_engine.ops.builder import Builder, Var
from gradwire_engine.ops.composites import Composite
from gradwire_engine.ops.constants import Copy, StopGradient
from gradwire_engine.ops.requirements import Required
from gradwire_engine.prelude.texts import Written, programs
from gradwire_engine.prelude.vocabulary import CONSTANTS
from gradwire_engine.prelude.vocabulary import WORDS as OF_BUILDERS
from gradwire_engine.program import Block, Node, stored_names
from gradwire_engine.record.calculus import is_function
from gradwire_engine.record.recorder import Recorder
from gradwire_engine.record.scope import Closure, Scope, Transformed
from gradwire_engine.record.transformations import ruled


def _implicit(r: Recorder, f: Any, x: Any, adjoint: Any) -> Var:
    """``x`` as the root of ``f``, and so a function of all that ``f`` reads.

    ``adjoint(f, x, x_bar)`` is the ``y_bar`` with ``(∂f/∂x)ᵀ y_bar = x_bar``.
    Source: Krantz and Parks, The Implicit Function Theorem (2002).
    """
    x = Copy()(StopGradient()(x))
    start = len(r.b.vars)
    y = r.apply(f, [x], {})
    operands = [read for read in reads([y], start) if read.slot != x.slot]

    def rule(bars: Sequence[Var]) -> Cotangents:
        at, again = Copy()(root), [Copy()(read) for read in operands]
        given = dict(zip(operands, again, strict=True))
        z = Retrace({x: at, **given})(y)

        def here(r: Recorder, args: Sequence[Any], named: Mapping[str, Any]) -> Var:
            return z if args[0] is at else Retrace({x: args[0], **given})(y)

        bar = r.apply(adjoint, [Transformed(here), at, -bars[0]], {})
        return pullback(r.b, [z], [bar], again)

    (root,) = ruled([x], operands, rule) if operands else [x]
    return root


def _transposed(r: Recorder, f: Any, x: Var) -> Transformed:
    """The function ``v -> (∂f/∂x)ᵀ v``."""
    y = r.apply(f, [x], {})

    def product(r: Recorder, args: Sequence[Any], named: Mapping[str, Any]) -> Var:
        (found,) = pullback(r.b, [y], [args[0]], [x])
        return r.b.full(0, x.type) if found is None else found

    return Transformed(product)


def _jacobians(r: Recorder, f: Any, *xs: Any) -> list[Any]:
    """``f(*xs)``, and its Jacobian in each, by rows: None where it does not depend on one."""
    y = r.apply(f, xs, {})
    return [y, *matrices.jacobian(r.b, y, xs)]


def _each(r: Recorder, f: Any, nested: Any, *others: Any) -> Any:
    """``f`` of the leaves that have one place, nested as those of the first."""
    following = [iter(leaves(other)) for other in others]
    return rebuild(nested, lambda x: r.apply(f, [x, *map(next, following)], {}))


def _along(r: Recorder, y: Any, h: Any, weights: Sequence[float], slopes: Sequence[Any]) -> Any:
    """``y + h Σ weight slope``, leaf by leaf."""
    factor = 1 if isinstance(h, Var) else h
    pairs = [(factor * w, leaves(k)) for w, k in zip(weights, slopes, strict=True) if w]
    numbers = count()

    def moved(x: Var) -> Any:
        i = next(numbers)
        terms = [k[i] if w == 1 else r.operation("multiply", k[i], w) for w, k in pairs]
        total = reduce(partial(r.operation, "add"), terms)
        return r.operation(
            "add", x, r.operation("multiply", h, total) if factor is not h else total
        )

    return rebuild(y, moved) if pairs else y


def _checkpointed(r: Recorder, f: Any) -> Transformed:
    """``f``, of whose loops a derivative keeps what segments of passes begin with."""

    def call(r: Recorder, args: Sequence[Any], named: Mapping[str, Any]) -> Any:
        r.checkpoints += 1
        try:
            return r.apply(f, args, named)
        finally:
            r.checkpoints -= 1

    return Transformed(call)


def _captured(r: Recorder, f: Any, *args: Any) -> list[Any]:
    """``f(*args)``, and all that it reads besides and that has derivatives."""
    start, own = len(r.b.vars), {x.slot for x in leaves(list(args))}
    value = r.apply(f, args, {})
    read = reads(leaves(value), start)
    return [value, [x for x in read if x.type.differentiable and x.slot not in own]]


def _given_rule(r: Recorder, value: Any, operands: Any, rule: Any) -> Any:
    """``value``, as constants to all but ``operands``, whose cotangents are ``rule(value, bars)``.

    The rule is recorded now, for what stands for any cotangents: names mean now what they did when
    the value was computed.
    """
    at = rebuild(value, Copy())
    seeds = [matrices.stand_in(x) for x in leaves(at)]
    recorded = leaves(r.apply(rule, [at, seeds], {}))

    def given(bars: Sequence[Var]) -> Cotangents:
        anew = Retrace(dict(zip([*seeds, *leaves(at)], [*bars, *results], strict=True)))
        return [anew(x) for x in recorded]

    results = ruled(leaves(value), leaves(operands), given)
    following = iter(results)
    return rebuild(value, lambda _: next(following))


def _pulled_back(r: Recorder, f: Any, x: Any, read: Sequence[Var], bars: Any) -> list[Any]:
    """``f(x)``, and the cotangents of ``x`` and of what it reads, for these of its value."""
    at, again = rebuild(x, Copy()), [Copy()(v) for v in read]
    made, sources = r.apply(f, [at], {}), [*leaves(at), *again]
    anew = Retrace(dict(zip([*leaves(at), *read], sources, strict=True)))
    targets = [anew(v) for v in leaves(made)]
    found = pullback(r.b, targets, leaves(bars), sources)
    pairs = zip(sources, found, strict=True)
    cotangents = [r.b.full(0, x.type) if bar is None else bar for x, bar in pairs]
    cut = len(leaves(at))
    return [made, cotangents[:cut], cotangents[cut:]]


def _fits(r: Recorder, nested: Any, like: Var) -> bool:
    """True if an array has room for a matrix of all real numbers of nested values."""
    nbytes = sum([x.type.nbytes for x in leaves(nested)])
    return bool(nbytes**2 // like.dtype.itemsize <= r.b.limits.array_bytes)


def _of_recorder(word: Callable[..., Any]) -> Transformed:
    return Transformed(lambda r, args, named: word(r, *args, **named))


def _of_builder(word: Callable[..., Any]) -> Transformed:
    return Transformed(lambda r, args, named: word(r.b, *args, **named))


def _plain(word: Callable[..., Any]) -> Transformed:
    return Transformed(lambda r, args, named: word(*args, **named))


#: Words by name, as functions that are values.
WORDS: dict[str, Transformed] = {
    "implicit": _of_recorder(_implicit),
    "transposed": _of_recorder(_transposed),
    "jacobians": _of_recorder(_jacobians),
    "each": _of_recorder(_each),
    "along": _of_recorder(_along),
    "checkpointed": _of_recorder(_checkpointed),
    "captured": _of_recorder(_captured),
    "given_rule": _of_recorder(_given_rule),
    "pulled_back": _of_recorder(_pulled_back),
    "fits": _of_recorder(_fits),
    # An integer that is known from here on, and values of all examples that are mapped over.
    "integer": _of_recorder(lambda r, x: r.integer(x)),
    "everywhere": _of_recorder(lambda r, x: r.concrete.everywhere(x)),
    "in_loop": _of_recorder(lambda r: bool(r.b.regions)),
    "constant": _of_builder(Builder.constant),
    **{
        name: _of_builder(OF_BUILDERS[name])
        for name in ("variable", "inexact", "together", "cast", "scalar")
    },
    **{name: _plain(CONSTANTS[name]) for name in ("refuse", "kind", "eps")},
    "is_function": _plain(is_function),
    "is_composite": _plain(lambda x: isinstance(x, Composite)),
    "leaves": _plain(leaves),
    "required": _plain(lambda x, holds, message, hint: Required(message, hint)(x, holds)),
}

#: The scope that all are defined in.
_SCOPE = Scope()


class Subroutine(Written):
    """A function whose text the recorder runs."""

    def __call__(self, r: Recorder, *args: Any, **named: Any) -> Any:
        """Call it."""
        return r.apply(self.function, args, named)

    @cached_property
    def function(self) -> Transformed:
        """The function as a value."""
        return Transformed(self._run)

    def _run(self, r: Recorder, args: Sequence[Any], named: Mapping[str, Any]) -> Any:
        if named or len(args) != len(self._names) or "args" in self._names:
            bound = self.__signature__.bind(r, *args, **named)
            bound.apply_defaults()
            args = [bound.arguments[name] for name in self._names]
        body = _placed(self.body, r.node.at)
        function = Closure(self._names, (), body, _SCOPE, self._local)
        return r.enter(function, dict(zip(self._names, args, strict=True)))

    @cached_property
    def _names(self) -> tuple[str, ...]:
        return tuple(self.__signature__.parameters)[1:]

    @cached_property
    def _local(self) -> frozenset[str]:
        return stored_names(self.body).union(self._names)

    @cached_property
    def body(self) -> Block:
        """The body of the definition."""
        return read_body(self.definition, [*_SCOPE.names, *self._names])


@lru_cache(1024)
def _placed(block: Block, at: int) -> Block:
    """A block all of whose nodes are the node with number ``at``."""
    return Block(tuple([_at(node, at) for node in block.nodes]))


def _at(node: Node, at: int) -> Node:
    return node._replace(blocks=tuple([_placed(block, at) for block in node.blocks]), at=at)


#: All functions by name, those too that begin with an underscore and that clients do not have.
SUBROUTINES = {name: Subroutine(text) for name, text in programs()}
_SCOPE.names |= WORDS
_SCOPE.names |= {name: f.function for name, f in SUBROUTINES.items() if name[0] == "_"}
#: Called as ``function(recorder, *args, **named)``.
LIBRARY: dict[str, Callable[..., Any]] = {
    name: function for name, function in SUBROUTINES.items() if name[0] != "_"
}
