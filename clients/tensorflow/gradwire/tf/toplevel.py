"""The functions that stand in ``tf`` itself."""

from gradwire.tf.arrays import *
from gradwire.tf.blocks import batch_to_space as batch_to_space
from gradwire.tf.blocks import required_space_to_batch_paddings as required_space_to_batch_paddings
from gradwire.tf.blocks import space_to_batch as space_to_batch
from gradwire.tf.clipping import clip_by_global_norm as clip_by_global_norm
from gradwire.tf.clipping import clip_by_norm as clip_by_norm
from gradwire.tf.clipping import clip_by_value as clip_by_value
from gradwire.tf.control import *
from gradwire.tf.creation import *
from gradwire.tf.gathering import *
from gradwire.tf.joining import concat as concat
from gradwire.tf.joining import parallel_stack as parallel_stack
from gradwire.tf.joining import split as split
from gradwire.tf.joining import stack as stack
from gradwire.tf.joining import unstack as unstack
from gradwire.tf.logits import sigmoid as sigmoid
from gradwire.tf.mapping import foldl as foldl
from gradwire.tf.mapping import foldr as foldr
from gradwire.tf.mapping import map_fn as map_fn
from gradwire.tf.mapping import scan as scan
from gradwire.tf.mapping import vectorized_map as vectorized_map
from gradwire.tf.operations.arrays import *
from gradwire.tf.operations.linalg import eig as eig
from gradwire.tf.operations.linalg import eigvals as eigvals
from gradwire.tf.operations.linalg import norm as norm
from gradwire.tf.operations.math import acos as acos
from gradwire.tf.operations.math import acosh as acosh
from gradwire.tf.operations.math import asin as asin
from gradwire.tf.operations.math import asinh as asinh
from gradwire.tf.operations.math import atan as atan
from gradwire.tf.operations.math import atan2 as atan2
from gradwire.tf.operations.math import atanh as atanh
from gradwire.tf.operations.math import cos as cos
from gradwire.tf.operations.math import cosh as cosh
from gradwire.tf.operations.math import exp as exp
from gradwire.tf.operations.math import floor as floor
from gradwire.tf.operations.math import maximum as maximum
from gradwire.tf.operations.math import minimum as minimum
from gradwire.tf.operations.math import realdiv as realdiv
from gradwire.tf.operations.math import round as round
from gradwire.tf.operations.math import sign as sign
from gradwire.tf.operations.math import sin as sin
from gradwire.tf.operations.math import sinh as sinh
from gradwire.tf.operations.math import sqrt as sqrt
from gradwire.tf.operations.math import square as square
from gradwire.tf.operations.math import tan as tan
from gradwire.tf.operations.math import tanh as tanh
from gradwire.tf.operations.math import truncatediv as truncatediv
from gradwire.tf.operations.math import truncatemod as truncatemod
from gradwire.tf.operations.reductions import cumsum as cumsum
from gradwire.tf.operations.reductions import reduce_all as reduce_all
from gradwire.tf.operations.reductions import reduce_any as reduce_any
from gradwire.tf.operations.reductions import reduce_logsumexp as reduce_logsumexp
from gradwire.tf.operations.reductions import reduce_max as reduce_max
from gradwire.tf.operations.reductions import reduce_mean as reduce_mean
from gradwire.tf.operations.reductions import reduce_min as reduce_min
from gradwire.tf.operations.reductions import reduce_prod as reduce_prod
from gradwire.tf.operations.reductions import reduce_sum as reduce_sum
from gradwire.tf.operators import abs as abs
from gradwire.tf.operators import add as add
from gradwire.tf.operators import cast as cast
from gradwire.tf.operators import equal as equal
from gradwire.tf.operators import greater as greater
from gradwire.tf.operators import greater_equal as greater_equal
from gradwire.tf.operators import identity as identity
from gradwire.tf.operators import less as less
from gradwire.tf.operators import less_equal as less_equal
from gradwire.tf.operators import logical_and as logical_and
from gradwire.tf.operators import logical_not as logical_not
from gradwire.tf.operators import logical_or as logical_or
from gradwire.tf.operators import matmul as matmul
from gradwire.tf.operators import multiply as multiply
from gradwire.tf.operators import negative as negative
from gradwire.tf.operators import not_equal as not_equal
from gradwire.tf.operators import pow as pow
from gradwire.tf.operators import subtract as subtract
from gradwire.tf.operators import truediv as truediv
from gradwire.tf.ordering import argmax as argmax
from gradwire.tf.ordering import argmin as argmin
from gradwire.tf.ordering import argsort as argsort
from gradwire.tf.ordering import histogram_fixed_width as histogram_fixed_width
from gradwire.tf.ordering import histogram_fixed_width_bins as histogram_fixed_width_bins
from gradwire.tf.ordering import searchsorted as searchsorted
from gradwire.tf.ordering import sort as sort
from gradwire.tf.ordering import unique as unique
from gradwire.tf.ordering import unique_with_counts as unique_with_counts
from gradwire.tf.products import add_n as add_n
from gradwire.tf.products import complex as complex
from gradwire.tf.products import einsum as einsum
from gradwire.tf.products import saturate_cast as saturate_cast
from gradwire.tf.products import scalar_mul as scalar_mul
from gradwire.tf.products import tensordot as tensordot
from gradwire.tf.shape_ops import *
from gradwire.tf.stubs import *
from gradwire.tf.tensor_arrays import TensorArray as TensorArray
from gradwire.tf.variable_creators import variable_creator_scope as variable_creator_scope

divide = truediv
space_to_batch_nd = space_to_batch
