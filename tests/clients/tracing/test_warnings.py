"""Derivatives that do not exist are warned of, at the line that asks for them."""

import asyncio
import warnings
from collections.abc import Callable
from typing import Any

import gradwire
import numpy as np
import pytest
from gradwire import DerivativeWarning
from gradwire.locations import Node
from gradwire.results import Notice

ZERO, EYE = np.zeros(2), np.eye(2)


def rough(x: Any) -> Any:
    """It has no second derivative at 0."""
    return np.sum(np.linalg.norm(x))


def vector(a: Any) -> Any:
    """Of equal eigenvalues it depends on which vectors were chosen."""
    return np.linalg.eigh(a)[1][0, 1]


def energy(z: Any) -> Any:
    """Of complex numbers, a real one: its gradient has two parts."""
    return np.sum(np.abs(z) ** 2)


#: By name, a transform at a point where the derivative does not exist, and the warning's code.
SINGULAR: dict[str, tuple[Callable[[Any], Any], str]] = {
    "hessian": (lambda c: c.hessian(rough)(ZERO), "singular"),
    "hvp": (lambda c: c.hvp(rough, (ZERO,), (ZERO + 1,)), "singular"),
    "grad of grad": (
        lambda c: c.grad(lambda x: np.sum(gradwire.grad(rough)(x)))(ZERO), "singular",
    ),
    "jacobian": (lambda c: c.jacobian(gradwire.grad(rough))(ZERO), "singular"),
    "grad": (lambda c: c.grad(vector)(EYE), "degenerate"),
    "value_and_grad": (lambda c: c.value_and_grad(vector)(EYE), "degenerate"),
    "vmap": (lambda c: c.vmap(gradwire.grad(vector))(np.stack([EYE, EYE])), "degenerate"),
    "hessian in complex numbers": (lambda c: c.hessian(energy)(ZERO + 1j), "real_part"),
    "function": (lambda c: c.function(gradwire.grad(vector))(EYE), "degenerate"),
}  # fmt: skip


@pytest.mark.parametrize("name", SINGULAR)
def test_each_transform_warns_at_the_line_that_calls_it(client, name):
    ask, code = SINGULAR[name]
    with pytest.warns(DerivativeWarning, match="at .*test_warnings.py:") as caught:
        ask(client)
    (one,) = caught
    assert one.filename == __file__
    assert one.lineno == ask.__code__.co_firstlineno
    assert isinstance(one.message, DerivativeWarning)
    assert one.message.code == code
    assert getattr(one.message.place, "function", None) in ("rough", "vector", "energy")


def test_each_call_warns(client):
    slope = client.grad(vector)
    for _ in range(2):
        with pytest.warns(DerivativeWarning):
            slope(EYE)
    slope(np.diag([1.0, 2.0]))


def test_awaited_calls_warn_at_their_line(service_url):
    async def ask() -> None:
        async with gradwire.AsyncClient(service_url) as other:
            await other.grad(vector)(EYE)

    with pytest.warns(DerivativeWarning) as caught:
        asyncio.run(ask())
    assert [one.filename for one in caught] == [__file__]


#: Kinks with a convention, limits that exist, and zeros that are derivatives.
QUIET: dict[str, Callable[[Any], Any]] = {
    "kinks": lambda c: c.grad(lambda x: abs(x) + np.maximum(x, 0) + np.clip(x, 0, 1))(0.0),
    "ties": lambda c: c.grad(lambda x: np.max(x) + np.sort(x)[0])(ZERO),
    "norm": lambda c: c.grad(np.linalg.norm)(ZERO),
    "spread": lambda c: c.grad(np.std)(ZERO),
    "even": lambda c: c.hessian(lambda x: np.linalg.norm(x) ** 2)(ZERO),
    "relu": lambda c: c.hessian(lambda x: np.maximum(x, 0.0))(0.0),
    "where": lambda c: c.hessian(lambda x: np.sum(np.where(abs(x) < 1, x * x / 2, abs(x) - 0.5)))(
        ZERO
    ),
    "eigenvalues": lambda c: c.hessian(lambda a: np.sum(np.linalg.eigvalsh(a) ** 2))(EYE),
    "linear": lambda c: c.hessian(lambda x: 3 * np.sum(x))(ZERO),
    "no path": lambda c: c.grad(lambda x, y: np.sum(np.floor(x)) + y, (0, 1))(ZERO, 1.0),
    "infinite": lambda c: c.grad(np.sqrt)(0.0),
}


@pytest.mark.parametrize("name", QUIET)
def test_ordinary_code_gives_no_warning(client, name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        QUIET[name](client)


@pytest.mark.parametrize("code", ["singular", "degenerate", "state", "rebound"])
def test_each_code_is_warned_of_once_in_a_call(client, code):
    slope = client.grad(rough)
    slope(ZERO + 1)
    (recorded,) = slope.recordings
    notice = Notice(code, "it does not exist", Node("norm", line=2, column=1))
    with pytest.warns(DerivativeWarning, match="it does not exist\n  at ") as caught:
        recorded.warn([notice, notice])
    assert [getattr(one.message, "code", None) for one in caught] == [code]


@pytest.mark.parametrize("code", ["no_path", "instructions_cut"])
def test_other_codes_are_not_warned_of(client, code):
    slope = client.grad(rough)
    slope(ZERO + 1)
    slope.recordings[0].warn([Notice(code, "zeros are used")])
