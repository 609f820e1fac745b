"""What a GPU says of itself, and what it costs."""

import time

import pytest

pytest.importorskip("llvmlite")

pytestmark = pytest.mark.gpu


def test_costs_are_measured():
    from gradwire_gpu import crossover, describe, gpu_backend

    backend = gpu_backend(4 << 30)
    device, costs = describe(backend), crossover(backend, time.perf_counter)
    assert device.memory_bytes >= device.free_bytes > 0
    assert 1e-6 < costs.launch_seconds < 1e-2
    assert min(costs.bytes_per_second_in, costs.bytes_per_second_out) > 1e8
    assert costs.flops_per_second > 1e9
