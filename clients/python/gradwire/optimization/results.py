"""The result of an optimisation, in the form of SciPy's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from gradwire import hooks
from gradwire.values import decode

Kind: TypeAlias = Literal["minimize", "least_squares", "root"]
KINDS: tuple[Kind, ...] = get_args(Kind)
#: What reads a part of an answer.
Read: TypeAlias = Callable[[Any], Any]


class OptimizeResult(dict[str, Any]):
    """A result as ``scipy.optimize.OptimizeResult``: a dictionary whose members are attributes.

    ``minimize`` gives ``fun``, the value at ``x``; ``least_squares`` gives ``cost``, half the sum
    of the squares (after the loss), and ``optimality``; ``root`` gives ``fun``, the values that are
    to be zero. ``nit`` is the number of iterations; ``nfev``, ``njev`` and ``nhev`` are those of
    values, gradients or Jacobians, and Hessians or products with them.
    """

    #: The solution, nested as the start is, with its dtypes.
    x: Any
    fun: Any
    success: bool
    #: As in SciPy, 0 after success of ``minimize``, above 0 after that of the others.
    status: int
    message: str
    nit: int
    nfev: int
    njev: int
    nhev: int
    #: The largest element of the gradient; of ``root``, of the values.
    gradient_norm: float
    #: Some of the iterations, at most a thousand: arrays ``iteration``, ``value``,
    #: ``gradient_norm`` and ``seconds``.
    history: Mapping[str, NDArray[Any]]
    #: The program's id.
    program: str | None

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value

    def __delattr__(self, name: str) -> None:
        try:
            del self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self]

    def __repr__(self) -> str:
        return hooks.display().text(self)

    def _repr_html_(self) -> str:
        return hooks.display().card(self)


def result_of(
    kind: str, answer: Mapping[str, Any], x: Read = decode, values: Read = decode
) -> OptimizeResult:
    """The result of an answer; ``x`` reads its solution and ``values`` what a root is of."""
    evaluations = answer["evaluations"]
    success, norm = bool(answer["success"]), float(answer["gradient_norm"])
    found = OptimizeResult(x=x(answer["solution"]))
    if kind == "least_squares":
        found.update(cost=float(answer["value"]), optimality=norm)
    else:
        read = values if kind == "root" else float
        found.update(fun=read(answer["value"]))
    found.update(
        success=success,
        status=int(success != (kind == "minimize")),
        message=answer["message"],
        nit=answer["iterations"],
        nfev=evaluations["value"],
        njev=evaluations["gradient"],
        nhev=evaluations["hessian"],
        gradient_norm=norm,
        history={
            name: np.asarray(column, np.int64 if name == "iteration" else np.float64)
            for name, column in answer["history"].items()
        },
        program=answer.get("program"),
    )
    return found
