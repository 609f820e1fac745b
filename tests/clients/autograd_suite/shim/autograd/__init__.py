"""autograd's names over Gradwire, so that autograd's own tests can be run with it.

``autograd.numpy`` and ``autograd.scipy`` are NumPy and SciPy themselves: Gradwire records them.
"""

from __future__ import annotations

import sys
from importlib import import_module

import numpy
import scipy

for _name in ("fft", "linalg", "random"):
    sys.modules[f"autograd.numpy.{_name}"] = import_module(f"numpy.{_name}")
for _name in ("integrate", "linalg", "signal", "special", "stats"):
    sys.modules[f"autograd.scipy.{_name}"] = import_module(f"scipy.{_name}")
sys.modules["autograd.numpy"] = numpy
sys.modules["autograd.scipy"] = scipy
for _name in ("multivariate_normal", "norm", "dirichlet"):
    sys.modules[f"autograd.scipy.stats.{_name}"] = getattr(scipy.stats, _name)


def _make_diagonal(d, offset=0, axis1=0, axis2=1):
    """The matrices with these diagonals in the last two axes, as autograd has it."""
    assert offset == 0
    assert {axis1, axis2} == {-1, -2}
    return numpy.expand_dims(d, -1) * numpy.eye(d.shape[-1])


# What autograd adds to NumPy's names.
vars(numpy)["make_diagonal"] = _make_diagonal
vars(numpy.linalg)["_dot"] = numpy.matmul
vars(numpy.linalg)["T"] = lambda x: numpy.swapaxes(x, -1, -2)

from .builtins import NAMES  # noqa: E402
from .operators import *  # noqa: E402, F403

globals().update(NAMES)
