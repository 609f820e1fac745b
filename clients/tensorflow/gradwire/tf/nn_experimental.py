"""``tf.nn.experimental``."""

from gradwire.tf.nn_losses import stateless_dropout

__all__ = ["stateless_dropout"]
