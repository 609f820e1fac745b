"""SciPy's methods as they run here: silent, and stopped where their own numbers overflow."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from gradwire_solvers.progress import Stopped

#: What SciPy's methods raise where they cannot go on, and what that means here.
_FAILURES = {
    "must not contain infs or NaNs": "numbers became too large for SciPy's linear algebra",
    "Negative curvature not allowed": "the value decreases without end",
    "expected square matrix": "there are more equality constraints than elements of the sources",
    "Jacobian inversion yielded zero": "the values do not change where the method looks for a step",
}
#: Modules that warn while SciPy runs: its own, and those that call it.
_WARNING = r"scipy\.|gradwire_engine\.solvers\."


@contextmanager
def scipy_runs() -> Iterator[None]:
    """The messages of SciPy's results say what its warnings do.

    Raises: ``Stopped`` where a method cannot go on.
    """
    try:
        # For the whole process, since `catch_warnings` undoes what other threads filter meanwhile.
        warnings.filterwarnings("ignore", module=_WARNING)
        with np.errstate(all="ignore"):
            yield
    except np.linalg.LinAlgError as error:
        raise Stopped(f"SciPy's linear algebra failed: {error}") from error
    except ArithmeticError as error:  # of Python's numbers
        raise Stopped("numbers became too large or too small for the method") from error
    except ValueError as error:
        reasons = [reason for words, reason in _FAILURES.items() if words in str(error)]
        if not reasons:
            raise
        raise Stopped(reasons[0]) from error
