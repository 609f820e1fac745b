"""Metrics are served whatever the store does."""

import asyncio
import socket
import threading

import pytest
from gradwire_service.telemetry import Exposition, Metrics


async def test_stored_records_are_reported():
    exposition = Exposition(Metrics(), lambda: {"tapes": 3, "tensors": 0}, 3600)
    text = await exposition.text()
    assert b'gradwire_records{kind="tapes"} 3.0' in text
    assert b'gradwire_records{kind="tensors"} 0.0' in text
    exposition.close()


async def test_a_failing_store_is_left_out(caplog):
    def fail():
        raise OSError("no store")

    exposition = Exposition(Metrics(), fail, 3600)
    text = await exposition.text()
    assert b"gradwire_records" not in text
    assert b"gradwire_tasks" in text
    assert "could not be counted" in caplog.text
    exposition.close()


@pytest.mark.parametrize("listens", [True, False])
async def test_a_dask_scheduler_that_accepts_connections_is_up(listens):
    with socket.create_server(("127.0.0.1", 0)) as scheduler:
        address = f"tcp://127.0.0.1:{scheduler.getsockname()[1]}"
        if not listens:
            scheduler.close()
        exposition = Exposition(Metrics(), dict, 3600, address)
        assert f"gradwire_dask_up {float(listens)}".encode() in await exposition.text()
        exposition.close()


async def test_a_hung_store_is_queried_once_with_a_short_timeout():
    go_on, asked = threading.Event(), []

    def hang():
        asked.append(True)
        go_on.wait()
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
