"""``tf.signal``: Fourier transforms, windows, frames."""

from gradwire.tf.operations.signal import *
from gradwire.tf.windows import *
