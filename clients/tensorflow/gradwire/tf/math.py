"""``tf.math``: elementwise functions, reductions, order, segments."""

from gradwire.tf.logits import sigmoid as sigmoid
from gradwire.tf.logits import softmax as softmax
from gradwire.tf.operations import special as special
from gradwire.tf.operations.math import *
from gradwire.tf.operations.nn import l2_normalize as l2_normalize
from gradwire.tf.operations.reductions import *
from gradwire.tf.operations.special import bessel_i0 as bessel_i0
from gradwire.tf.operations.special import bessel_i0e as bessel_i0e
from gradwire.tf.operations.special import bessel_i1 as bessel_i1
from gradwire.tf.operations.special import bessel_i1e as bessel_i1e
from gradwire.tf.operators import abs as abs
from gradwire.tf.operators import add as add
from gradwire.tf.operators import equal as equal
from gradwire.tf.operators import floordiv as floordiv
from gradwire.tf.operators import greater as greater
from gradwire.tf.operators import greater_equal as greater_equal
from gradwire.tf.operators import less as less
from gradwire.tf.operators import less_equal as less_equal
from gradwire.tf.operators import logical_and as logical_and
from gradwire.tf.operators import logical_not as logical_not
from gradwire.tf.operators import logical_or as logical_or
from gradwire.tf.operators import logical_xor as logical_xor
from gradwire.tf.operators import mod as mod
from gradwire.tf.operators import multiply as multiply
from gradwire.tf.operators import negative as negative
from gradwire.tf.operators import not_equal as not_equal
from gradwire.tf.operators import pow as pow
from gradwire.tf.operators import subtract as subtract
from gradwire.tf.operators import truediv as truediv
from gradwire.tf.ordering import argmax as argmax
from gradwire.tf.ordering import argmin as argmin
from gradwire.tf.ordering import bincount as bincount
from gradwire.tf.ordering import confusion_matrix as confusion_matrix
from gradwire.tf.ordering import count_nonzero as count_nonzero
from gradwire.tf.ordering import is_non_decreasing as is_non_decreasing
from gradwire.tf.ordering import is_strictly_increasing as is_strictly_increasing
from gradwire.tf.ordering import top_k as top_k
from gradwire.tf.products import accumulate_n as accumulate_n
from gradwire.tf.products import add_n as add_n
from gradwire.tf.products import angle as angle
from gradwire.tf.products import conj as conj
from gradwire.tf.products import imag as imag
from gradwire.tf.products import nextafter as nextafter
from gradwire.tf.products import polyval as polyval
from gradwire.tf.products import real as real
from gradwire.tf.products import reduce_std as reduce_std
from gradwire.tf.products import reduce_variance as reduce_variance
from gradwire.tf.products import scalar_mul as scalar_mul
from gradwire.tf.segments import *

divide = truediv
floormod = mod
