"""Whatever a server answers: a result, or an error of the SDK with a hint or a problem document."""

import asyncio
import json
from typing import Any

import gradwire
import pytest
from gradwire.call import Call

PARTS = ["outputs", "warnings", "nonfinite", "updates", "value", "gradients"]
DEEP = b"[" * 100_000
BODIES = {
    "nothing": b"",
    "null": b"null",
    "a number": b"1",
    "a huge number": b"1" + b"0" * 400,
    "text": b'"text"',
    "a list": b"[]",
    "an object": b"{}",
    "half an object": b'{"outputs": ',
    "HTML": b"<html></html>",
    "bytes": bytes(range(256)),
    "deep": DEEP,
    "an infinite number": b'{"outputs": 1e999, "value": 1e999}',
    "numbers for parts": json.dumps(dict.fromkeys(PARTS, 1)).encode(),
    "lists for parts": json.dumps({part: [[1]] for part in PARTS}).encode(),
    "a strange problem": json.dumps(
        {"title": 1, "detail": [], "status": "x", "code": ["y"], "hint": 3, "node": {"line": []}}
    ).encode(),
    "a problem with a list as its code": b'{"status": 400, "code": {}, "detail": null}',
    "a job": b'{"id": "x", "kind": "minimize", "state": "queued", "created_at": "yesterday"}',
}
TYPES = [
    b"application/msgpack",
    b"application/json",
    b"application/problem+json",
    b"text/html",
    b"text/event-stream",
    b"",
]
HEADERS = [
    b"",
    b"Retry-After: 1e400\r\n",
    b"Retry-After: " + b"9" * 400 + b"\r\n",
    b"Retry-After: Mon, 01 Jan 0001 00:00:00 -2359\r\n",
    b"Server-Timing: replay;dur=x\r\n",
    b"Content-Encoding: gzip\r\n",
    b"X-Request-ID: \xff\r\n",
]
STATUSES = [200, 202, 204, 302, 400, 404, 422, 429, 503, 599, 999]


def answer(status, media_type, body, header=b""):
    return (
        b"HTTP/1.1 %d Any\r\nContent-Type: %s\r\n%sContent-Length: %d\r\n\r\n"
        % (status, media_type, header, len(body))
    ) + (b"" if status == 204 else body)


QUESTIONS = {
    "gradient": lambda client: client.gradient("x", {"x": 1.0}),
    "evaluate": lambda client: client.evaluate("x", {"x": 1.0}),
    "minimize": lambda client: client.minimize("x**2", {"x": 1.0}, progress=False),
    "limits": lambda client: client.limits(),
    "ops": lambda client: client.ops(),
    "jobs": lambda client: client.jobs.get("x"),
    "a program": lambda client: client.programs.get("x"),
    "a tensor": lambda client: client.tensors.get("sha256:0"),
    "a tape": lambda client: client.tape("x", {"x": 1.0}),
}
CASES = [
    (status, media_type, body, header)
    for number, (status, media_type, body) in enumerate(
        (status, media_type, body)
        for status in STATUSES
        for media_type in TYPES
        for body in BODIES.values()
    )
    for header in [HEADERS[number % len(HEADERS)]]
]


@pytest.mark.thorough
@pytest.mark.parametrize("ask", QUESTIONS.values(), ids=QUESTIONS)
def test_any_answer_is_read_or_an_error_of_the_sdk(script, ask):
    raised: list[tuple[Any, Exception]] = []
    server = script(*[answer(*case) for case in CASES])
    for case in CASES:
        with gradwire.Client(server.url, max_retries=0) as client:
            try:
                ask(_Once(client))
            except gradwire.GradwireError as error:
                if not f"{error}" or not (error.hint or isinstance(error, gradwire.APIError)):
                    raised.append((case, error))
            except _Again:
                pass
            except Exception as error:  # noqa: BLE001 - shown below
                raised.append((case, error))
    assert raised == []


class _Again(Exception):
    """A second request: the first answer has been read."""


class _Once:
    """A client that asks one question."""

    def __new__(cls, client):
        send, asked = client.send, list[Any]()

        def once(call):
            if asked:
                raise _Again
            asked.append(call)
            return send(call)

        client.send = once
        return client


EVENTS = [
    b"data: {\n\n",
    b"event: progress\ndata: {\n\n",
    b"event: progress\ndata: []\n\n",
    b'event: progress\ndata: {"iteration": "x"}\n\n',
    b"event: progress\ndata: " + DEEP + b"\n\n",
    b"event: done\ndata: \xff\n\n",
    b"id: \x00\nevent: progress\ndata: 1\n\n",
    b": comment\n\n",
    b"\n\n\n",
    b"",
]
DONE = {"id": "x", "kind": "minimize", "state": "cancelled", "created_at": "2026-01-01T00:00:00"}


@pytest.mark.parametrize("events", EVENTS)
def test_any_stream_of_events_is_followed_by_questions(script, events):
    queued = answer(200, b"application/json", json.dumps({**DONE, "state": "queued"}).encode())
    stream = answer(200, b"text/event-stream", events)
    done = answer(200, b"application/json", json.dumps(DONE).encode())

    def watched(url):
        with gradwire.Client(url, max_retries=0) as client:
            return [*client.jobs.get("x").events()]

    def waited(url):
        with gradwire.Client(url, max_retries=0) as client:
            client.jobs.get("x").wait()
            return []

    async def awaited(url):
        async with gradwire.AsyncClient(url, max_retries=0) as client:
            return [each async for each in (await client.jobs.get("x")).events()]

    for follow in (watched, waited, lambda url: asyncio.run(awaited(url))):
        assert follow(script(queued, stream, done).url) == []


@pytest.mark.parametrize("media_type", [b"text/event-stream", b"text/html", b"application/json"])
def test_a_stream_that_is_none_is_an_error_of_the_sdk(script, media_type):
    server = script(answer(200, media_type, b"data: {\n\n"))

    def hear(event):
        return event.document

    with (
        gradwire.Client(server.url) as client,
        pytest.raises(gradwire.MalformedReply) as told,
    ):
        client.run(Call("GET", "/v1/jobs/x/events", None, lambda _: None, hear=hear))
    assert told.value.hint
