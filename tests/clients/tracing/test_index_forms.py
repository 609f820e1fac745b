"""Every form of an index in a recorded function selects and replaces what NumPy's does."""

from typing import Any

import gradwire
import numpy as np
import pytest

from tests.engine.index_forms import forms, names, point


def valid(shape: tuple[int, ...]) -> list[str]:
    """The forms that NumPy takes."""
    found, known = [], {**names(), "x": point(shape)}
    for form in forms(1 if len(shape) < 2 else 3):
        try:
            eval(f"x[{form}]", known)
        except IndexError:
            continue
        found.append(form)
    return found[:120]


def function(text: str) -> Any:
    """The function ``f`` that a text defines."""
    known = names()
    exec(text, known)
    return known["f"]


@pytest.mark.parametrize("shape", [(3,), (3, 4)], ids=str)
def test_reading(client: gradwire.Client, shape: tuple[int, ...]):
    chosen = valid(shape)
    read = function(f"def f(x): return [{', '.join(f'x[{form}] * 1.0' for form in chosen)}]")
    squares = function(
        f"def f(x): return sum([{', '.join(f'np.sum(x[{form}] ** 2)' for form in chosen)}])"
    )
    x = point(shape)
    for form, one, other in zip(chosen, gradwire.function(read, client)(x), read(x), strict=True):
        np.testing.assert_array_equal(one, other, err_msg=form)
    gradient = np.zeros(shape)
    for form in chosen:
        numbers = {**names(), "n": np.arange(x.size).reshape(shape)}
        np.add.at(gradient.reshape(-1), np.ravel(eval(f"n[{form}]", numbers)), 2.0)
    np.testing.assert_allclose(gradwire.grad(squares, client=client)(x), gradient * x)


@pytest.mark.parametrize("shape", [(3,), (3, 4)], ids=str)
def test_writing(client: gradwire.Client, shape: tuple[int, ...]):
    chosen = valid(shape)
    lines = "".join(
        f"    y = x * 1.0\n    y[{form}] = 5.0 * x.ravel()[0]\n    ys.append(y)\n"
        for form in chosen
    )
    write = function(f"def f(x):\n    ys = []\n{lines}    return ys")
    x = point(shape)
    for form, one, other in zip(chosen, gradwire.function(write, client)(x), write(x), strict=True):
        np.testing.assert_array_equal(one, other, err_msg=form)
