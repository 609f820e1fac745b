"""``tf.autodiff``: tapes for derivatives in reverse and in forward mode."""

from gradwire.tf.accumulators import ForwardAccumulator as ForwardAccumulator
from gradwire.tf.tapes import GradientTape as GradientTape
