"""A GPU that is lost when a test asks for that, in the process that computes on it."""

from importlib import import_module

from gradwire_service.workers.opened_gpu import open_gpu

_WRITES_NOWHERE = 'extern "C" __global__ void f(int *p) { *p = 1; }'


def gpu_until(path, settings, compile_texts):
    """The GPU, until this file is there: then a kernel writes where there is no memory."""
    cupy = import_module("cupy")
    opened = open_gpu(settings, compile_texts)

    def used_bytes():
        if path.exists():
            path.unlink()
            cupy.RawKernel(_WRITES_NOWHERE, "f")((1,), (1,), (cupy.uint64(8),))
        return opened.used_bytes()

    return opened._replace(used_bytes=used_bytes)
