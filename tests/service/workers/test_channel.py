"""Messages between processes: complete, in order, with shared memory."""

import os
import socket
import sys
import threading

import pytest
from gradwire_service.problems import RequestError
from gradwire_service.store import Unavailable
from gradwire_service.wire.shared import LARGE_BYTES, WHOLE_BYTES, SharedMemory, packed
from gradwire_service.workers.channel import Channel, ChannelClosed


@pytest.fixture
def ends():
    channels = [Channel(end) for end in socket.socketpair()]
    yield channels
    for channel in channels:
        channel.close()


def test_silence_is_heard(ends):
    one, other = ends
    assert other.is_idle(0.01)
    one.send("first")
    one.send("second")
    assert not other.is_idle(10)
    other.receive()
    assert not other.is_idle(0)  # what has been read with the first
    other.receive()
    assert other.is_idle(0)


@pytest.mark.parametrize("size", [0, 1, 1000, LARGE_BYTES - 1, LARGE_BYTES + 1, 5_000_000])
def test_messages_arrive_whole_and_in_order(ends, size):
    one, other = ends
    sent = [(number, os.urandom(size)) for number in range(3)]
    sending = threading.Thread(target=lambda: [one.send(message) for message in sent])
    sending.start()
    assert [other.receive() for _ in sent] == sent
    sending.join()


def test_shared_memory_is_sent_by_its_descriptor(ends):
    one, other = ends
    body = os.urandom(WHOLE_BYTES + 1)
    shared = packed([body])
    assert isinstance(shared, SharedMemory)
    one.send({"first": shared, "short": b"abc"})
    del shared
    received = other.receive()
    assert received["short"] == b"abc"
    assert received["first"].whole() == body


def test_what_takes_turns_is_left_where_both_have_it(ends):
    """Long bytes of either end, in memory that is created once; others get separate memory."""
    one, other = ends
    for size in (LARGE_BYTES + 1, WHOLE_BYTES, 1, WHOLE_BYTES + 1, 1_000_000):
        for sender, receiver in ((one, other), (other, one)):
            sent = {"bytes": os.urandom(size), "other": bytearray(os.urandom(LARGE_BYTES + 1))}
            sender.send(sent)
            assert receiver.receive() == sent
    assert not one._descriptors
    assert one._outbox is not None


def test_what_is_not_read_yet_is_not_written_over(ends):
    one, other = ends
    sent = [os.urandom(1_000_000) for _ in range(4)]
    for body in sent:
        one.send(body)
    assert [other.receive() for _ in sent] == sent


@pytest.mark.skipif(sys.platform != "linux", reason="others keep it")
def test_memory_that_has_been_read_is_given_back(ends):
    one, other = ends
    one.send(b"x" * WHOLE_BYTES)
    other.receive()
    inbox = other._inbox
    assert inbox is not None
    assert inbox[0]
    other.release()
    assert not inbox[0]  # cleared: none is there any more


def test_where_memory_has_no_files_they_are_on_disk(ends, monkeypatch):
    monkeypatch.delattr(os, "memfd_create", raising=False)
    one, other = ends
    for body in (os.urandom(WHOLE_BYTES), os.urandom(100_000)):
        one.send(body)
        assert other.receive() == body
        other.release()


def test_what_cannot_be_mapped_is_a_lack_of_memory():
    with pytest.raises(MemoryError):
        SharedMemory(os.open(os.devnull, os.O_RDONLY), 1 << 20).mapped()


def test_all_that_has_arrived_is_given_at_once(ends):
    one, other = ends
    for number in range(5):
        one.send((number, packed([b"x" * (LARGE_BYTES + number)])))
    arrived: list[tuple[int, SharedMemory]] = []
    while len(arrived) < 5:
        arrived += other.receive_available()
    assert [(number, len(body)) for number, body in arrived] == [
        (number, LARGE_BYTES + number) for number in range(5)
    ]


@pytest.mark.parametrize(
    "error",
    [
        RequestError("over_budget", "too much", hint="less", missing=["a"], retry_after_seconds=3),
        Unavailable("gone"),
    ],
)
def test_refusals_arrive_with_all_that_they_say(ends, error):
    one, other = ends
    one.send(error)
    received = other.receive()
    assert type(received) is type(error)
    assert vars(received) == vars(error)
    assert str(received) == str(error)


def test_an_end_that_is_closed_is_told(ends):
    one, other = ends
    one.close()
    with pytest.raises(ChannelClosed):
        other.receive()
    with pytest.raises(ChannelClosed):
        other.send("anything")
