"""Tools that compute a workload's value and gradient from arrays on the device."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from gradwire_engine import Engine, Leaf, Query
from gradwire_engine.answer import Limits
from peers.tools import differentiable, jax_namespace, torch_namespace
from peers.workloads import Problem

from gpu.cases import Run
from gpu.devices import Device

#: No limit of a service applies.
LIMITS = Limits(
    array_bytes=1 << 40, total_bytes=1 << 40, instructions=10**9, flops=10**18, kept_bytes=1 << 30
)


def gradwire(
    device: Device,
    text: str,
    values: Mapping[str, Any],
    sources: Sequence[str] = (),
    *,
    stay: bool = True,
) -> Run:
    """The engine in this process: the value, and the gradients of ``sources`` if there are any.

    Each run passes the engine's door anew, as a request does. What does not ``stay`` comes from
    the host and returns to it.
    """
    engine = Engine(LIMITS, backend=device.backend(stay=stay))
    given = {
        name: Leaf(device.xp.asarray(value) if stay else value) for name, value in values.items()
    }
    program = engine.parse(text)
    query = Query("gradient", sources=list(sources)) if sources else Query("evaluate")

    def run() -> Sequence[Any]:
        answer = engine.call(program, given, query).replay(go_on)
        device.synchronize()
        return [answer.value, *answer.gradients] if sources else [answer.value]

    return run


def jax(problem: Problem, *, objective: Callable[..., Any] | None = None, stay: bool = True) -> Run:
    """JAX's compiled value and gradient of the problem's objective, or of another function.

    What does not ``stay`` comes from the host and returns to it.
    """
    jax = the_jax()
    put = jax.numpy.asarray if stay else np.asarray
    values = {name: put(value) for name, value in problem.values.items()}
    function, sources = differentiable(jax_namespace(), problem, values, objective)
    compiled = jax.jit(jax.value_and_grad(function))

    def run() -> Sequence[Any]:
        value, gradients = jax.block_until_ready(compiled(sources))
        answer = [value, *gradients]
        return answer if stay else [np.asarray(each) for each in answer]

    return run


def the_jax() -> Any:
    """JAX with double precision, and without TF32."""
    import jax

    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_default_matmul_precision", "highest")
    return jax


def torch(device: Device, problem: Problem, *, compiled: bool = False, stay: bool = True) -> Run:
    """PyTorch's value and gradient, each operation as it comes or ``compiled``.

    Of a loop its step is compiled. What does not ``stay`` comes from the host and returns to it.
    """
    import torch

    kept = {name: torch.from_numpy(value) for name, value in problem.values.items()}
    if stay:
        kept = {name: value.to(device.torch) for name, value in kept.items()}
    xp = torch_namespace()
    looped = "steps" in problem.static
    if compiled and looped:
        scan = xp.scan
        xp.scan = lambda step, *rest: scan(torch.compile(step), *rest)
    function, _ = differentiable(xp, problem, kept)
    if compiled and not looped:
        function = torch.compile(function)

    def run() -> Sequence[Any]:
        sources = [kept[name].to(device.torch).requires_grad_() for name in problem.row.sources]
        value = function(sources).sum()
        answer = [value.detach(), *torch.autograd.grad(value, sources)]
        if not stay:
            return [each.cpu() for each in answer]
        wait_for_torch()
        return answer

    return run


def wait_for_torch() -> None:
    """Wait until PyTorch's device has finished, if it has one."""
    import torch

    if torch.cuda.is_available():
        torch.cuda.synchronize()


def go_on() -> None:
    """A deadline that never passes."""
