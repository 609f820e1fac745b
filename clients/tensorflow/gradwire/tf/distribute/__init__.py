"""``tf.distribute``: strategies of one device, which compute what they are given as it is."""

from gradwire.tf.distribute.reductions import *
from gradwire.tf.distribute.strategies import *
