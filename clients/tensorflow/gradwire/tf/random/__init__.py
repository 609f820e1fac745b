"""``tf.random``: numbers that seeds decide, drawn here."""

from gradwire.tf.random import experimental as experimental
from gradwire.tf.random.candidates import *
from gradwire.tf.random.generators import *
from gradwire.tf.random.stateful import *
from gradwire.tf.random.stateless import *
