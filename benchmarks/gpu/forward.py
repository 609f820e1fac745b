"""Tools that compute values alone, of one Python function in several array namespaces."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeAlias

from gpu.cases import Prepare, Run
from gpu.devices import Device
from gpu.tools import gradwire, the_jax, wait_for_torch

#: From an array namespace, the function of named arrays that computes with it.
Form: TypeAlias = Callable[[Any], Callable[[Mapping[str, Any]], Any]]


def tools(
    device: Device, text: str, form: Form, values: Mapping[str, Any], *others: str
) -> dict[str, Prepare]:
    """Gradwire of the text, and CuPy, JAX and PyTorch of the same in Python.

    ``others`` are further forms of PyTorch: ``compiled`` and ``captured``.
    """
    further = {
        "compiled": partial(_torch, device, form, values, compiled=True),
        "captured": partial(_captured, device, form, values),
    }
    return {
        "gradwire": lambda: gradwire(device, text, values),
        f"{device.xp.__name__}, eager": lambda: _eager(device, form, values),
        "jax": lambda: _jax(form, values),
        "torch, eager": lambda: _torch(device, form, values),
        **{f"torch, {name}": further[name] for name in others},
    }


def _eager(device: Device, form: Form, values: Mapping[str, Any]) -> Run:
    """CuPy's operations, one kernel each; on the host NumPy's."""
    given = {name: device.xp.asarray(value) for name, value in values.items()}
    function = form(device.xp)

    def run() -> list[Any]:
        answer = function(given)
        device.synchronize()
        return [answer]

    return run


def _jax(form: Form, values: Mapping[str, Any]) -> Run:
    jax = the_jax()
    given = {name: jax.numpy.asarray(value) for name, value in values.items()}
    compiled = jax.jit(form(jax.numpy))
    return lambda: [jax.block_until_ready(compiled(given))]


def _torch(device: Device, form: Form, values: Mapping[str, Any], *, compiled: bool = False) -> Run:
    import torch

    given = {name: torch.from_numpy(value).to(device.torch) for name, value in values.items()}
    function = form(torch)
    if compiled:
        function = torch.compile(function)

    def run() -> list[Any]:
        with torch.no_grad():
            answer = function(given)
        wait_for_torch()
        return [answer]

    return run


def _captured(device: Device, form: Form, values: Mapping[str, Any]) -> Run:
    """PyTorch's operations, captured once as a CUDA graph."""
    import torch

    _torch(device, form, values)()  # what is initialised at a first call cannot be captured
    given = {name: torch.from_numpy(value).to(device.torch) for name, value in values.items()}
    function, graph = form(torch), torch.cuda.CUDAGraph()
    with torch.no_grad(), torch.cuda.graph(graph):
        answer = function(given)

    def run() -> list[Any]:
        graph.replay()
        wait_for_torch()
        return [answer]

    return run
