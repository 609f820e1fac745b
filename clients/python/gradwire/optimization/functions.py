"""Whole optimisations by the default client, as ``client.minimize`` and the others."""

from __future__ import annotations

from typing import Any, Literal, Unpack, overload

from gradwire import hooks
from gradwire.endpoints import Computed, LeastSquaresOptions, MinimizeOptions, RootOptions
from gradwire.keywords import with_keywords
from gradwire.methods import Blocking
from gradwire.optimization.jobs import Job
from gradwire.optimization.results import Kind, OptimizeResult
from gradwire.tracing.functions import own_client
from gradwire.usage import check_client, public


@overload
def minimize(
    f: Computed,
    x0: Any = None,
    args: Any = (),
    method: str | None = None,
    *,
    client: Blocking | None = None,
    background: Literal[False] = False,
    **options: Unpack[MinimizeOptions],
) -> OptimizeResult: ...
@overload
def minimize(
    f: Computed,
    x0: Any = None,
    args: Any = (),
    method: str | None = None,
    *,
    client: Blocking | None = None,
    background: Literal[True],
    **options: Unpack[MinimizeOptions],
) -> Job: ...
@with_keywords
@public
def minimize(
    f: Computed,
    x0: Any = None,
    args: Any = (),
    method: str | None = None,
    *,
    client: Blocking | None = None,
    background: bool = False,
    **options: Unpack[MinimizeOptions],
) -> OptimizeResult | Job:
    """The least value of ``f(x, *args)``, from ``x0`` on, by the default client.

    >>> gradwire.minimize(lambda x: np.sum((x - 3) ** 2), np.zeros(2)).x
    array([3., 3.])
    """
    return _asked("minimize", f, x0, args, method, client, background=background, **options)


@overload
def least_squares(
    f: Computed,
    x0: Any = None,
    args: Any = (),
    method: str | None = None,
    *,
    client: Blocking | None = None,
    background: Literal[False] = False,
    **options: Unpack[LeastSquaresOptions],
) -> OptimizeResult: ...
@overload
def least_squares(
    f: Computed,
    x0: Any = None,
    args: Any = (),
    method: str | None = None,
    *,
    client: Blocking | None = None,
    background: Literal[True],
    **options: Unpack[LeastSquaresOptions],
) -> Job: ...
@with_keywords
@public
def least_squares(
    f: Computed,
    x0: Any = None,
    args: Any = (),
    method: str | None = None,
    *,
    client: Blocking | None = None,
    background: bool = False,
    **options: Unpack[LeastSquaresOptions],
) -> OptimizeResult | Job:
    """The parameters of the least sum of squares of ``f(x, *args)``, by the default client.

    >>> gradwire.least_squares(lambda x: np.exp(x) - 2, np.zeros(1)).x.round(6)
    array([0.693147])
    """
    return _asked("least_squares", f, x0, args, method, client, background=background, **options)


@overload
def root(
    f: Computed,
    x0: Any = None,
    args: Any = (),
    method: str | None = None,
    *,
    client: Blocking | None = None,
    background: Literal[False] = False,
    **options: Unpack[RootOptions],
) -> OptimizeResult: ...
@overload
def root(
    f: Computed,
    x0: Any = None,
    args: Any = (),
    method: str | None = None,
    *,
    client: Blocking | None = None,
    background: Literal[True],
    **options: Unpack[RootOptions],
) -> Job: ...
@with_keywords
@public
def root(
    f: Computed,
    x0: Any = None,
    args: Any = (),
    method: str | None = None,
    *,
    client: Blocking | None = None,
    background: bool = False,
    **options: Unpack[RootOptions],
) -> OptimizeResult | Job:
    """Where all values of ``f(x, *args)`` are zero, by the default client.

    >>> gradwire.root(lambda x: np.cos(x) - x, np.ones(1)).x.round(6)
    array([0.739085])
    """
    return _asked("root", f, x0, args, method, client, background=background, **options)


def _asked(
    kind: Kind, f: Any, x0: Any, args: Any, method: str | None, client: Any, **options: Any
) -> OptimizeResult | Job:
    check_client(client)
    own = own_client(f) if client is None else client
    chosen = hooks.default_client() if own is None else own
    found: OptimizeResult | Job = getattr(chosen, kind)(f, x0, args, method, **options)
    return found
