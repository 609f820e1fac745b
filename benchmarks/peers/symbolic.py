"""CasADi's workloads: expressions of matrices, or of single numbers for scalar programs."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from types import SimpleNamespace
from typing import Any

import casadi as ca
import numpy as np

from peers import objectives
from peers.by_hand import Array
from peers.workloads import Problem

#: Programs that are faster with single numbers than with matrices.
_SCALAR = ("lstm", "runge_kutta", "hessian")


def casadi(problem: Problem) -> Callable[[], list[Any]]:
    """A CasADi function, called with buffers that are bound to it once."""
    row = problem.row
    kind = ca.SX if row.objective in _SCALAR else ca.MX
    values = {name: value for name, value in problem.values.items() if name != "index"}
    # Matrices are stored by columns; arrays with more axes are one column in NumPy's order.
    shapes = {name: v.shape if v.ndim == 2 else (v.size,) for name, v in values.items()}
    symbols = {name: kind.sym(name, *shape) for name, shape in shapes.items()}
    value = _EXPRESSIONS[row.objective](problem, symbols)
    sources = [symbols[name] for name in row.sources]
    if row.kind == "hessian":
        results = [ca.hessian(value, sources[0])[0]]
    else:
        results = [value, *(ca.gradient(value, source) for source in sources)]
    results = [ca.densify(result) for result in results]
    given = [np.ravel(v, order="F" if v.ndim == 2 else "C") for v in values.values()]
    return _Bound(ca.Function("f", list(symbols.values()), results), given)


class _Bound:
    """A function and the memory that it reads and writes, which its buffer does not keep alive."""

    def __init__(self, function: Any, given: list[Array]) -> None:
        self._shapes = [function.size_out(i) for i in range(function.n_out())]
        self._given = given
        self._found: list[Array] = [np.zeros(r * c) for r, c in self._shapes]
        self._buffer, self._evaluate = function.buffer()
        for number, array in enumerate(self._given):
            self._buffer.set_arg(number, array.data)
        for number, array in enumerate(self._found):
            self._buffer.set_res(number, array.data)

    def __call__(self) -> list[Any]:
        self._evaluate()
        found = zip(self._found, self._shapes, strict=True)
        return [array.reshape(shape, order="F") for array, shape in found]


def _as_written(problem: Problem, symbols: dict[str, Any]) -> Any:
    """Workloads without broadcasting and third axes use the objective of the other tools."""
    xp = SimpleNamespace(
        **{name: getattr(ca, name) for name in ("exp", "log", "sin", "sqrt", "tanh")},
        sum=lambda x, axis=None: ca.sum2(x) if axis else ca.sum1(ca.sum2(x)),
        affine=lambda x, w, b: x @ w + ca.repmat(b.T, x.shape[0], 1),
        logsumexp=lambda x, axis: _logsumexp(x),
        softplus=lambda x: ca.fmax(x, 0) + ca.log1p(ca.exp(-ca.fabs(x))),
        scan=objectives.scan,
    )
    return getattr(objectives, problem.row.objective)(xp, **symbols, **problem.static)


def _lstm(problem: Problem, symbols: dict[str, Any]) -> Any:
    """Arrays of scalar symbols, which NumPy adds and multiplies."""
    exp, tanh = (np.frompyfunc(function, 1, 1) for function in (ca.exp, ca.tanh))
    xp = SimpleNamespace(
        exp=exp, log=lambda x: np.array([ca.log(x)]), tanh=tanh, sum=np.sum, scan=objectives.scan
    )
    arrays = {}
    for name, symbol in symbols.items():
        value = problem.values[name]
        entries = np.array([*symbol.elements()], dtype=object)
        arrays[name] = entries.reshape(value.shape, order="F" if value.ndim == 2 else "C")
    return objectives.lstm(xp, **arrays)


def _gmm(problem: Problem, symbols: dict[str, Any]) -> Any:
    """Component by component, with matrices."""
    x, alpha, means, logs, lower = (
        symbols[name] for name in ("x", "alpha", "means", "logs", "lower")
    )
    (n, d), k = x.shape, alpha.shape[0]
    entries = ca.horzcat(ca.DM.zeros(k, 1), ca.exp(logs), lower)
    places = problem.values["index"].ravel(order="F").tolist()
    volumes = alpha + ca.sum2(logs)
    terms = []
    for i in range(k):
        factor = ca.reshape(entries[i, places], d, d)
        whitened = (x - ca.repmat(means[i, :], n, 1)) @ factor.T
        terms.append(volumes[i] - 0.5 * ca.sum2(whitened**2))
    likelihood = ca.sum1(_logsumexp(ca.horzcat(*terms))) - n * ca.logsumexp(alpha)
    return likelihood + 0.5 * (ca.sumsqr(ca.exp(logs)) + ca.sumsqr(lower)) - ca.sum1(ca.sum2(logs))


def _logsumexp(x: Any) -> Any:
    """The logarithm of the sum of exponentials of each row."""
    highest = reduce(ca.fmax, ca.horzsplit(x))
    return highest + ca.log(ca.sum2(ca.exp(x - ca.repmat(highest, 1, x.shape[1]))))


_EXPRESSIONS: dict[str, Callable[[Problem, dict[str, Any]], Any]] = {
    **dict.fromkeys(
        ("rosenbrock", "chain", "mlp", "runge_kutta", "hessian", "logistic"), _as_written
    ),
    "lstm": _lstm,
    "gmm": _gmm,
}
