"""``tf.bitwise``: the bits of integers."""

from gradwire.tf.operations.bitwise import bitwise_and as bitwise_and
from gradwire.tf.operations.bitwise import bitwise_or as bitwise_or
from gradwire.tf.operations.bitwise import bitwise_xor as bitwise_xor
from gradwire.tf.operations.bitwise import invert as invert
from gradwire.tf.operations.bitwise import left_shift as left_shift
from gradwire.tf.operations.bitwise import right_shift as right_shift
