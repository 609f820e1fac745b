"""Control flow and functions of functions that stay in the program.

Python's ``if``, ``while`` and ``for`` are recorded as they are executed; these are decided by the
service, anew for each call's values. All are written in the language as ``jax.lax`` has them. Where
nothing is recorded they are plain Python.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradwire.tracing import literals
from gradwire.tracing.recorded import as_term, is_number, item_of, listed, outputs
from gradwire.tracing.shapes import Aval
from gradwire.tracing.structures import LEAF, Structure, flatten, unflatten
from gradwire.tracing.terms import Body, Bound, Term
from gradwire.tracing.tracer import Tracer
from gradwire.tracing.traces import Trace, current, not_traceable


def cond(
    predicate: Any,
    true_function: Callable[..., Any],
    false_function: Callable[..., Any],
    *args: Any,
) -> Any:
    """``true_function(*args)`` where the predicate holds, else ``false_function(*args)``.

    Both must give the same structure, shapes and dtypes.
    """
    trace = current()
    if trace is None or not isinstance(predicate, Tracer):
        return (true_function if predicate else false_function)(*args)
    return _chosen(trace, "lax.cond", [predicate], [true_function, false_function], args)


def switch(index: Any, functions: Sequence[Callable[..., Any]], *args: Any) -> Any:
    """``functions[index](*args)``, an index beyond them being that of the nearest."""
    trace = current()
    if trace is None or not isinstance(index, Tracer):
        return functions[min(max(int(index), 0), len(functions) - 1)](*args)
    return _chosen(trace, "lax.switch", [index], functions, args)


def while_loop(condition: Callable[[Any], Any], body: Callable[[Any], Any], initial: Any) -> Any:
    """``carry = body(carry)``, from ``initial`` on, while ``condition(carry)`` holds.

    The carry keeps its structure, shapes and dtypes.
    """
    trace = current()
    if trace is None:
        carry = initial
        while condition(carry):
            carry = body(carry)
        return carry
    nest = _Nest(trace, initial)
    test, _ = _function(trace, condition, [nest])
    step, shape = _function(trace, body, [nest])
    _check_carry(shape, nest)
    return nest.read(_written(trace, "lax.while_loop(", test, step, nest.term))


def fori(lower: Any, upper: Any, body: Callable[[Any, Any], Any], initial: Any) -> Any:
    """``carry = body(i, carry)`` for each ``i`` from ``lower`` up to ``upper``, which is left out.

    The carry keeps its structure, shapes and dtypes; the limits may be values of the program.
    """
    trace = current()
    if trace is None:
        carry = initial
        for i in range(int(lower), int(upper)):
            carry = body(i, carry)
        return carry
    nest, counter = _Nest(trace, initial), _Nest(trace, np.int64(0))
    step, shape = _function(trace, body, [counter, nest])
    _check_carry(shape, nest)
    limits = [limit if isinstance(limit, Tracer) else int(limit) for limit in (lower, upper)]
    return nest.read(_written(trace, "lax.fori_loop(", *limits, step, nest.term))


def scan(
    f: Callable[[Any, Any], tuple[Any, Any]],
    initial: Any,
    xs: Any = None,
    length: int | None = None,
) -> tuple[Any, Any]:
    """``carry, y = f(carry, x)`` for each ``x`` along the first axis of ``xs``.

    The last carry, and all the ``y`` stacked. Without ``xs`` it runs ``length`` times.
    """
    trace = current()
    if trace is None:
        return _scan_here(f, initial, xs, length)
    nest, row = _Nest(trace, initial), _Nest(trace, xs, rows=True)
    shapes: list[Structure] = []

    def both(carry: Any, x: Any) -> Any:
        carried, y = f(carry, x)
        parts = [outputs(carried), outputs(y)]
        shapes.extend(shape for _, shape in parts)
        return [Tracer(listed([part._term for part in found]), trace) for found, _ in parts]

    step, _ = _function(trace, both, [nest.as_list(), row.as_list()])
    _check_carry(shapes[0], nest)
    given: list[Any] = [step, nest.as_list().term, row.as_list().term if row.count else None]
    count = "" if length is None else f", length={length}"
    whole = _written(trace, "lax.scan(", *given, ending=count)
    carried, ys = (Term(("", f"[{i}]"), (whole,)) for i in (0, 1))
    stacked = [item_of(ys, i, trace) for i in range(_count(shapes[1]))]
    return nest.as_list().read(carried), unflatten(shapes[1], iter(stacked))


def checkpoint(f: Callable[..., Any]) -> Callable[..., Any]:
    """``f``, its derivative computed from its arguments anew, so that less is kept in memory."""

    def checkpointed(*args: Any) -> Any:
        trace = current()
        if trace is None:
            return f(*args)
        nests = [_Nest(trace, arg) for arg in args]
        body, shape = _function(trace, f, nests)
        phrase = _phrase()
        phrase.text("checkpoint(")
        phrase.hole(body)
        phrase.text(")(")
        phrase.arguments(tuple(nest.term for nest in nests), {})
        phrase.text(")")
        return _read(trace, phrase.term(), shape)

    return checkpointed


def stop_gradient(x: Any) -> Any:
    """``x``, nested or not, as a constant to every derivative."""
    trace = current()
    if trace is None:
        return x
    leaves, structure = flatten(x, lambda part: isinstance(part, Tracer))
    stopped = [
        Tracer(Term(("stop_gradient(", ")"), (leaf._term,)), trace, leaf._aval, infer=leaf._infer)
        for leaf in leaves
    ]
    return unflatten(structure, iter(stopped))


class _Nest:
    """Nested values as one argument in the program: an array, or a list of arrays."""

    def __init__(self, trace: Trace, value: Any, *, rows: bool = False) -> None:
        self.trace = trace
        self.leaves, self.structure = flatten(value, is_number)
        self.bare = self.structure == LEAF
        self.rows = rows

    def as_list(self) -> _Nest:
        """The same, a list also where it is one array."""
        other: _Nest = object.__new__(_Nest)
        other.trace, other.leaves, other.structure = self.trace, self.leaves, self.structure
        other.bare, other.rows = False, self.rows
        return other

    @property
    def count(self) -> int:
        """How many arrays there are."""
        return len(self.leaves)

    @property
    def term(self) -> Term:
        """What is passed."""
        terms = [as_term(leaf, self.trace) for leaf in self.leaves]
        return terms[0] if self.bare else listed(terms)

    def param(self, bound: Bound) -> Any:
        """What a function of the program gets, nested, of its parameter."""
        return self.read(bound, known=True)

    def read(self, whole: Term, *, known: bool = False) -> Any:
        """What a list of arrays like these stands for."""
        avals = [self._aval(leaf) if known else None for leaf in self.leaves]
        if self.bare:
            return Tracer(whole, self.trace, avals[0])
        parts = [item_of(whole, i, self.trace, aval) for i, aval in enumerate(avals)]
        return unflatten(self.structure, iter(parts))

    def _aval(self, leaf: Any) -> Aval:
        if isinstance(leaf, Tracer):
            aval = leaf.aval
        else:
            array = np.asarray(leaf)
            aval = Aval(array.shape, array.dtype)
        return Aval(aval.shape[1:], aval.dtype) if self.rows else aval


def _function(
    trace: Trace, f: Callable[..., Any], params: Sequence[_Nest]
) -> tuple[Body, Structure]:
    """A function of the program that does what ``f`` does, and the structure of what it gives."""
    with trace.inside() as scope:
        bounds = [Bound(scope) for _ in params]
        given = [nest.param(bound) for nest, bound in zip(params, bounds, strict=True)]
        parts, shape = outputs(f(*given))
    terms = [part._term for part in parts]
    return Body(scope, tuple(bounds), terms[0] if shape == LEAF else listed(terms)), shape


def _chosen(
    trace: Trace,
    name: str,
    decided: Sequence[Any],
    functions: Sequence[Callable[..., Any]],
    args: Sequence[Any],
) -> Any:
    nests = [_Nest(trace, arg) for arg in args]
    recorded = [_function(trace, function, nests) for function in functions]
    if any(shape != recorded[0][1] for _, shape in recorded):
        raise not_traceable(
            f"the functions of {name} give different structures", "let all give the same"
        )
    bodies: list[Any] = [body for body, _ in recorded]
    branches = [bodies] if name == "lax.switch" else bodies
    terms = [nest.term for nest in nests]
    return _read(trace, _written(trace, f"{name}(", *decided, *branches, *terms), recorded[0][1])


def _written(trace: Trace, opening: str, *args: Any, ending: str = "") -> Term:
    phrase = _phrase()
    phrase.text(opening)
    phrase.arguments(args, {})
    phrase.text(f"{ending})")
    return phrase.term()


def _phrase() -> literals.Phrase:
    return literals.Phrase(
        lambda part: (
            part._term if isinstance(part, Tracer) else part if isinstance(part, Term) else None
        )
    )


def _read(trace: Trace, whole: Term, shape: Structure) -> Any:
    if shape == LEAF:
        return Tracer(whole, trace)
    return unflatten(shape, iter([item_of(whole, i, trace) for i in range(_count(shape))]))


def _count(shape: Structure) -> int:
    return 1 if shape == LEAF else sum(map(_count, getattr(shape, "parts", ())))


def _check_carry(shape: Structure, nest: _Nest) -> None:
    if shape != nest.structure:
        raise not_traceable(
            "the loop's function gives another structure than the carry that it takes",
            "let it give what it takes, with the same nesting",
        )


def _scan_here(f: Any, initial: Any, xs: Any, length: int | None) -> tuple[Any, Any]:
    leaves, structure = flatten(xs)
    carry, found = initial, []
    for i in range(len(leaves[0]) if leaves else length or 0):
        carry, y = f(carry, unflatten(structure, iter([leaf[i] for leaf in leaves])))
        found.append(flatten(y))
    stacked = [np.stack(column) for column in zip(*(parts for parts, _ in found), strict=True)]
    return carry, unflatten(found[0][1], iter(stacked)) if found else None
