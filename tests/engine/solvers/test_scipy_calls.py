"""What SciPy's runs leave alone."""

from __future__ import annotations

import warnings

import pytest
from gradwire_solvers.scipy_calls import scipy_runs
from scipy.optimize import minimize


def test_warnings_of_scipy_are_silent():
    def asked() -> None:
        minimize(lambda x: x.sum(), [1.0], method="trust-constr", options={"maxiter": 3})

    with pytest.warns(UserWarning, match="delta_grad"):
        asked()
    with warnings.catch_warnings(action="error"), scipy_runs():
        asked()


def test_filters_that_other_threads_set_meanwhile_stay():
    run = scipy_runs()
    run.__enter__()
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        run.__exit__(None, None, None)
        warnings.warn("ignored", UserWarning, stacklevel=1)
