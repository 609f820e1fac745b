"""``tf.linalg``: matrices."""

from gradwire.tf.clipping import global_norm as global_norm
from gradwire.tf.creation import eye as eye
from gradwire.tf.factorizations import banded_triangular_solve as banded_triangular_solve
from gradwire.tf.factorizations import eigh_tridiagonal as eigh_tridiagonal
from gradwire.tf.factorizations import lu as lu
from gradwire.tf.factorizations import svd as svd
from gradwire.tf.operations.linalg import *
from gradwire.tf.operations.nn import l2_normalize as l2_normalize
from gradwire.tf.operators import matmul as matmul
from gradwire.tf.products import einsum as einsum
from gradwire.tf.products import tensordot as tensordot
