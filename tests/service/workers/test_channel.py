"""Messages between processes arrive completely and in order, with shared memory."""

import os
import socket
import sys
import threading

import pytest
from gradwire_service.problems import RequestError
from gradwire_service.store import Unavailable
from gradwire_service.wire.shared import MAX_COPIED_BYTES, MAX_INLINE_BYTES, SharedMemory, to_shared
from gradwire_service.workers.channel import Channel, ChannelClosed


@pytest.fixture
def ends():
    channels = [Channel(end) for end in socket.socketpair()]
    yield channels
    for channel in channels:
        channel.close()


def test_is_idle_waits_for_messages(ends):
    one, other = ends
    assert other.is_idle(0.01)
    one.send("first")
    one.send("second")
    assert not other.is_idle(10)
    other.receive()
    assert not other.is_idle(0)  # the second was read together with the first
    other.receive()
    assert other.is_idle(0)


@pytest.mark.parametrize(
    "size", [0, 1, 1000, MAX_INLINE_BYTES - 1, MAX_INLINE_BYTES + 1, 5_000_000]
)
def test_messages_arrive_whole_and_in_order(ends, size):
    one, other = ends
    sent = [(number, os.urandom(size)) for number in range(3)]
    sending = threading.Thread(target=lambda: [one.send(message) for message in sent])
    sending.start()
    assert [other.receive() for _ in sent] == sent
    sending.join()


def test_shared_memory_is_sent_by_its_descriptor(ends):
    one, other = ends
    body = os.urandom(MAX_COPIED_BYTES + 1)
    shared = to_shared([body])
    assert isinstance(shared, SharedMemory)
    one.send({"first": shared, "short": b"abc"})
    del shared
    received = other.receive()
    assert received["short"] == b"abc"
    assert received["first"].to_bytes() == body


def test_alternating_messages_reuse_shared_memory(ends):
    """The first long bytes of a message use memory created once; further ones get their own."""
    one, other = ends
    for size in (MAX_INLINE_BYTES + 1, MAX_COPIED_BYTES, 1, MAX_COPIED_BYTES + 1, 1_000_000):
        for sender, receiver in ((one, other), (other, one)):
            sent = {"bytes": os.urandom(size), "other": bytearray(os.urandom(MAX_INLINE_BYTES + 1))}
            sender.send(sent)
            assert receiver.receive() == sent
    assert not one._descriptors
    assert one._out_arena is not None


def test_unread_messages_are_not_overwritten(ends):
    one, other = ends
    sent = [os.urandom(1_000_000) for _ in range(4)]
    for body in sent:
        one.send(body)
    assert [other.receive() for _ in sent] == sent


@pytest.mark.skipif(sys.platform != "linux", reason="others keep it")
def test_memory_is_released_after_reading(ends):
    one, other = ends
    one.send(b"x" * MAX_COPIED_BYTES)
    other.receive()
    arena = other._in_arena
    assert arena is not None
    assert arena[0]
    other.release()
    assert not arena[0]  # cleared: the pages are released


def test_without_memfd_files_on_disk_are_used(ends, monkeypatch):
    monkeypatch.delattr(os, "memfd_create", raising=False)
    one, other = ends
    for body in (os.urandom(MAX_COPIED_BYTES), os.urandom(100_000)):
        one.send(body)
        assert other.receive() == body
        other.release()


def test_failing_to_map_memory_is_a_memory_error():
    with pytest.raises(MemoryError):
        SharedMemory(os.open(os.devnull, os.O_RDONLY), 1 << 20).mapped()


def test_receive_available_returns_all_arrived_messages(ends):
    one, other = ends
    for number in range(5):
        one.send((number, to_shared([b"x" * (MAX_INLINE_BYTES + number)])))
    arrived: list[tuple[int, SharedMemory]] = []
    while len(arrived) < 5:
        arrived += other.receive_available()
    assert [(number, len(body)) for number, body in arrived] == [
        (number, MAX_INLINE_BYTES + number) for number in range(5)
    ]


@pytest.mark.parametrize(
    "error",
    [
        RequestError("over_budget", "too much", hint="less", missing=["a"], retry_after_seconds=3),
        Unavailable("gone"),
    ],
)
def test_errors_keep_all_their_fields(ends, error):
    one, other = ends
    one.send(error)
    received = other.receive()
    assert type(received) is type(error)
    assert vars(received) == vars(error)
    assert str(received) == str(error)


def test_a_closed_end_raises_an_error(ends):
    one, other = ends
    one.close()
    with pytest.raises(ChannelClosed):
        other.receive()
    with pytest.raises(ChannelClosed):
        other.send("anything")
