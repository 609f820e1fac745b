"""Records on their way to the service's store: large bodies apart, others in one."""

import os
import socket
import threading
from contextlib import suppress

import pytest
from gradwire_service.settings import Settings
from gradwire_service.store.memory import MOST_SHARED, MemoryStore
from gradwire_service.store.quotas import Amount, Policy
from gradwire_service.store.records import Key, Upload
from gradwire_service.wire.shared import MAX_COPIED_BYTES, SharedMemory
from gradwire_service.workers.channel import Channel, ChannelClosed
from gradwire_service.workers.remote import Bundle, RemoteStore, dispatch


def uploads(*sizes):
    return [
        Upload(Key("results", "me", f"{n}"), f"head {n}", memoryview(bytes([n]) * size))
        for n, size in enumerate(sizes)
    ]


@pytest.mark.parametrize(
    "sizes",
    [
        (5,),
        (0, 3, 0),
        (70_000, 3, 100_000),
        (MAX_COPIED_BYTES + 1, 3, MAX_COPIED_BYTES + 7),
        (3_000_000, 3_000_000, 7),
    ],
)
def test_a_bundle_has_each_record_with_its_own_body(sizes):
    given = uploads(*sizes)
    bundle = Bundle.of([], given)
    found = bundle.uploads()
    assert [(each.key, each.head) for each in found] == [(each.key, each.head) for each in given]
    for each, sent in zip(found, given, strict=True):
        body = each.body.to_bytes() if isinstance(each.body, SharedMemory) else each.body
        assert bytes(body) == bytes(sent.body)
        assert isinstance(each.body, SharedMemory) == (len(sent.body) > MAX_COPIED_BYTES)


def test_a_bundle_names_what_is_removed():
    removed = [Key("results", "me", "a"), Key("results", "me", "b")]
    bundle = Bundle.of(removed, [])
    assert bundle.keys() == removed
    assert bundle.uploads() == []


def store_of_results() -> MemoryStore:
    room = Amount(10_000, 1 << 40)
    return MemoryStore({"results": Policy(room, room), "used": Policy(room, room)})


def file_of(memory):
    return os.fstat(memory.descriptor).st_ino


def test_memory_of_released_bodies_is_written_again():
    store, lengths = store_of_results(), (MAX_COPIED_BYTES + 1, MAX_COPIED_BYTES + 2, 3)
    first = Bundle.of([], uploads(*lengths)).uploads()
    assert store.exchange([], first).spare == []
    released = [each.key for each in first]
    second = uploads(
        MAX_COPIED_BYTES + 2, MAX_COPIED_BYTES + 9
    )  # one of them has the length of a new body
    (spare,) = store.exchange(released, Bundle.of([], second).uploads()).spare
    assert spare is first[1].body
    found = Bundle.of([], uploads(MAX_COPIED_BYTES + 3, MAX_COPIED_BYTES + 2), [spare]).uploads()
    assert file_of(found[1].body) == file_of(spare)
    assert file_of(found[0].body) != file_of(spare)
    for n, each in enumerate(found):
        assert isinstance(each.body, SharedMemory)
        assert bytes(each.body.to_bytes()) == bytes([n]) * (MAX_COPIED_BYTES + 3 - n)


def test_memory_that_was_read_is_not_written_again():
    store, length = store_of_results(), MAX_COPIED_BYTES + 1
    (old,) = Bundle.of([], uploads(length)).uploads()
    store.exchange([], [old])
    assert store.find(old.key, body=False) is not None
    found = store.find(old.key)  # for another process, which may still be reading
    (new,) = Bundle.of([], uploads(0, length)[1:]).uploads()
    assert store.exchange([old.key], [new]).spare == []
    assert found is not None
    assert bytes(found.content) == bytes(length)
    assert len(store.exchange([new.key], [old]).spare) == 1


def test_a_process_writes_its_results_into_the_memory_of_the_last_but_one():
    store, ends = store_of_results(), socket.socketpair()
    service, worker = map(Channel, ends)
    files: list[int] = []

    def serve():
        with suppress(ChannelClosed):
            while True:
                call = service.receive()
                files.extend(file_of(each.body) for each in call.arguments[0].uploads())
                service.send(dispatch(store, call))

    thread = threading.Thread(target=serve)
    thread.start()
    remote = RemoteStore(worker, Settings())
    released: list[Key] = []
    for n in range(6):
        body = memoryview(bytes([n]) * (MAX_COPIED_BYTES + 1))
        key = Key("results", "me", f"{n}")
        (expires_at,) = remote.exchange(released, [Upload(key, "", body)]).expiries
        assert expires_at is not None
        found = store._records["results"][key][0].body
        assert isinstance(found, SharedMemory)
        assert bytes(found.to_bytes()) == bytes(body)
        released = [key]
        if n == 3:
            remote.release()
    worker.close()
    thread.join()
    service.close()
    # The first has no memory to take, nor has the fifth, whose was released.
    assert files[:4] == [files[0], files[1]] * 2
    assert files[4] not in files[:4]
    assert files[5] == files[3]


def test_large_bodies_are_kept_as_they_came_while_files_are_few():
    store = store_of_results()
    body = SharedMemory()
    body.append(b"abc")
    bodies = [SharedMemory() for _ in range(MOST_SHARED + 5)]
    for each in bodies:
        each.append(b"abc")
    keys = [Key("results", "me", f"{n}") for n in range(len(bodies))]
    store.exchange([], [Upload(key, "", each) for key, each in zip(keys, bodies, strict=True)])
    kept = [found for key in keys if (found := store.find(key)) is not None]
    assert len(kept) == len(keys)
    assert [isinstance(each.body, SharedMemory) for each in kept].count(True) == MOST_SHARED
    assert {bytes(each.content) for each in kept} == {b"abc"}
    assert store.usage("results", "me") == (len(bodies), 3 * len(bodies))
    del bodies, kept, each
    store.exchange(keys, [Upload(keys[0], "", body)])  # released: there is room again
    assert [each.body for each in [store.find(keys[0])] if each is not None] == [body]
