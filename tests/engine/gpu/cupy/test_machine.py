"""The simulated GPU has CuPy's names alone, and shows whoever does not wait for it."""

import ctypes
import inspect

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from tests.engine.gpu.cupy.double import RECORDED
from tests.engine.gpu.cupy.machine import simulated
from tests.engine.gpu.cupy.memory import CudaError, OutOfMemoryError, alloc_pinned_memory

#: What only the simulation has.
OWN = {"add", "asked", "capturing", "finish", "finished", "give", "take"}


def public(owner):
    return {name for name in dir(owner) if not name.startswith("_")} - OWN


@pytest.fixture
def cupy():
    with simulated():
        import cupy

        with cupy.cuda.Stream():
            yield cupy


def test_names_are_cupys(cupy):
    recorded = RECORDED["cuda"]
    assert public(cupy.cuda) <= {*recorded[""]}
    for name, found in vars(cupy.cuda).items():
        if name in recorded and not inspect.isroutine(found):
            assert public(found) <= {*recorded[name]}, name
    assert public(cupy.cuda.function.Module) <= {*recorded["function.Module"]}
    assert public(cupy.empty(3).data) <= {*recorded["MemoryPointer"]}


def test_nothing_is_there_before_somebody_waits(cupy):
    x = cupy.zeros(3)
    y = x + 1
    assert np.isnan(y.on_device).all()
    assert y.get().tolist() == [1, 1, 1]


def test_memory_that_is_written_again_too_early(cupy):
    pinned, x = alloc_pinned_memory(8), cupy.empty(1)
    place = np.frombuffer(pinned, np.float64)
    stream, event = cupy.cuda.Stream(), cupy.cuda.Event()
    place[0] = 1
    x.data.copy_from_host_async(ctypes.c_void_p(pinned.ptr), 8, stream)
    event.record(stream)
    assert not event.done
    place[0] = 2
    event.synchronize()
    assert x.on_device[0] == 1  # as the event was looked at before
    x.data.copy_from_host_async(ctypes.c_void_p(pinned.ptr), 8, stream)
    place[0] = 3
    stream.synchronize()
    assert x.on_device[0] == 3  # not the 2 that was there when it was asked for


def test_graphs_compute_anew(cupy):
    x, stream = cupy.zeros(2), cupy.cuda.Stream()
    cupy.cuda.Stream().synchronize()
    with stream:
        stream.begin_capture()
        y = x * 2 + 1
        with pytest.raises(CudaError):
            y.get()
        graph = stream.end_capture()
        for number in range(3):
            x[:] = number
            graph.launch(stream)
            assert y.get().tolist() == [2 * number + 1] * 2


def test_streams_wait_for_each_other(cupy):
    x, other, event = cupy.zeros(1), cupy.cuda.Stream(), cupy.cuda.Event()
    with other:
        x[:] = 5
    event.record(other)
    with cupy.cuda.Stream() as stream:
        stream.wait_event(event)
        y = x + 1
        assert y.get().tolist() == [6]


def test_pools_have_limits(cupy):
    pool = cupy.cuda.MemoryPool()
    pool.set_limit(100)
    with cupy.cuda.using_allocator(pool.malloc):
        kept = cupy.empty(10)
        with pytest.raises(OutOfMemoryError):
            cupy.empty(10)
        del kept
        cupy.empty(10)
