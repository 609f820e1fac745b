"""Functions with custom derivatives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from gradwire.tracing.bodies import Nest, applied, body_of
from gradwire.tracing.recorded import as_term, is_number, listed
from gradwire.tracing.structures import LEAF, flatten
from gradwire.tracing.terms import Body, Bound, Term
from gradwire.tracing.tracer import term_of
from gradwire.tracing.traces import current, not_traceable, recording
from gradwire.usage import check_function


def custom_gradient(
    f: Callable[..., Any], backward: Callable[..., Any] | None = None
) -> Callable[..., Any]:
    """``f`` with a custom derivative; also as a decorator.

    ``backward(z_bar, z, *args)`` takes the cotangent of the value, the value and the arguments,
    nested as these are, and gives a cotangent for each argument, or ``None``. Without it, ``f``
    gives its value and the function of its gradient, as TensorFlow has it: that takes the cotangent
    of the value (of a tuple, those of its parts) and may use all that ``f`` has computed. What else
    they read is constant to them. What they compute is differentiated in turn.

    >>> @gradwire.custom_gradient
    ... def log1pexp(x):
    ...     e = np.exp(x)
    ...     return np.log(1 + e), lambda z_bar: z_bar * (1 - 1 / (1 + e))
    >>> gradwire.grad(log1pexp)(1000.0)
    np.float64(1.0)
    """
    check_function(f, *() if backward is None else (backward,))

    @wraps(f)
    def ruled(*args: Any) -> Any:
        if current() is None:
            return f(*args) if backward is not None else f(*args)[0]
        nests = [Nest(arg) for arg in args]
        if backward is not None:
            body, returned = body_of(f, nests)
            rule = _rule(backward, returned, nests)
            function = term_of("custom_gradient", body, rule)
        else:
            body, returned = _with_rule(f, nests)
            function = term_of("custom_gradient", body)
        return returned.read(applied(function, [nest.term for nest in nests]))

    return ruled


def _rule(backward: Callable[..., Any], returned: Nest, nests: Sequence[Nest]) -> Body:
    """The rule as a function of the cotangent, the value and the arguments."""
    with recording().inside() as scope:
        bar, value, *bounds = (Bound(scope) for _ in range(2 + len(nests)))
        args = [nest.read(bound) for nest, bound in zip(nests, bounds, strict=True)]
        found = backward(returned.read(bar), returned.read(value), *args)
        return Body(scope, (bar, value, *bounds), _cotangents(found, nests))


def _with_rule(f: Callable[..., Any], nests: Sequence[Nest]) -> tuple[Body, Nest]:
    """A function that returns a pair: its value and the function of its gradient."""
    with recording().inside() as scope:
        bounds = [Bound(scope) for _ in nests]
        found = f(*[nest.read(bound) for nest, bound in zip(nests, bounds, strict=True)])
        if not (isinstance(found, (tuple, list)) and len(found) == 2 and callable(found[1])):
            raise not_traceable(
                "the function needs to return a pair of its value and the function of its gradient",
                "return that pair, or pass the rule as second argument",
            )
        value, backward = found
        returned = Nest(value)
        with recording().inside() as inside:
            bars = [Bound(inside) for _ in returned.leaves]
            given = returned.nested(bars)
            several = isinstance(value, (tuple, list))
            pulled = backward(*given) if several else backward(given)
            rule = Body(inside, tuple(bars), _cotangents(pulled, nests))
        return Body(scope, tuple(bounds), listed([returned.term, rule])), returned


def _cotangents(found: Any, nests: Sequence[Nest]) -> Term:
    """A rule's cotangents as the program's list: the arrays of each argument, or None."""
    if len(nests) == 1 and not (isinstance(found, (tuple, list)) and len(found) == 1):
        found = [found]
    if not isinstance(found, (tuple, list)) or len(found) != len(nests):
        raise not_traceable(
            f"the rule needs to return a tuple of {len(nests)} cotangents, one for each argument",
            "return None for an argument without a gradient",
        )
    each: list[Term | Sequence[Term | None] | None] = []
    for nest, bar in zip(nests, found, strict=True):
        leaves, structure = flatten(bar, lambda part: part is None or is_number(part))
        terms = [None if leaf is None else as_term(leaf) for leaf in leaves]
        got, needed = len(terms), len(nest.leaves)
        if bar is not None and got != needed:
            raise not_traceable(
                f"the rule returns {got} cotangents for an argument of {needed} arrays",
                "return each cotangent nested as its argument is",
            )
        each.append(terms[0] if bar is None or structure == LEAF else terms)
    return listed(each)
