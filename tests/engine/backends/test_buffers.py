"""Memory that is lent, and lent again when nothing refers to it."""

import threading

import numpy as np
from gradwire_engine.backends.numpy import buffers

FLOAT = np.dtype(float)


def place(array):
    return array.__array_interface__["data"][0]


def test_memory_is_lent_again_when_nothing_refers_to_it():
    pool = buffers.Pool()
    first = pool.empty((1000, 100), FLOAT)
    at = place(first)
    assert not at % 64
    part = first[3:, ::2]
    del first
    second = pool.empty((1000, 100), FLOAT)
    assert place(second) != at
    seen = memoryview(part)  # type: ignore[arg-type]
    del part
    assert place(pool.empty((1000, 100), FLOAT)) != at
    del seen
    assert place(pool.empty((500, 199), FLOAT)) == at


def test_small_and_huge_arrays_are_not_kept(monkeypatch):
    monkeypatch.setattr(buffers, "_KEPT_BYTES", 1 << 20)
    pool = buffers.Pool()
    for size in (10, 1 << 17):
        assert pool.empty((size,), FLOAT).shape == (size,)
        assert not pool._kept


def test_a_pool_keeps_no_more_than_it_may(monkeypatch):
    monkeypatch.setattr(buffers, "_KEPT_BYTES", 1 << 20)
    pool = buffers.Pool()
    arrays = [pool.empty((1 << 14,), FLOAT) for _ in range(20)]
    for i, array in enumerate(arrays):
        array[:] = i
    assert [array[0] for array in arrays] == [*range(20)]
    assert sum(block.nbytes for block in pool._kept) == pool._kept_bytes <= 1 << 20
    assert sum(map(len, pool._blocks.values())) == len(pool._kept)


def test_of_very_many_arrays_alike_few_are_kept():
    pool = buffers.Pool()
    arrays = [pool.empty((1 << 13,), FLOAT) for _ in range(100)]
    for i, array in enumerate(arrays):
        array[:] = i
    assert [array[0] for array in arrays] == [*range(100)]
    assert len(pool._kept) == buffers._MOST_ALIKE
    arrays.clear()
    assert place(pool.empty((1 << 13,), FLOAT)) == place(pool._kept[0])


def test_every_thread_has_its_own():
    pool = buffers.Pool()
    at = place(pool.empty((1 << 14,), FLOAT))
    found = []

    def other():
        found.append(pool.empty((1 << 14,), FLOAT))

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert place(found[0]) != at
    assert place(pool.empty((1 << 14,), FLOAT)) == at


def test_sets_are_taken_once_until_they_are_given_back():
    pool = buffers.Pool()
    kinds = [((100, 3), FLOAT), ((100,), np.dtype("?")), ((0, 3), FLOAT)]
    first = pool.take("key", kinds)
    second = pool.take("key", kinds)
    assert [(x.shape, x.dtype) for x in first] == kinds
    assert not {place(x) for x in first[:2]} & {place(x) for x in second[:2]}
    pool.give("key", first)
    assert pool.take("key", kinds) is first
    for i in range(100):
        pool.give(str(i), pool.take(str(i), kinds))
    assert len(pool._sets) == buffers._KEPT_SETS
