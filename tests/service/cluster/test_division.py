"""Rows divided into shards."""

import numpy as np
from gradwire_service.cluster.division import MOST_BYTES, ClusterCapacity, capacity_of, divide
from hypothesis import given
from hypothesis import strategies as st

MIB = 1 << 20


def capacity(threads=2, thread_bytes=4 << 30):
    return ClusterCapacity(threads, threads * thread_bytes, 0, thread_bytes)


@given(
    st.lists(st.integers(1, 10_000), min_size=1, max_size=30),
    st.integers(1, 10_000),
    st.integers(1, 64),
    st.integers(64 * MIB, 1 << 34),
)
def test_shards_cover_all_rows_and_fit(chunks, row_bytes, threads, thread_bytes):
    given_capacity = capacity(threads, thread_bytes)
    shards = divide(chunks, row_bytes, given_capacity)
    starts, stops = np.transpose(shards)
    assert starts[0] == 0
    assert stops[-1] == sum(chunks)
    np.testing.assert_array_equal(starts[1:], stops[:-1])
    assert (stops > starts).all()
    assert ((stops - starts) * row_bytes <= given_capacity.shard_bytes).all()


def test_chunks_are_joined_whole():
    chunks = [1000] * 64
    shards = divide(chunks, 4096, capacity())  # 250 MiB for 2 threads
    assert len(shards) == 4
    assert all(start % 1000 == 0 for start, _ in shards)


def test_a_chunk_larger_than_a_shard_is_divided_evenly():
    rows = 5 * MOST_BYTES // 1024
    shards = divide([rows], 1024, capacity())
    sizes = [stop - start for start, stop in shards]
    assert len(sizes) == 5
    assert max(sizes) - min(sizes) <= 1


def test_little_data_is_one_shard():
    assert divide([10, 10, 10], 8, capacity(threads=16)) == [(0, 30)]


def test_the_capacity_is_that_of_the_smallest_thread():
    workers = [
        {"nthreads": 4, "memory_limit": 8 << 30, "metrics": {"memory": 1 << 30}},
        {"nthreads": 1, "memory_limit": 1 << 30, "metrics": {"memory": 1 << 29}},
    ]
    assert capacity_of(workers) == ClusterCapacity(5, 9 << 30, 3 << 29, 1 << 30)


def test_data_is_kept_where_memory_is_free():
    workers = [{"nthreads": 1, "memory_limit": 1 << 30, "metrics": {"memory": 1 << 28}}]
    found = capacity_of(workers)
    assert found.keeps(1 << 28)
    assert not found.keeps(1 << 29)
