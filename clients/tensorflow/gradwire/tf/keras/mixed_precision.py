"""The names of mixed precision: policies, and the optimizer that scales losses."""

from gradwire.tf.keras.dtype_policies import (
    DTypePolicy,
    dtype_policy,
    set_dtype_policy,
)
from gradwire.tf.keras.dtype_policies import DTypePolicy as Policy
from gradwire.tf.keras.dtype_policies import dtype_policy as global_policy
from gradwire.tf.keras.dtype_policies import set_dtype_policy as set_global_policy
from gradwire.tf.keras.optimizers import LossScaleOptimizer

__all__ = [
    "DTypePolicy", "LossScaleOptimizer", "Policy", "dtype_policy", "global_policy",
    "set_dtype_policy", "set_global_policy",
]  # fmt: skip
