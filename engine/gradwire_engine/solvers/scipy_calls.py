"""SciPy's methods as they run here: silent, and stopped where their own numbers overflow."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from gradwire_engine.solvers.progress import Stopped

#: How SciPy refuses matrices with overflows, which it has computed itself.
_NOT_FINITE = "must not contain infs or NaNs"


@contextmanager
def scipy_runs() -> Iterator[None]:
    """The messages of SciPy's results say what its warnings do.

    Raises: ``Stopped`` where a factorisation fails.
    """
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            yield
    except np.linalg.LinAlgError as error:
        raise Stopped(f"SciPy's linear algebra failed: {error}") from error
    except ValueError as error:
        if _NOT_FINITE not in str(error):
            raise
        raise Stopped("numbers became too large for SciPy's linear algebra") from error
