"""Arrays of any dtype of the protocol, as Hypothesis draws them."""

import ml_dtypes
import numpy as np
from hypothesis.extra import numpy as npst


def arrays_of(dtype, shapes):
    """Arrays of a dtype; Hypothesis does not know bfloat16, so of that any bits."""
    if np.dtype(dtype) == ml_dtypes.bfloat16:
        return npst.arrays(np.uint16, shapes).map(lambda bits: bits.view(ml_dtypes.bfloat16))
    return npst.arrays(dtype, shapes)
