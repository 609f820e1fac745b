"""Records on their way to the service's store: large bodies apart, others in one."""

import pytest
from gradwire_service.store.memory import MOST_SHARED, MemoryStore
from gradwire_service.store.records import Amount, Key, Policy, Upload
from gradwire_service.wire.shared import WHOLE_BYTES, SharedMemory
from gradwire_service.workers.remote import Bundle


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
        (WHOLE_BYTES + 1, 3, WHOLE_BYTES + 7),
        (3_000_000, 3_000_000, 7),
    ],
)
def test_a_bundle_has_each_record_with_its_own_body(sizes):
    given = uploads(*sizes)
    bundle = Bundle.of([], given)
    found = bundle.uploads()
    assert [(each.key, each.head) for each in found] == [(each.key, each.head) for each in given]
    for each, sent in zip(found, given, strict=True):
        body = each.body.whole() if isinstance(each.body, SharedMemory) else each.body
        assert bytes(body) == bytes(sent.body)
        assert isinstance(each.body, SharedMemory) == (len(sent.body) > WHOLE_BYTES)


def test_a_bundle_names_what_is_removed():
    removed = [Key("results", "me", "a"), Key("results", "me", "b")]
    bundle = Bundle.of(removed, [])
    assert bundle.keys() == removed
    assert bundle.uploads() == []


def test_large_bodies_are_kept_as_they_came_while_files_are_few():
    room = Amount(10_000, 1 << 40)
    store = MemoryStore({"results": Policy(room, room), "used": Policy(room, room)})
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
