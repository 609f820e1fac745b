"""Arrays in threads reuse pages that are already mapped."""

import platform
import subprocess
import sys

import numpy as np
import pytest
from gradwire_engine.backends.walk.buffers import BUDGET, POOL
from gradwire_service.engines import open_engines
from gradwire_service.settings import Settings

FAULTS = """
import resource, sys, threading
import numpy as np
from gradwire_service.allocation import keep_freed_memory

if sys.argv[1] == "kept":
    keep_freed_memory()

def requests(count):
    for _ in range(count):
        arrays = [np.ones(100_000) for _ in range(4)]
        del arrays

def faults():
    requests(20)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    requests(50)
    print((resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before) / 50)

thread = threading.Thread(target=faults)
thread.start()
thread.join()
"""


@pytest.mark.thorough
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="how glibc allocates")
def test_freed_memory_pages_are_reused():
    found = {}
    for mode in "kept", "given back":
        command = [sys.executable, "-c", FAULTS, mode]
        done = subprocess.run(command, capture_output=True, check=True, text=True)
        found[mode] = float(done.stdout)
    assert found["kept"] < 20
    assert found["kept"] < found["given back"]


def test_buffers_have_the_limit_of_the_settings():
    before = BUDGET.most
    try:
        for most in 1 << 20, 0:
            open_engines(Settings(buffer_bytes=most), isolated=False)
            arrays = [POOL.empty((1 << 15,), np.dtype(float)) for _ in range(8)]
            assert len(arrays) == 8
            assert (BUDGET.most, bool(BUDGET.taken)) == (most, bool(most))
            assert BUDGET.taken <= most
    finally:
        BUDGET.resize(before)
