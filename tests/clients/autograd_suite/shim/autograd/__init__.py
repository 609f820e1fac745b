"""autograd's names over Gradwire, so that autograd's own tests can be run with it.

``autograd.numpy`` and ``autograd.scipy`` are NumPy and SciPy themselves: Gradwire records them.
"""

from __future__ import annotations

import sys
from importlib import import_module

import numpy
import scipy

for _name in (
    "fft", "linalg", "random",
):  # fmt: skip
    sys.modules[f"autograd.numpy.{_name}"] = import_module(f"numpy.{_name}")
for _name in (
    "integrate", "linalg", "signal", "special", "stats",
):  # fmt: skip
    sys.modules[f"autograd.scipy.{_name}"] = import_module(f"scipy.{_name}")
sys.modules["autograd.numpy"] = numpy
sys.modules["autograd.scipy"] = scipy
for _name in ("multivariate_normal", "norm", "dirichlet"):
    sys.modules[f"autograd.scipy.stats.{_name}"] = getattr(scipy.stats, _name)

from .operators import (  # noqa: E402
    checkpoint,
    deriv,
    elementwise_grad,
    grad,
    grad_and_aux,
    hessian,
    hessian_tensor_product,
    hessian_vector_product,
    holomorphic_grad,
    jacobian,
    make_ggnvp,
    make_hvp,
    make_jvp,
    make_vjp,
    tensor_jacobian_product,
    value_and_grad,
    vector_jacobian_product,
)
from .builtins import dict, isinstance, list, tuple, type  # noqa: E402, A004
