"""The methods that run whole optimisations beside the data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, Unpack, overload

from gradwire.endpoints import Computed, LeastSquaresOptions, MinimizeOptions, RootOptions
from gradwire.keywords import with_keywords
from gradwire.usage import public, used

if TYPE_CHECKING:  # imported once an optimisation is asked for
    from gradwire.optimization.results import Kind

#: What a client returns: a result, and a job that computes one; or a coroutine of either.
Found = TypeVar("Found")
Started = TypeVar("Started")


class Optimizations(Generic[Found, Started]):
    """Optimisations of a Python function ``f(x, *args)``, or of a program, in SciPy's manner.

    A function is recorded at ``x0``, nested in any way, and moves from there; all else that it
    reads stays. A program moves the variables that ``x0`` has by name, or those that ``sources``
    names, and by default all that are trainable; ``variables`` has the others. The service runs
    the whole optimisation: what takes longer than a second is a job there, which is followed until
    it is done, and cancelled by an interrupt (Ctrl-C). With ``background=True`` the job itself is
    returned at once.
    """

    def __init_subclass__(cls, *, returns: str | None = None, **arguments: Any) -> None:
        """Let the methods of a client, which has ``returns``, show what they return."""
        super().__init_subclass__(**arguments)
        for name in ("minimize", "least_squares", "root") if returns else ():
            setattr(cls, name, with_keywords(public(getattr(cls, name)), returns))

    @overload
    def minimize(
        self,
        f: Computed,
        x0: Any = None,
        args: Any = (),
        method: str | None = None,
        *,
        background: Literal[False] = False,
        **options: Unpack[MinimizeOptions],
    ) -> Found: ...
    @overload
    def minimize(
        self,
        f: Computed,
        x0: Any = None,
        args: Any = (),
        method: str | None = None,
        *,
        background: Literal[True],
        **options: Unpack[MinimizeOptions],
    ) -> Started: ...
    def minimize(
        self,
        f: Computed,
        x0: Any = None,
        args: Any = (),
        method: str | None = None,
        *,
        background: bool = False,
        **options: Unpack[MinimizeOptions],
    ) -> Found | Started:
        """The least value of a function of one number, by default with L-BFGS-B.

        With constraints, it is SLSQP.

        Methods are those of ``scipy.optimize.minimize`` that use derivatives, and ``sgd``,
        ``momentum`` and ``adam``. Further options are ``bounds``, ``constraints``, ``tol``,
        ``options`` (of the method), ``minibatch``, ``max_seconds``, ``exact``, ``callback``,
        ``progress`` and ``idempotency_key``.

        >>> client.minimize(lambda x, a: np.sum((x - a) ** 2), np.zeros(2), (3.0,)).x
        array([3., 3.])
        >>> client.minimize("sum((x - a)**2)", {"x": [0.0, 0.0]}, variables={"a": 3.0}).x
        {'x': array([3., 3.])}
        """
        found: Found | Started = _optimized(
            self, "minimize", f, x0, args, method, background, options
        )
        return found

    @overload
    def least_squares(
        self,
        f: Computed,
        x0: Any = None,
        args: Any = (),
        method: str | None = None,
        *,
        background: Literal[False] = False,
        **options: Unpack[LeastSquaresOptions],
    ) -> Found: ...
    @overload
    def least_squares(
        self,
        f: Computed,
        x0: Any = None,
        args: Any = (),
        method: str | None = None,
        *,
        background: Literal[True],
        **options: Unpack[LeastSquaresOptions],
    ) -> Started: ...
    def least_squares(
        self,
        f: Computed,
        x0: Any = None,
        args: Any = (),
        method: str | None = None,
        *,
        background: bool = False,
        **options: Unpack[LeastSquaresOptions],
    ) -> Found | Started:
        """The least sum of squares of all values of a function, by default with ``trf``.

        Methods and options are those of ``scipy.optimize.least_squares``: ``loss``, ``f_scale``,
        ``x_scale``, ``ftol``, ``xtol``, ``gtol``, ``max_nfev``, ``tr_solver`` and ``bounds``, a
        pair of all lower and all upper ends; and those of ``minimize`` for the job. The Jacobian
        is exact, and sparse where that saves work.

        >>> found = client.least_squares("y - a * t", {"a": 0.0}, variables={"t": t, "y": y})
        >>> found.x["a"], found.cost
        """
        found: Found | Started = _optimized(
            self, "least_squares", f, x0, args, method, background, options
        )
        return found

    @overload
    def root(
        self,
        f: Computed,
        x0: Any = None,
        args: Any = (),
        method: str | None = None,
        *,
        background: Literal[False] = False,
        **options: Unpack[RootOptions],
    ) -> Found: ...
    @overload
    def root(
        self,
        f: Computed,
        x0: Any = None,
        args: Any = (),
        method: str | None = None,
        *,
        background: Literal[True],
        **options: Unpack[RootOptions],
    ) -> Started: ...
    def root(
        self,
        f: Computed,
        x0: Any = None,
        args: Any = (),
        method: str | None = None,
        *,
        background: bool = False,
        **options: Unpack[RootOptions],
    ) -> Found | Started:
        """Where all values of a function are zero, as many as it has parameters.

        Methods are those of ``scipy.optimize.root``, by default ``hybr``, with exact Jacobians.

        >>> client.root("{'a': cos(x) - y, 'b': y - x}", {"x": 1.0, "y": 1.0}).x["x"].round(6)
        np.float64(0.739085)
        """
        found: Found | Started = _optimized(self, "root", f, x0, args, method, background, options)
        return found


def _optimized(
    client: Any,
    kind: Kind,
    f: Any,
    x0: Any,
    args: Any,
    method: str | None,
    background: bool,
    options: Any,
) -> Any:
    from gradwire.optimization.requests import optimized  # noqa: PLC0415 - few clients optimise

    with used(kind):
        handle = client.jobs.handle
        asked = optimized(kind, handle, f, x0, args, method, dict(options), bool(background))
    return client.run(asked)
