"""``tf.experimental.numpy``: NumPy's functions of tensors, with NumPy's dtypes."""

from __future__ import annotations

import math

from gradwire.tf.experimental.functions import NumpyFunction
from gradwire.tf.experimental.functions import arange as arange
from gradwire.tf.experimental.functions import array as array
from gradwire.tf.experimental.functions import asarray as asarray
from gradwire.tf.experimental.functions import (
    experimental_enable_numpy_behavior as experimental_enable_numpy_behavior,
)
from gradwire.tf.experimental.functions import eye as eye
from gradwire.tf.experimental.functions import full as full
from gradwire.tf.experimental.functions import linspace as linspace
from gradwire.tf.experimental.functions import ndim as ndim
from gradwire.tf.experimental.functions import ones as ones
from gradwire.tf.experimental.functions import shape as shape
from gradwire.tf.experimental.functions import size as size
from gradwire.tf.experimental.functions import zeros as zeros
from gradwire.tf.tensors import Tensor

pi: float = math.pi
e: float = math.e
inf: float = math.inf
newaxis: None = None
ndarray: type[Tensor] = Tensor

#: The functions that the service computes as NumPy does.
_COMPUTED: frozenset[str] = frozenset(
    (
        "abs absolute add all amax amin any append arccos arccosh arcsin arcsinh arctan arctan2 "
        "arctanh argmax argmin argsort around average broadcast_to cbrt ceil clip concatenate "
        "conj cos cosh count_nonzero cross cumprod cumsum deg2rad diag diagonal diff divide dot "
        "dstack einsum equal exp exp2 expand_dims expm1 fabs flip fliplr flipud floor "
        "floor_divide greater greater_equal heaviside hstack hypot imag inner isfinite isinf "
        "isnan kron less less_equal log log10 log1p log2 logaddexp logical_and logical_not "
        "logical_or logical_xor matmul max maximum mean min minimum mod moveaxis multiply nanmean "
        "nansum negative not_equal ones_like outer pad power prod ptp rad2deg ravel real "
        "reciprocal remainder repeat reshape roll rot90 sign sin sinc sinh sort sqrt square "
        "squeeze stack std subtract sum swapaxes take take_along_axis tan tanh tensordot tile "
        "trace transpose tril triu true_divide var vdot vstack where zeros_like"
    ).split()
)


def __getattr__(name: str) -> NumpyFunction:
    """One of NumPy's functions."""
    if name not in _COMPUTED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    function = globals()[name] = NumpyFunction(name)
    return function


def __dir__() -> list[str]:
    return sorted({*globals(), *_COMPUTED})
