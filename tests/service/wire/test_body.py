"""The size of a body is checked while it arrives."""

import pytest
from gradwire_service.problems import RequestError
from gradwire_service.wire.body import Disconnected, read_body


def arriving(*chunks, ends=True):
    messages = [{"type": "http.request", "body": chunk, "more_body": True} for chunk in chunks]
    if ends:
        messages[-1]["more_body"] = False
    else:
        messages.append({"type": "http.disconnect"})
    taken = iter(messages)

    async def receive():
        return next(taken)

    return receive, taken


async def test_bodies_are_read_whole_and_in_chunks():
    assert await read_body(arriving(b"abc")[0], b"3", 3) == b"abc"
    assert await read_body(arriving(b"ab", b"", b"c")[0], b"", 3) == b"abc"


@pytest.mark.parametrize(
    ("chunks", "length", "left"),
    [
        ([b"abcd"], b"", 0),
        ([b"ab", b"cd", b"e"], b"", 1),
        ([b"ab"], b"4", 1),
        ([b"a"], b"9" * 5000, 1),
        ([b"abcd"], b"3", 0),
        ([b"abcd"], b"-1", 0),
    ],
)
async def test_too_large_bodies_are_refused(chunks, length, left):
    receive, taken = arriving(*chunks)
    with pytest.raises(RequestError) as caught:
        await read_body(receive, length, 3)
    assert caught.value.code == "body_too_large"
    assert len(list(taken)) == left


async def test_a_disconnect_during_the_body_is_noticed():
    for chunks in [], [b"ab"]:
        with pytest.raises(Disconnected):
            await read_body(arriving(*chunks, ends=False)[0], b"", 3)
