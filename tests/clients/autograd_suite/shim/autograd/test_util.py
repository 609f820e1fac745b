"""autograd's check of derivatives: directional ones in both modes against finite differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import gradwire
import numpy as np
from gradwire.tracing.structures import flatten, is_array_like, unflatten

from .operators import of_argument

TOLERANCE = 1e-6
STEP = 1e-6


def scalar_close(a: Any, b: Any) -> bool:
    return bool(abs(a - b) < TOLERANCE or abs(a - b) / abs(a + b) < TOLERANCE)


def check_equivalent(x: Any, y: Any) -> None:
    """Check that nested values are of one structure, of equal shapes and close."""
    (xs, x_structure), (ys, y_structure) = _leaves(x), _leaves(y)
    assert x_structure == y_structure, f"structures differ: {x} and {y}"
    for a, b in zip(xs, ys, strict=True):
        assert np.shape(a) == np.shape(b)
        assert np.iscomplexobj(a) == np.iscomplexobj(b)
    v = _random(x)
    assert scalar_close(_inner(v, x), _inner(v, y)), f"values differ: {x} and {y}"


@of_argument
def check_grads(f: Any, x: Any, modes: Sequence[str] = ("fwd", "rev"), order: int = 2) -> None:
    """Check derivatives of ``f``; what is random is drawn in autograd's order."""
    if "fwd" in modes:

        def forward(x: Any, v: Any) -> Any:
            return gradwire.jvp(f, (x,), (v,))[1]

        forward.__name__ = f"jvp_{f.__name__}"
        v = _random(x)
        check_equivalent(gradwire.function(forward)(x, v), _difference(f, x, v))
        if order > 1:
            check_grads(gradwire.function(forward), (0, 1), modes, order=order - 1)(x, _random(x))
    if "rev" in modes:

        def reverse(x: Any, u: Any) -> Any:
            return gradwire.vjp(f, (x,), u)[1][0]

        reverse.__name__ = f"vjp_{f.__name__}"
        v, u = _random(x), _random(f(x))
        exact = _inner(v, gradwire.function(reverse)(x, u))
        numeric = _inner(u, _difference(f, x, v))
        assert scalar_close(numeric, exact), (
            f"Derivative (VJP) check of {f.__name__} failed with arg {x}:\n"
            f"analytic: {exact}\nnumeric:  {numeric}"
        )
        if order > 1:
            check_grads(gradwire.function(reverse), (0, 1), modes, order=order - 1)(
                x, _random(f(x))
            )


def combo_check(f: Any, *given: Any, **options: Any) -> Callable[..., None]:
    """Check all combinations of arguments."""

    def check(*args: Any, **kwargs: Any) -> None:
        named = [[(name, value) for value in values] for name, values in kwargs.items()]
        for chosen, pairs in product(product(*args), product(*named)):
            check_grads(f, *given, **options)(*chosen, **dict(pairs))

    return check


def _difference(f: Any, x: Any, v: Any) -> Any:
    """The derivative of ``f`` along ``v``, of central differences."""
    (ahead, structure), (behind, _) = (
        _leaves(f(_moved(x, v, step))) for step in (STEP / 2, -STEP / 2)
    )
    slopes = [(a * 1.0 - b * 1.0) / STEP for a, b in zip(ahead, behind, strict=True)]
    return unflatten(structure, iter(slopes))


def _moved(x: Any, v: Any, step: float) -> Any:
    (xs, structure), (vs, _) = _leaves(x), _leaves(v)
    moved = [a + step * b for a, b in zip(xs, vs, strict=True)]
    return unflatten(structure, iter([m if np.ndim(m) else m[()] for m in map(np.asarray, moved)]))


def _random(like: Any) -> Any:
    leaves, structure = _leaves(like)
    return unflatten(structure, iter([_random_leaf(leaf) for leaf in leaves]))


def _random_leaf(leaf: Any) -> Any:
    drawn = np.asarray(np.random.randn(*np.shape(leaf)))
    if np.iscomplexobj(leaf):
        drawn = drawn + 1j * np.random.randn(*np.shape(leaf))
    return drawn if np.ndim(leaf) else drawn[()]


def _inner(u: Any, v: Any) -> Any:
    pairs = zip(_leaves(u)[0], _leaves(v)[0], strict=True)
    return sum(np.sum(np.real(np.conj(a) * b)) for a, b in pairs)


def _leaves(value: Any) -> Any:
    return flatten(
        value, lambda part: is_array_like(part) or (isinstance(part, int) and part is not True)
    )
