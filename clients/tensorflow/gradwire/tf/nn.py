"""``tf.nn``: layers, losses, normalisation."""

from gradwire.tf import nn_experimental
from gradwire.tf.blocks import atrous_conv2d as atrous_conv2d
from gradwire.tf.blocks import atrous_conv2d_transpose as atrous_conv2d_transpose
from gradwire.tf.blocks import space_to_batch as space_to_batch
from gradwire.tf.ctc import ctc_loss as ctc_loss
from gradwire.tf.gathering import embedding_lookup as embedding_lookup
from gradwire.tf.logits import sigmoid as sigmoid
from gradwire.tf.logits import softmax as softmax
from gradwire.tf.nn_losses import (
    batch_norm_with_global_normalization as batch_norm_with_global_normalization,
)
from gradwire.tf.nn_losses import compute_average_loss as compute_average_loss
from gradwire.tf.nn_losses import dropout as dropout
from gradwire.tf.nn_losses import embedding_lookup_sparse as embedding_lookup_sparse
from gradwire.tf.nn_losses import max_pool_with_argmax as max_pool_with_argmax
from gradwire.tf.nn_losses import safe_embedding_lookup_sparse as safe_embedding_lookup_sparse
from gradwire.tf.nn_losses import scale_regularization_loss as scale_regularization_loss
from gradwire.tf.nn_losses import (
    sigmoid_cross_entropy_with_logits as sigmoid_cross_entropy_with_logits,
)
from gradwire.tf.nn_losses import (
    softmax_cross_entropy_with_logits as softmax_cross_entropy_with_logits,
)
from gradwire.tf.nn_losses import (
    sparse_softmax_cross_entropy_with_logits as sparse_softmax_cross_entropy_with_logits,
)
from gradwire.tf.nn_losses import sufficient_statistics as sufficient_statistics
from gradwire.tf.operations.layers import *
from gradwire.tf.operations.math import softplus as softplus
from gradwire.tf.operations.math import softsign as softsign
from gradwire.tf.operations.math import tanh as tanh
from gradwire.tf.operations.nn import *
from gradwire.tf.operations.reductions import in_top_k as in_top_k
from gradwire.tf.operations.reductions import log_softmax as log_softmax
from gradwire.tf.operations.reductions import zero_fraction as zero_fraction
from gradwire.tf.ordering import top_k as top_k
from gradwire.tf.sampled_losses import compute_accidental_hits as compute_accidental_hits
from gradwire.tf.sampled_losses import nce_loss as nce_loss
from gradwire.tf.sampled_losses import sampled_softmax_loss as sampled_softmax_loss

experimental = nn_experimental
