"""Archives of NumPy's arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwire.tf.dtypes import bfloat16


def read_arrays(file: Any) -> dict[str, np.ndarray[Any, Any]]:
    """The arrays in a file of ``numpy.savez``, in order; two bytes without a type are bfloat16."""
    with np.load(file) as held:
        return {
            name: array.view(bfloat16.storage) if array.dtype.kind == "V" else array
            for name, array in held.items()
        }
