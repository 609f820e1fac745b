"""Hints of the SDK: what to do about the most common mistakes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

NO_SERVICE: Final = (
    "start one with `make serve`, or set GRADWIRE_URL to its address, or to local for a service in "
    "this process, as Client.local() is"
)
NO_PROXY: Final = (
    "name the service's host in NO_PROXY, or unset the variable, if it is to be asked without a "
    "proxy"
)
NO_TLS: Final = "if the service speaks plain HTTP, the address begins with http://"
ADDRESS: Final = "GRADWIRE_URL, or base_url, is such an address, or local"
OTHER_SERVICE: Final = "GRADWIRE_URL, or base_url, leads to something that is no Gradwire service"
OLD: Final = "this version of gradwire may be too old for the service: pip install -U gradwire"
LOST: Final = "the connection was lost: try again; the service's log says if it has restarted"
TOO_LATE: Final = "a client's timeout=, in seconds, or with_options(timeout=) allows more time"
CLOSED: Final = "a closed client sends nothing: make another one, or close it later"
MAKE_THERE: Final = "make another client where the copy is used, and give it to functions and jobs"
OTHER_LOOP: Final = (
    "an http_client belongs to the event loop that first used it: make one for each loop, or leave "
    "it out, as clients with connections of their own may be used by any"
)
NOT_SENT: Final = "the request was not sent: change what it was made of"
NO_KEY: Final = "set GRADWIRE_API_KEY, or give api_key to the client"
TEXT_FOR_FUNCTION: Final = (
    "gradwire.program(text, *names) makes a function of program text, and the methods of clients "
    "(client.gradient(text, variables)) take the text itself"
)
TOO_LARGE: Final = (
    "send fewer examples at once, or arrays of float32; the operator of the service sets the limit "
    "by GRADWIRE_MAX_BODY_BYTES"
)
FUNCTION_FOR_TEXT: Final = (
    "a Python function has its derivatives by gradwire.grad, value_and_grad, jacobian, hessian, "
    "jvp and vjp, and its value by gradwire.function"
)
PARAMETERS: Final = (
    "name the parameters after the text, in the order of the arguments: "
    "gradwire.program('x**2 + y', 'x', 'y')(3.0, 1.0)"
)
BY_NAME: Final = (
    "sources, target and other options by name go with the arguments by name, in a mapping after "
    "the function"
)

RECORDED: Final = (
    "NumPy's functions and SciPy's, called by their modules' names, can be recorded; those of "
    "other libraries cannot, nor those of SciPy that call a function or fit a curve"
)
A_VALUE: Final = (
    "compute with the array itself; one to write to is made inside of the function, by "
    "numpy.zeros(shape), numpy.zeros_like(x) or numpy.array(outside)"
)
AN_ARRAY: Final = (
    "NumPy's functions and SciPy's, called by their modules' names, can be recorded: A @ x in "
    "place of A.dot(x), numpy.array([x, y]) in place of a list; an array to write to is made "
    "inside of the function, by numpy.zeros(shape), numpy.zeros_like(x) or numpy.array(outside)"
)
TO_FILL: Final = (
    "write into an array that is made inside of the function, by numpy.zeros_like(x), "
    "numpy.zeros(shape) or numpy.array(outside)"
)
#: The hints where a plain array or number would have to hold recorded values.
OF_PLAIN_VALUES: Final = frozenset({A_VALUE, AN_ARRAY, TO_FILL})

_ODE = "gradwire.odeint(f, y0, t) solves differential equations as a part of the program"
_INTEGRAL = (
    "sum the integrand at the points of a rule, numpy.polynomial.legendre.leggauss(n), or give "
    "numpy.trapezoid its values"
)
_SPLINE = (
    "with known knots CubicSpline, PchipInterpolator, Akima1DInterpolator, interp1d, BSpline, and "
    "splrep with s=0 are recorded; numpy.interp also takes recorded ones"
)
_ROOT = (
    "gradwire.custom_root(f, x0) finds roots as a part of the program, as do brentq, brenth, "
    "bisect, newton, fsolve and root of scipy.optimize"
)
_MINIMUM = "minimise from outside, with exact derivatives: gradwire.minimize(f, x0)"
FRAMES = "take the arrays before (frame['a'].to_numpy()), and make frames of what comes back"
#: Alternatives to functions of other libraries, by the module or by a function of it.
_INSTEAD: Mapping[str, str] = {
    **{f"scipy.integrate.{name}": _ODE for name in ("odeint", "solve_ivp", "ode", "solve_bvp")},
    "scipy.integrate": _INTEGRAL,
    "scipy.interpolate": _SPLINE,
    **{
        f"scipy.optimize.{name}": _ROOT
        for name in ("root_scalar", "newton", "fsolve", "root", "ridder", "toms748")
    },
    "scipy.optimize": _MINIMUM,
    "pandas": FRAMES,
    "polars": FRAMES,
    "xarray": FRAMES,
    "jax": "write the function with NumPy; a JAX function's gradient is jax.grad's own",
    "torch": "write the function with NumPy; gradwire.adapters.torch hands functions to PyTorch",
    "tensorflow": "write the function with NumPy, or the code with gradwire.tf for TensorFlow",
    "sympy": "sympy.lambdify(symbols, expression, 'numpy') makes a function that is recorded",
    "numba": "record the function without numba.njit, which is its attribute py_func",
    "statistics": "numpy has mean, median, var and std",
    "decimal": "a recorded array has the dtype that it has; compute with it",
    "fractions": "a recorded array has the dtype that it has; compute with it",
    "sklearn": "compute it with NumPy's functions",
}

_IN_VERSION = re.compile(r"^(https?://.+?)/v1(?:/[\w/.-]*)?$")


def instead_of(called: Iterable[str]) -> tuple[str, str] | None:
    """The first function or module, by its full name, that the table has, and its hint."""
    for name in called:
        package, *rest = name.split(".")
        public = ".".join([package, *rest[:1], *rest[-1:]])
        if public in _INSTEAD:
            return public, _INSTEAD[public]
        module = ".".join([package, *rest[:1]])
        if module in _INSTEAD:
            return module if public.rpartition(".")[2].startswith("_") else public, _INSTEAD[module]
        if package in _INSTEAD:
            return package, _INSTEAD[package]
    return None


def of_connecting(reason: str, proxy: str | None, trusted: str | None) -> str:
    """A hint at why there is no connection, with the variables that decide where it leads."""
    if proxy is not None:
        return f"it was asked through {proxy}: {NO_PROXY}"
    if "CERTIFICATE_VERIFY_FAILED" in reason:
        by = "those of certifi" if trusted is None else f"those of {trusted}"
        return f"the authorities that are trusted are {by}: SSL_CERT_FILE names a file with others"
    return NO_TLS if "SSL" in reason else NO_SERVICE


def of_sending(reason: str) -> str:
    """A hint at why a request could not be sent."""
    if "been closed" in reason:
        return CLOSED
    return OTHER_LOOP if " loop" in reason else NOT_SENT


def of_refusal(status: int, code: str | None, base_url: str) -> str | None:
    """A hint at a refusal that says more to a caller of the SDK than the service's own hint."""
    if status == 401:
        return NO_KEY
    if code == "body_too_large":
        return TOO_LARGE
    if status not in (404, 405):
        return None
    if code is None:
        return OTHER_SERVICE
    inside = _IN_VERSION.match(base_url)
    return f"every path begins with /v1 by itself: {inside[1]} is the address" if inside else None
