"""``tf.experimental``: NumPy's names for tensors."""

from gradwire.tf.experimental import numpy

__all__ = ["numpy"]
