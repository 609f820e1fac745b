"""SciPy's optimisers and solvers, of functions that a service evaluates and differentiates.

>>> found = gradwire.adapters.scipy.minimize(loss, {"w": w, "b": 0.0}, (x, y), "L-BFGS-B")
>>> found.x["w"]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradwire.adapters.raveling import Raveled
from gradwire.adapters.requirements import blocking_client
from gradwire.errors import UsageError
from gradwire.tracing import transforms
from gradwire.tracing.functions import Function, Runs, inline_of
from gradwire.tracing.recorded import outputs

#: Derivatives that SciPy's methods use, if not values and gradients.
NO_GRADIENT = frozenset({"nelder-mead", "powell", "cobyla", "cobyqa"})
HESSIAN = frozenset({"dogleg", "trust-exact"})
HESSIAN_PRODUCTS = frozenset({"newton-cg", "trust-ncg", "trust-krylov", "trust-constr"})
#: Those of ``root`` that use a Jacobian.
JACOBIAN = frozenset({"hybr", "lm"})


class OfVector:
    """A function of nested parameters as one of a vector; ``args`` follow the parameters."""

    def __init__(self, x0: Any, args: Sequence[Any]) -> None:
        self._raveled = Raveled(x0)
        if not self._raveled.vector.size:
            raise UsageError(f"x0 has no numbers to start from, it is {x0!r}"[:200])
        self._args = tuple(args)

    @property
    def x0(self) -> NDArray[np.float64]:
        """The parameters to start from, as a vector."""
        return self._raveled.vector

    def nested(self, x: NDArray[Any]) -> Any:
        """The parameters of a vector, nested as the first ones."""
        return self._raveled.nested(x)


class Objective(OfVector):
    """A function of one number, in the form that ``scipy.optimize.minimize`` needs.

    Each method is one request, ``fun`` that for the value with its gradient:

    >>> of = Objective(loss, params, (x, y))
    >>> found = scipy.optimize.minimize(of.fun, of.x0, jac=True, hessp=of.hessp, method="trust-ncg")
    >>> params = of.nested(found.x)
    """

    def __init__(
        self,
        f: Callable[..., Any],
        x0: Any,
        args: Sequence[Any] = (),
        *,
        client: Runs | None = None,
    ) -> None:
        super().__init__(x0, args)
        own = blocking_client(f, client)

        def value(x: Any, *args: Any) -> Any:
            return inline_of(f)(self.nested(x), *args)

        def product(x: Any, *args: Any) -> Any:
            *rest, p = args
            _, (along,) = transforms.hvp(lambda moved: value(moved, *rest), (x,), (p,))
            return along

        self._value: Function[..., Any] = Function(f, own, inline=value)
        self._both = transforms.value_and_grad(self._value)
        self._hessian = transforms.hessian(self._value)
        self._product: Function[..., Any] = Function(f, own, inline=product)

    def value(self, x: NDArray[Any]) -> float:
        """The value alone."""
        return _number(self._value(x, *self._args))

    def fun(self, x: NDArray[Any]) -> tuple[float, NDArray[Any]]:
        """The value with its gradient, for ``jac=True``."""
        value, gradient = self._both(x, *self._args)
        return _number(value), gradient

    def hess(self, x: NDArray[Any]) -> NDArray[Any]:
        """The matrix of second derivatives."""
        matrix: NDArray[Any] = self._hessian(x, *self._args)
        return matrix

    def hessp(self, x: NDArray[Any], p: NDArray[Any]) -> NDArray[Any]:
        """The matrix of second derivatives times a vector."""
        product: NDArray[Any] = self._product(x, *self._args, p)
        return product


def _number(value: Any) -> float:
    if np.size(value) != 1:
        problem = f"an objective gives one number, this one an array of shape {np.shape(value)}"
        raise UsageError(problem, hint="sum its elements, or use least_squares")
    return float(np.reshape(value, ()))


class Residuals(OfVector):
    """A function of nested residuals, in the form that SciPy's solvers need.

    >>> of = Residuals(misfit, params, (t, y))
    >>> found = scipy.optimize.least_squares(of.fun, of.x0, jac=of.jac)
    """

    def __init__(
        self,
        f: Callable[..., Any],
        x0: Any,
        args: Sequence[Any] = (),
        *,
        client: Runs | None = None,
    ) -> None:
        super().__init__(x0, args)
        own = blocking_client(f, client)

        def values(x: Any, *args: Any) -> Any:
            parts, _ = outputs(inline_of(f)(self.nested(x), *args))
            return np.concatenate([part.flatten() for part in parts])

        def both(x: Any, *args: Any) -> Any:
            return values(x, *args), transforms.jacobian(values)(x, *args)

        self._values: Function[..., Any] = Function(f, own, inline=values)
        self._both: Function[..., Any] = Function(f, own, inline=both)
        self._last: tuple[NDArray[Any], NDArray[Any]] | None = None

    def values(self, x: NDArray[Any]) -> NDArray[Any]:
        """The residuals alone."""
        residuals: NDArray[Any] = self._values(x, *self._args)
        return residuals

    def both(self, x: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """The residuals with their Jacobian, for ``root`` with ``jac=True``."""
        residuals, jacobian = self._both(x, *self._args)
        return residuals, jacobian

    def fun(self, x: NDArray[Any]) -> NDArray[Any]:
        """The residuals; their Jacobian comes with the request, since it is mostly needed next."""
        residuals, jacobian = self.both(x)
        self._last = x.copy(), jacobian
        return residuals

    def jac(self, x: NDArray[Any]) -> NDArray[Any]:
        """The Jacobian, without a request if the residuals were computed last."""
        if self._last is None or not np.array_equal(self._last[0], x):
            self._last = x.copy(), self.both(x)[1]
        return self._last[1]


def minimize(
    f: Callable[..., Any],
    x0: Any,
    args: Sequence[Any] = (),
    method: str | None = None,
    *,
    client: Runs | None = None,
    **options: Any,
) -> Any:
    """``scipy.optimize.minimize`` over nested parameters, with the derivatives that a method uses.

    ``args`` follow the parameters; further options are SciPy's. In the result ``x`` is nested as
    ``x0`` is, all else is as SciPy gives it.
    """
    from scipy.optimize import minimize  # noqa: PLC0415 - SciPy is optional

    of = Objective(f, x0, args, client=client)
    name = (method or "").lower()
    if name in NO_GRADIENT:
        found = minimize(of.value, of.x0, method=method, **options)
    else:
        if name in HESSIAN:
            options = {"hess": of.hess, **options}
        elif name in HESSIAN_PRODUCTS and "hess" not in options:
            options = {"hessp": of.hessp, **options}
        found = minimize(of.fun, of.x0, method=method, jac=True, **options)
    found.x = of.nested(found.x)
    return found


def least_squares(
    f: Callable[..., Any],
    x0: Any,
    args: Sequence[Any] = (),
    *,
    client: Runs | None = None,
    **options: Any,
) -> Any:
    """``scipy.optimize.least_squares`` over nested parameters, of nested residuals.

    Each step is one request, for the residuals with their Jacobian.
    """
    from scipy.optimize import least_squares  # noqa: PLC0415 - SciPy is optional

    of = Residuals(f, x0, args, client=client)
    found = least_squares(of.fun, of.x0, jac=of.jac, **options)
    found.x = of.nested(found.x)
    return found


def root(
    f: Callable[..., Any],
    x0: Any,
    args: Sequence[Any] = (),
    method: str = "hybr",
    *,
    client: Runs | None = None,
    **options: Any,
) -> Any:
    """``scipy.optimize.root`` over nested parameters, of a function that gives as many numbers."""
    from scipy.optimize import root  # noqa: PLC0415 - SciPy is optional

    of = Residuals(f, x0, args, client=client)
    if method in JACOBIAN:
        found = root(of.both, of.x0, method=method, jac=True, **options)
    else:
        found = root(of.values, of.x0, method=method, **options)
    found.x = of.nested(found.x)
    return found
