"""``tf.nn.experimental``."""

from gradwire.tf.losses import stateless_dropout

__all__ = ["stateless_dropout"]
