"""The chaos proxy injects exactly the configured faults."""

import asyncio
from contextlib import asynccontextmanager, suppress

import pytest

from tests.fleet.chaos import Chaos, Faults
from tests.fleet.processes import free_port

SENT = bytes(range(256)) * 1000


@asynccontextmanager
async def echoed(**faults):
    """A connection to an echo server through a chaos proxy with these faults on the way back."""

    async def echo(reader, writer):
        with suppress(OSError):
            while piece := await reader.read(1 << 16):
                writer.write(piece)
        writer.close()

    port = free_port()
    async with await asyncio.start_server(echo, "127.0.0.1", port), Chaos(port) as chaos:
        chaos.down = Faults(**faults)
        reader, writer = await asyncio.open_connection("127.0.0.1", chaos.port)
        try:
            yield chaos, reader, writer
        finally:
            writer.transport.abort()


async def test_without_faults_everything_is_forwarded():
    async with echoed() as (chaos, reader, writer):
        writer.write(SENT)
        writer.write_eof()
        assert await reader.read(-1) == SENT
        assert chaos.connections == 1


@pytest.mark.parametrize("after", [0, 1, 100_000])
async def test_a_connection_is_reset_after_a_number_of_bytes(after):
    async with echoed(cut_after=after) as (_, reader, writer):
        writer.write(SENT)
        found = bytearray()
        with suppress(ConnectionResetError):
            while piece := await reader.read(1 << 16):
                found += piece
            raise AssertionError("it ended as if nothing had happened")
        assert SENT.startswith(found)
        assert len(found) <= after


@pytest.mark.parametrize("after", [0, 1, 100_000])
async def test_one_direction_can_end_while_the_other_continues(after):
    async with echoed(end_after=after) as (chaos, reader, writer):
        writer.write(SENT)
        assert await reader.read(-1) == SENT[:after]
        writer.write(SENT)
        await writer.drain()
        assert not writer.is_closing()
        assert chaos.connections == 1


async def test_garbage_is_inserted_at_the_given_place():
    async with echoed(garbage_after=70_000, garbage=b"???") as (_, reader, writer):
        writer.write(SENT)
        writer.write_eof()
        assert await reader.read(-1) == SENT[:70_000] + b"???" + SENT[70_000:]


async def test_swallowed_requests_are_never_answered():
    async with echoed(swallows=True) as (chaos, reader, writer):
        writer.write(b"lost")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(reader.read(1), 0.1)
        chaos.calm()
        writer.write(b"found")
        assert await reader.readexactly(5) == b"found"


@pytest.mark.parametrize(
    ("never", "soon"),
    [
        ({"delay_seconds": 1e4}, {"delay_seconds": 0.01}),
        ({"bytes_per_second": 1.0}, {"bytes_per_second": 1e8}),
    ],
    ids=["delay", "rate"],
)
async def test_bytes_can_be_delayed(never, soon):
    async with echoed(**never) as (_, reader, writer):
        writer.write(SENT)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(reader.read(1), 0.1)
    async with echoed(**soon) as (_, reader, writer):
        writer.write(SENT)
        writer.write_eof()
        assert await reader.read(-1) == SENT


async def test_connections_can_be_refused_dropped_and_accepted_again():
    async with echoed() as (chaos, reader, writer):
        await chaos.refuse()
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection("127.0.0.1", chaos.port)
        writer.write(b"old ones go on")
        assert await reader.readexactly(14) == b"old ones go on"
        await chaos.drop()
        with pytest.raises(ConnectionResetError):
            await reader.readexactly(1)
        await chaos.accept()
        _, again = await asyncio.open_connection("127.0.0.1", chaos.port)
        again.transport.abort()


async def test_an_unreachable_target_resets_the_connection():
    async with Chaos(free_port()) as chaos:
        reader, writer = await asyncio.open_connection("127.0.0.1", chaos.port)
        with pytest.raises(ConnectionResetError):
            await reader.readexactly(1)
        writer.transport.abort()
