"""Tapes through the SDK, with the real service."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import gradwire
import httpx
import numpy as np
import pytest

PROGRAM = "h = x * w.a\nlr = 0.1\nloss = sum(h**2) * w.b"
POINT = {"x": [1.0, 2.0], "w": {"a": 3.0, "b": np.float32(0.5)}}
ASKED: dict[str, Callable[..., Any]] = {
    "gradient": lambda of: of.gradient(sources=["w"]),
    "seeded": lambda of: of.gradient(target=["h"], output_gradients=[[1.0, -1.0]], sources="w"),
    "jacobian": lambda of: of.jacobian(target="h", sources={"w": "w"}, mode="forward"),
    "coo": lambda of: of.jacobian(target="h", sources={"x": "x", "a": "w.a"}, format="coo"),
    "hessian": lambda of: of.hessian(outputs=["lr"]),
    "jvp": lambda of: of.jvp({"w": {"a": 1.0, "b": 2.0}}, target={"y": "h", "z": "loss"}),
    "hvp": lambda of: of.hvp({"w": {"a": 1.0, "b": 2.0}}),
    "check": lambda of: of.check(sources="w", step=1e-3),
    "batch": lambda of: of.gradient(
        target="h", output_gradients=np.eye(2), batch=["output_gradients"]
    ),
}


class Point:
    """A client bound to a program and its variables, with the methods of a tape."""

    def __init__(self, client):
        self.client = client

    def __getattr__(self, kind):
        return lambda *args, **options: getattr(self.client, kind)(PROGRAM, POINT, *args, **options)


@pytest.mark.parametrize("kind", ASKED)
def test_a_tape_gives_the_same_results_as_its_client(client, kind):
    with client.tape(PROGRAM, POINT, persistent=True) as tape:
        found, expected = ASKED[kind](tape), ASKED[kind](Point(client))
    assert type(found) is type(expected)
    assert found.raw.content == expected.raw.content
    assert [*found.timings] == [*expected.timings]


@pytest.mark.parametrize("kind", ASKED)
def test_a_tape_known_by_its_id_gives_the_same_results(client, kind):
    with client.tape(PROGRAM, POINT, persistent=True) as tape:
        opened = client.tapes.open(tape.id)
        found, expected = ASKED[kind](opened), ASKED[kind](tape)
        assert opened.show().instructions == tape.show().instructions
    assert type(found) is type(expected)
    assert found.raw.content == expected.raw.content
    with pytest.raises(gradwire.UnknownTape):
        opened.gradient()


def test_a_tape_known_by_its_id_is_deleted_on_leaving_its_context(client):
    tape = client.tape(PROGRAM, POINT)
    with client.tapes.open(tape.id):
        pass
    with pytest.raises(gradwire.UnknownTape):
        tape.gradient()
    for wrong in (tape, "", "\ud800"):  # the last is no text
        with pytest.raises(gradwire.UsageError, match="a tape's id"):
            client.tapes.open(wrong)


@dataclass
class Layer:
    a: Any
    b: Any


def test_results_have_the_structure_of_the_variables(client):
    with client.tape(PROGRAM, {"x": [1.0, 2.0], "w": Layer(3.0, np.float32(0.5))}) as tape:
        answer = tape.hessian(target="loss")
    assert isinstance(answer.gradients["w"], Layer)
    assert answer.gradients["w"].b.dtype == np.float32
    np.testing.assert_array_equal(answer.hessian["w"].a["w"].b, 30.0)


def test_a_tape_shows_its_instructions(client):
    before = datetime.now(UTC)
    with client.tape(PROGRAM, POINT, persistent=True, watch=["h"]) as tape:
        assert tape.outputs == 22.5
        assert tape.watched == ("x", "w.a", "w.b")
        assert len(tape.id) >= 32
        assert tape.id in repr(tape)
        shown = tape.show()
        assert shown.persistent
        assert shown.watched == tape.watched
        assert shown.program == tape.program
        assert shown.expires_at > before
        assert shown.length == len(shown.instructions)
        assert shown.memory_bytes > 0
        multiply = shown.instructions[3]
        assert (multiply.slot, multiply.op, multiply.args) == (3, "multiply", (0, 1))
        assert multiply.type == "float64[2]"
        assert multiply.node == gradwire.Node(op="multiply", id="h", line=1, column=5)
        assert shown.request_id == shown.raw.headers["X-Request-ID"]


def test_a_tape_shows_the_body_of_a_loop(client):
    with client.tape("while y < 50:\n  y = y * w\ny", {"y": 1.0, "w": 1.1}) as tape:
        (loop,) = [row for row in tape.show().instructions if row.op == "loop"]
    assert [row.op for row in loop.body if row.node and row.node.line == 2] == ["multiply"]
    assert not any(row.body for row in loop.body)


def test_only_watched_values_are_sources(client):
    fields = {"watch_accessed_variables": False, "watch": ["h"]}
    with client.tape(PROGRAM, POINT, **fields) as tape:
        answer = tape.gradient(sources={"h": "h", "w": "w"})
    np.testing.assert_array_equal(answer.gradients["h"], [3.0, 6.0])
    assert answer.gradients["w"] == {"a": None, "b": None}
    assert answer.unconnected["w.a"].reason == "not_watched"


def test_a_tape_can_be_used_once_unless_it_is_persistent(client):
    with client.tape(PROGRAM, POINT) as tape:
        with pytest.raises(gradwire.UnknownName):
            tape.gradient(target="nothing")
        tape.gradient()
        with pytest.raises(gradwire.TapeConsumed, match="only be used to compute one set"):
            tape.jacobian(target="h")
    with client.tape(PROGRAM, POINT, persistent=True) as tape:
        assert [tape.gradient(sources="w").gradients["a"] for _ in range(3)] == [15.0] * 3


class Losing(httpx.HTTPTransport):
    """Sends requests, but loses the first response for each path."""

    def __init__(self):
        super().__init__()
        self.lost = set()

    def handle_request(self, request):
        response = super().handle_request(request)
        if request.url.path in self.lost:
            return response
        self.lost.add(request.url.path)
        response.close()
        raise httpx.ReadError("lost")


def test_a_lost_response_is_requested_again(service_url, monkeypatch):
    monkeypatch.setattr(gradwire.exchange, "FIRST_DELAY_SECONDS", 0.01)
    transport = Losing()
    with httpx.Client(transport=transport) as http:
        client = gradwire.Client(service_url, http_client=http)
        tape = client.tape(PROGRAM, POINT)
        assert tape.gradient(sources="w").gradients["a"] == 15.0
        with pytest.raises(gradwire.TapeConsumed):
            tape.gradient(sources="w")
    assert len(transport.lost) == 2


def test_leaving_the_context_deletes_the_tape(client):
    with client.tape(PROGRAM, POINT) as tape:
        pass
    for ask in tape.gradient, tape.show, tape.delete:
        with pytest.raises(gradwire.UnknownTape):
            ask()
    kept = client.tape(PROGRAM, POINT)
    kept.delete()
    with kept:  # a deleted tape is no error
        pass
    with pytest.raises(ZeroDivisionError), client.tape(PROGRAM, POINT) as tape:
        1 / 0  # noqa: B018
    with pytest.raises(gradwire.UnknownTape):
        tape.show()


def test_an_error_while_recording_shows_the_line(client):
    with pytest.raises(gradwire.ShapeMismatch) as caught:
        client.tape("a = 2\nb = a * x @ w", {"x": np.ones((3, 4)), "w": np.ones((5, 2))})
    assert "line 2: b = a * x @ w" in str(caught.value)


async def test_the_async_client_has_tapes_too(awaiting_client):
    async with awaiting_client.tape(PROGRAM, POINT) as tape:
        answer = await tape.gradient(sources="w")
        assert answer.gradients == {"a": 15.0, "b": 45.0}
        with pytest.raises(gradwire.TapeConsumed):
            await tape.gradient()
    with pytest.raises(gradwire.UnknownTape):
        await tape.show()
    tape = await awaiting_client.tape(PROGRAM, POINT, persistent=True)
    assert (await tape.show()).watched == tape.watched
    product = await tape.jvp({"w": {"a": 1.0, "b": 0.0}})
    assert product.jvp == 15.0
    await tape.delete()
    with pytest.raises(gradwire.UnknownTape):
        await tape.gradient()


async def test_the_async_client_opens_tapes_too(awaiting_client):
    async with awaiting_client.tape("x**2", {"x": 3.0}, persistent=True) as tape:
        async with awaiting_client.tapes.open(tape.id) as opened:
            assert (await opened.gradient()).gradients == {"x": 6.0}
        with pytest.raises(gradwire.UnknownTape):
            await tape.gradient()
