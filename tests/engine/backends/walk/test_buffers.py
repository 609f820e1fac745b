"""Pools of memory, which is used again when nothing refers to it."""

import threading

import numpy as np
import pytest
from gradwire_engine.backends.walk import buffers
from gradwire_engine.shared_budget import SharedBudget

FLOAT = np.dtype(float)


@pytest.fixture
def budget():
    return SharedBudget(1 << 20)


@pytest.fixture
def pool(budget):
    return buffers.Pool(budget)


def in_thread(function):
    """The result of ``function`` in a thread that has ended then."""
    found = []
    thread = threading.Thread(target=lambda: found.append(function()))
    thread.start()
    thread.join()
    return found[0]


def place(array):
    return array.__array_interface__["data"][0]


def test_memory_is_lent_again_when_nothing_refers_to_it():
    pool = buffers.Pool(SharedBudget(1 << 22))
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


def test_small_and_huge_arrays_are_not_kept(pool, budget):
    for size in (10, 1 << 17):
        assert pool.empty((size,), FLOAT).shape == (size,)
        assert not budget.taken


def test_a_pool_keeps_no_more_than_it_may(pool, budget):
    arrays = [pool.empty((1 << 14,), FLOAT) for _ in range(20)]
    for i, array in enumerate(arrays):
        array[:] = i
    assert [array[0] for array in arrays] == [*range(20)]
    kept = pool._memory.order
    assert sum(block.nbytes for block in kept) == budget.taken <= budget.most
    assert sum(map(len, pool._memory.blocks.values())) == len(kept)


def test_of_very_many_arrays_alike_few_are_kept():
    pool = buffers.Pool(SharedBudget(1 << 22))
    arrays = [pool.empty((1 << 13,), FLOAT) for _ in range(100)]
    for i, array in enumerate(arrays):
        array[:] = i
    assert [array[0] for array in arrays] == [*range(100)]
    kept = pool._memory.order
    assert len(kept) == buffers._MOST_ALIKE
    arrays.clear()
    assert place(pool.empty((1 << 13,), FLOAT)) == place(kept[0])


def test_every_thread_has_its_own(pool):
    at = place(pool.empty((1 << 14,), FLOAT))
    assert place(in_thread(lambda: pool.empty((1 << 14,), FLOAT))) != at
    assert place(pool.empty((1 << 14,), FLOAT)) == at


def test_all_threads_together_keep_no_more_than_they_may(pool, budget):
    """A block that a thread is using keeps its numbers, whichever thread drops it."""
    barrier = threading.Barrier(4)
    most, wrong = [], []

    def work(number):
        held: list[np.ndarray] = []
        for i in range(300):
            barrier.wait()
            array = pool.empty((1 << 13 + i % 3,), FLOAT)
            array[:] = number
            held = [*held[-3:], array]
            wrong.extend([x for x in held if (x != number).any()])
            with budget.lock:
                most.append(budget.taken)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(most) == 4 * 300
    assert not wrong
    assert budget.most // 2 < max(most) <= budget.most


def test_what_a_thread_kept_goes_with_it(pool, budget):
    in_thread(lambda: [pool.empty((1 << 14,), FLOAT) for _ in range(4)])
    pool.empty((1 << 13,), FLOAT)
    assert budget.taken == sum(block.nbytes for block in pool._memory.order) > 0


def test_what_is_forgotten_is_not_counted(pool, budget):
    pool.empty((1 << 14,), FLOAT)
    pool.empty((1 << 13,), FLOAT)
    taken = budget.taken
    pool.forget()
    pool.empty((1 << 14,), FLOAT)
    assert 0 < budget.taken < taken


def test_a_smaller_budget_is_kept_to_at_once(pool, budget):
    first, *_ = arrays = [pool.empty((1 << 14,), FLOAT) for _ in range(7)]
    first[:] = 1
    budget.resize(1 << 19)
    assert 1 << 18 < budget.taken <= 1 << 19
    assert place(pool.empty((1 << 14,), FLOAT)) not in {place(array) for array in arrays}
    budget.resize(0)
    assert not budget.taken
    assert (first == 1).all()
