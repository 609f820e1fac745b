"""The metrics are told whatever the store does."""

import asyncio
import threading

from gradwire_service.telemetry import Exposition, Metrics


async def test_what_is_held_is_told():
    exposition = Exposition(Metrics(), lambda: {"tapes": 3, "tensors": 0})
    text = await exposition.text()
    assert b'gradwire_records{kind="tapes"} 3.0' in text
    assert b'gradwire_records{kind="tensors"} 0.0' in text
    exposition.close()


async def test_a_store_that_fails_is_left_out(caplog):
    def fail():
        raise OSError("no store")

    exposition = Exposition(Metrics(), fail)
    text = await exposition.text()
    assert b"gradwire_records" not in text
    assert b"gradwire_tasks" in text
    assert "could not be counted" in caplog.text
    exposition.close()


async def test_a_store_that_hangs_is_asked_once_and_waited_for_a_moment():
    go_on, asked = threading.Event(), []

    def hang():
        asked.append(True)
        go_on.wait(10)
        return {"tapes": 1}

    exposition = Exposition(Metrics(), hang, store_seconds=0.05)
    try:
        texts = await asyncio.gather(*[exposition.text() for _ in range(5)])
        assert not any(b"gradwire_records" in text for text in texts)
        assert all(b"gradwire_tasks" in text for text in texts)
        assert len(asked) == 1
        go_on.set()
        while b"gradwire_records" not in await exposition.text():
            pass
    finally:
        go_on.set()
        exposition.close()
