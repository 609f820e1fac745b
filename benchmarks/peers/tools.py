"""Tools that trace Python: each computes a value and its gradient."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any, TypeAlias

import numpy as np

from peers import by_hand, objectives
from peers.workloads import Problem, Workload

#: The value and the gradients in the order of the sources, or only the Hessian.
Answer: TypeAlias = Sequence[Any]
Run: TypeAlias = Callable[[], Answer]


def numpy(problem: Problem) -> Run:
    """The handwritten function."""
    function = getattr(by_hand, problem.row.objective)
    return partial(function, **problem.values, **problem.static)


def gradwire(problem: Problem, *, compiled: bool = False) -> Run:
    """The engine in this process: a replay, with the first call's work already done.

    A ``compiled`` one waits for machine code at the first call, which a service does not.
    """
    from gradwire_engine import Engine, Leaf, Query, native

    backend = native.native_backend() if compiled else None
    row, engine = problem.row, Engine(backend=backend)
    values = {name: Leaf(value) for name, value in problem.values.items()}
    sources = list(row.sources)
    query = Query(row.kind, sources=sources if row.kind == "gradient" else sources[0])
    call = engine.call(engine.parse(problem.text), values, query)

    def run() -> Answer:
        answer = call.replay(_go_on)
        if row.kind == "gradient":
            return [answer.value, *answer.gradients]
        return [answer.derivatives["hessian"]]

    return run


def autograd(problem: Problem) -> Run:
    """HIPS autograd, which traces each call anew."""
    import autograd.numpy as anp
    import autograd.scipy.linalg
    import autograd.scipy.special
    from autograd import hessian, value_and_grad

    xp = SimpleNamespace(
        **{name: getattr(anp, name) for name in _SAME},
        diagonal=anp.diag,
        cholesky=anp.linalg.cholesky,
        solve_triangular=partial(autograd.scipy.linalg.solve_triangular, lower=True),
        logsumexp=autograd.scipy.special.logsumexp,
        softplus=lambda x: anp.logaddexp(0.0, x),
        concatenate=partial(anp.concatenate, axis=1),
        affine=_affine,
        scan=objectives.scan,
    )
    function, sources = differentiable(xp, problem, problem.values)
    if problem.row.kind == "hessian":
        derive = hessian(lambda x: function([x]))
        return lambda: [derive(sources[0])]
    derive = value_and_grad(function)

    def run() -> Answer:
        value, gradients = derive(sources)
        return [value, *gradients]

    return run


def jax(problem: Problem, *, unrolled: bool = False) -> Run:
    """JAX's compiled function; loops use ``scan`` or are unrolled."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)

    values = {name: jnp.asarray(value) for name, value in problem.values.items()}
    function, sources = differentiable(jax_namespace(unrolled=unrolled), problem, values)
    if problem.row.kind == "hessian":
        compiled = jax.jit(jax.hessian(lambda x: function([x])))
        return lambda: [compiled(sources[0]).block_until_ready()]
    compiled = jax.jit(jax.value_and_grad(function))

    def run() -> Answer:
        value, gradients = jax.block_until_ready(compiled(sources))
        return [value, *gradients]

    return run


def jax_namespace(*, unrolled: bool = False) -> Any:
    """The functions of workloads in JAX."""
    import jax
    import jax.numpy as jnp
    from jax.experimental.ode import odeint

    def scan(step: Callable[..., Any], carry: Any, times: int, *rows: Any) -> Any:
        return jax.lax.scan(lambda c, row: (step(c, *row), None), carry, rows, times)[0]

    return SimpleNamespace(
        **{name: getattr(jnp, name) for name in _SAME},
        diagonal=jnp.diag,
        cholesky=jnp.linalg.cholesky,
        solve_triangular=partial(jax.scipy.linalg.solve_triangular, lower=True),
        logsumexp=jax.scipy.special.logsumexp,
        softplus=jax.nn.softplus,
        concatenate=partial(jnp.concatenate, axis=1),
        stack=jnp.stack,
        odeint=odeint,
        affine=_affine,
        scan=objectives.scan if unrolled else scan,
    )


def torch(problem: Problem) -> Run:
    """PyTorch in eager mode, which records each operation as it runs."""
    import torch

    torch.set_num_threads(1)
    values = {name: torch.from_numpy(value) for name, value in problem.values.items()}
    function, sources = differentiable(torch_namespace(), problem, values)
    if problem.row.kind == "hessian":
        derive = torch.func.hessian(lambda x: function([x]))
        return lambda: [derive(sources[0])]
    for source in sources:
        source.requires_grad_()

    def run() -> Answer:
        value = function(sources)
        return [value.detach(), *torch.autograd.grad(value, sources)]

    return run


def torch_namespace() -> Any:
    """The functions of workloads in PyTorch."""
    import torch

    return SimpleNamespace(
        **{name: getattr(torch, name) for name in _SAME},
        diagonal=torch.diagonal,
        cholesky=torch.linalg.cholesky,
        solve_triangular=lambda a, b: torch.linalg.solve_triangular(a, b[:, None], upper=False),
        logsumexp=torch.logsumexp,
        softplus=torch.nn.functional.softplus,
        concatenate=partial(torch.cat, dim=1),
        affine=lambda x, w, b: torch.addmm(b, x, w),
        scan=objectives.scan,
    )


def casadi(problem: Problem) -> Run:
    """CasADi's virtual machine, in double precision, on expressions of matrices or numbers."""
    from peers.symbolic import casadi

    return casadi(problem)


_SAME = ("sum", "exp", "log", "sin", "sqrt", "tanh", "einsum")

TOOLS: dict[str, Callable[[Problem], Run]] = {
    "numpy": numpy,
    "gradwire": gradwire,
    "machine code": partial(gradwire, compiled=True),
    "jax": jax,
    "jax unrolled": partial(jax, unrolled=True),
    "torch": torch,
    "autograd": autograd,
    "casadi": casadi,
}


#: The module of each tool except NumPy and Gradwire.
MODULES = {
    "machine code": "llvmlite",
    "jax": "jax",
    "jax unrolled": "jax",
    "torch": "torch",
    "autograd": "autograd",
    "casadi": "casadi",
}


def asked(tool: str, row: Workload) -> bool:
    """True if a tool supports this workload.

    CasADi uses double precision and cannot differentiate matrix factorisations. JAX runs loops as
    ``scan``, and scalar loops also unrolled; of the others it alone has an ``odeint``.
    """
    if row.objective == "odeint":
        return tool in ("numpy", "gradwire", "machine code", "jax")
    if tool == "jax unrolled":
        return row.objective == "runge_kutta"
    return tool != "casadi" or (row.dtype == "float64" and row.objective != "cholesky")


def check(problem: Problem, answer: Answer) -> None:
    """Check against the result by hand; errors are relative to its largest element."""
    for found, expected in zip(answer, numpy(problem)(), strict=True):
        scale = float(np.abs(expected).max())
        np.testing.assert_allclose(
            np.ravel(np.asarray(found)), np.ravel(expected), rtol=0, atol=problem.row.rtol * scale
        )


def differentiable(
    xp: Any, problem: Problem, values: dict[str, Any], objective: Callable[..., Any] | None = None
) -> tuple[Callable[[Sequence[Any]], Any], list[Any]]:
    """The objective as a function of its sources, and the values of the sources."""
    objective = objective or getattr(objectives, problem.row.objective)
    names = problem.row.sources

    def function(sources: Sequence[Any]) -> Any:
        named = dict(zip(names, sources, strict=True))
        return objective(xp, **(values | named), **problem.static)

    return function, [values[name] for name in names]


def _affine(x: Any, w: Any, b: Any) -> Any:
    return x @ w + b


def _go_on() -> None:
    """A deadline that never passes."""
