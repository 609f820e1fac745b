"""Control flow and functions of functions that stay in the program.

Python's ``if``, ``while`` and ``for`` are recorded as they are executed; these are evaluated by the
service, for each call's values. All are named and called as in ``jax.lax``. Without a recording
they are plain Python.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradwire.tracing import literals
from gradwire.tracing.bodies import Nest, applied, body_of, check_carry, step_of
from gradwire.tracing.structures import flatten, unflatten
from gradwire.tracing.terms import Term
from gradwire.tracing.tracer import Tracer, term_of
from gradwire.tracing.traces import current, not_traceable
from gradwire.usage import check_function, used


def cond(
    predicate: Any,
    true_function: Callable[..., Any],
    false_function: Callable[..., Any],
    *args: Any,
) -> Any:
    """``true_function(*args)`` where the predicate holds, else ``false_function(*args)``.

    Both must give the same structure, shapes and dtypes.
    """
    check_function(true_function, false_function)
    if current() is None or not isinstance(predicate, Tracer):
        with used("the predicate"):
            chosen = true_function if predicate else false_function
        return chosen(*args)
    return _chosen("lax.cond", predicate, [true_function, false_function], args)


def switch(index: Any, functions: Sequence[Callable[..., Any]], *args: Any) -> Any:
    """``functions[index](*args)``; an index out of range is clamped."""
    with used("switch"):
        check_function(functions[0], *functions)  # there is one
        index = index if isinstance(index, Tracer) else int(index)
    if current() is None or not isinstance(index, Tracer):
        return functions[min(max(index, 0), len(functions) - 1)](*args)
    return _chosen("lax.switch", index, functions, args)


def while_loop(condition: Callable[[Any], Any], body: Callable[[Any], Any], initial: Any) -> Any:
    """``carry = body(carry)``, from ``initial`` on, while ``condition(carry)`` holds.

    The carry keeps its structure, shapes and dtypes.
    """
    check_function(condition, body)
    if current() is None:
        carry = initial
        while condition(carry):
            carry = body(carry)
        return carry
    nest = Nest(initial)
    test, _ = body_of(condition, [nest])
    step = step_of(body, [nest], nest)
    return nest.read(term_of("lax.while_loop", test, step, nest.term))


def fori(lower: Any, upper: Any, body: Callable[[Any, Any], Any], initial: Any) -> Any:
    """``carry = body(i, carry)`` for each ``i`` from ``lower`` up to, not including, ``upper``.

    The carry keeps its structure, shapes and dtypes; the limits may be values of the program, and
    are of 64 bits as they are there.
    """
    check_function(body)
    with used("the limits"):
        lower, upper = [
            limit if isinstance(limit, Tracer) else int(np.int64(limit)) for limit in (lower, upper)
        ]
    if current() is None:
        carry = initial
        for i in range(lower, upper):
            carry = body(i, carry)
        return carry
    nest, counter = Nest(initial), Nest(np.int64(0))
    step = step_of(body, [counter, nest], nest)
    return nest.read(term_of("lax.fori_loop", lower, upper, step, nest.term))


def scan(
    f: Callable[[Any, Any], tuple[Any, Any]],
    initial: Any,
    xs: Any = None,
    length: int | None = None,
) -> tuple[Any, Any]:
    """``carry, y = f(carry, x)`` for each ``x`` along the first axis of ``xs``.

    The last carry, and all the ``y`` stacked. Without ``xs`` it runs ``length`` times.
    """
    check_function(f)
    if current() is None:
        return _scan_here(f, initial, xs, length)
    nest, row = Nest(initial), Nest(xs, rows=True)
    returned: list[Nest] = []

    def both(carry: Any, x: Any) -> Any:
        returned.extend(map(Nest, f(carry, x)))
        return [Tracer(half.as_list().term) for half in returned]

    step, _ = body_of(both, [nest.as_list(), row.as_list()])
    check_carry(returned[0], nest)
    given: list[Any] = [step, nest.as_list().term, row.as_list().term if row.leaves else None]
    whole = term_of("lax.scan", *given, **({} if length is None else {"length": length}))
    carried, ys = (literals.part(whole, i) for i in (0, 1))
    times = len(row.leaves[0]) if row.leaves else length or 0
    return nest.as_list().read(carried), returned[1].as_list().read(ys, (times,))


def checkpoint(f: Callable[..., Any]) -> Callable[..., Any]:
    """``f``, recomputed from its arguments in the reverse pass, which saves memory."""
    check_function(f)

    def checkpointed(*args: Any) -> Any:
        if current() is None:
            return f(*args)
        nests = [Nest(arg) for arg in args]
        body, returned = body_of(f, nests)
        again = term_of("checkpoint", body)
        return returned.read(applied(again, [nest.term for nest in nests]))

    return checkpointed


def stop_gradient(x: Any) -> Any:
    """``x``, nested or not, as a constant in every derivative."""
    if current() is None:
        return x
    leaves, structure = flatten(x, lambda part: isinstance(part, Tracer))
    stopped = [
        Tracer(Term("stop_gradient", (leaf._term,)), leaf._aval, infer=leaf._infer)
        for leaf in leaves
    ]
    return unflatten(structure, iter(stopped))


def _chosen(
    name: str,
    decided: Any,
    functions: Sequence[Callable[..., Any]],
    args: Sequence[Any],
) -> Any:
    nests = [Nest(arg) for arg in args]
    recorded = [body_of(function, nests) for function in functions]
    first = recorded[0][1]
    if any(returned.structure != first.structure for _, returned in recorded):
        raise not_traceable(
            f"the functions of {name} return different structures",
            "return values nested alike from all of them",
        )
    bodies: list[Any] = [body for body, _ in recorded]
    branches = [bodies] if name == "lax.switch" else bodies
    terms = [nest.term for nest in nests]
    return first.read(term_of(name, decided, *branches, *terms))


def _scan_here(f: Any, initial: Any, xs: Any, length: int | None) -> tuple[Any, Any]:
    leaves, structure = flatten(xs)
    with used("xs"):
        rows = list(zip(*leaves, strict=True)) if leaves else [()] * operator.index(length or 0)
    carry, found = initial, []
    for row in rows:
        came = f(carry, unflatten(structure, iter(row)))
        with used("what scan's function gives, a pair of the carry and y"):
            carry, y = came
        found.append(flatten(y))
    with used("what scan's function gives"):
        stacked = [np.stack(column) for column in zip(*(parts for parts, _ in found), strict=True)]
    return carry, unflatten(found[0][1], iter(stacked)) if found else None
