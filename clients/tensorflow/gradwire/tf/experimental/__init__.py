"""``tf.experimental``: NumPy's names for tensors."""

from gradwire.tf.experimental import numpy as numpy
