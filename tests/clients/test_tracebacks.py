"""Errors end in the caller's line: tracebacks have no frames of the SDK, nor of what it uses."""

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gradwire
import numpy as np
import pytest

NOWHERE = "http://127.0.0.1:1"
HERE = str(Path(__file__))


def not_one(x):
    return str(x.shape)


def calls(client: gradwire.Client) -> dict[str, Callable[[], Any]]:
    """Calls of each kind of entry, with a client that reaches nobody."""
    return {
        "method": lambda: client.gradient("x", {"x": 1.0}),
        "method of both": lambda: client.jacobian("x", {"x": 1.0}),
        "function of variables": lambda: client.value_and_grad("x")(x=1.0),
        "optimisation": lambda: client.minimize("x", {"x": 1.0}),
        "optimisation by the module": lambda: gradwire.minimize("x", {"x": 1.0}, client=client),
        "tape": lambda: client.tape("x", {"x": 1.0}),
        "resource": client.programs.list,
        "recorded function": lambda: gradwire.function(np.sin, client)(1.0),
        "transform": lambda: gradwire.grad(np.sin, client=client)(1.0),
        "product": lambda: client.jvp(np.sin, (1.0,), (1.0,)),
        "wrong value": lambda: client.evaluate("x", {"x": object()}),
        "wrong arguments": lambda: client.evaluate(None),  # type: ignore[arg-type]
        "wrong function": lambda: gradwire.grad(3),  # type: ignore[call-overload]
        "wrong address": lambda: gradwire.Client("here"),
        "wrong text": lambda: gradwire.program("x +", "x"),
        "not recorded": lambda: gradwire.grad(not_one, client=client)(1.0),
    }


@pytest.fixture(scope="module")
def refused():
    with gradwire.Client(NOWHERE, max_retries=0) as client:
        yield client


@pytest.mark.parametrize("kind", calls(gradwire.Client(NOWHERE)))
def test_only_lines_of_the_caller_are_shown(refused, kind):
    with pytest.raises(gradwire.GradwireError) as caught:
        calls(refused)[kind]()
    error = caught.value
    assert {frame.filename for frame in traceback.extract_tb(error.__traceback__)} == {HERE}
    shown = "".join(traceback.format_exception(error))
    assert len(shown.splitlines()) < 20
    assert "Traceback" in shown
    assert shown.count("Traceback") == 1


async def test_awaited_answers_fail_in_the_line_that_awaits():
    async with gradwire.AsyncClient(NOWHERE, max_retries=0) as client:
        with pytest.raises(gradwire.TransportError) as caught:
            await client.gradient("x", {"x": 1.0})
    assert {frame.filename for frame in traceback.extract_tb(caught.value.__traceback__)} == {HERE}
    assert caught.value.__cause__ is not None


def test_the_lines_of_a_recorded_function_stay(client):
    def divides(x):
        return x + 1 / 0

    def compares(x):
        return np.sum(x) if f"{object.__getattribute__(x, 'nothing')}" else x

    with pytest.raises(ZeroDivisionError) as own:
        client.grad(divides)(np.ones(2))
    assert traceback.extract_tb(own.value.__traceback__)[-1].name == "divides"
    with pytest.raises(Exception, match="nothing") as caught:
        client.grad(compares)(np.ones(2))
    causes = traceback.format_exception(caught.value)
    assert "in compares" in "".join(causes)
