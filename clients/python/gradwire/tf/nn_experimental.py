"""``tf.nn.experimental``."""

from gradwire.tf.logits import stateless_dropout

__all__ = ["stateless_dropout"]
