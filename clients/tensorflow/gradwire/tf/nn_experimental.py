"""``tf.nn.experimental``."""

from gradwire.tf.nn_losses import stateless_dropout as stateless_dropout
