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
from gradwire.tf.operations.layers import avg_pool as avg_pool
from gradwire.tf.operations.layers import avg_pool1d as avg_pool1d
from gradwire.tf.operations.layers import avg_pool2d as avg_pool2d
from gradwire.tf.operations.layers import avg_pool3d as avg_pool3d
from gradwire.tf.operations.layers import conv1d as conv1d
from gradwire.tf.operations.layers import conv1d_transpose as conv1d_transpose
from gradwire.tf.operations.layers import conv2d as conv2d
from gradwire.tf.operations.layers import conv2d_transpose as conv2d_transpose
from gradwire.tf.operations.layers import conv3d as conv3d
from gradwire.tf.operations.layers import conv3d_transpose as conv3d_transpose
from gradwire.tf.operations.layers import conv_transpose as conv_transpose
from gradwire.tf.operations.layers import convolution as convolution
from gradwire.tf.operations.layers import depthwise_conv2d as depthwise_conv2d
from gradwire.tf.operations.layers import max_pool as max_pool
from gradwire.tf.operations.layers import max_pool1d as max_pool1d
from gradwire.tf.operations.layers import max_pool2d as max_pool2d
from gradwire.tf.operations.layers import max_pool3d as max_pool3d
from gradwire.tf.operations.layers import pool as pool
from gradwire.tf.operations.layers import separable_conv2d as separable_conv2d
from gradwire.tf.operations.math import softplus as softplus
from gradwire.tf.operations.math import softsign as softsign
from gradwire.tf.operations.math import tanh as tanh
from gradwire.tf.operations.nn import batch_normalization as batch_normalization
from gradwire.tf.operations.nn import bias_add as bias_add
from gradwire.tf.operations.nn import crelu as crelu
from gradwire.tf.operations.nn import depth_to_space as depth_to_space
from gradwire.tf.operations.nn import elu as elu
from gradwire.tf.operations.nn import gelu as gelu
from gradwire.tf.operations.nn import l2_loss as l2_loss
from gradwire.tf.operations.nn import l2_normalize as l2_normalize
from gradwire.tf.operations.nn import leaky_relu as leaky_relu
from gradwire.tf.operations.nn import local_response_normalization as local_response_normalization
from gradwire.tf.operations.nn import log_poisson_loss as log_poisson_loss
from gradwire.tf.operations.nn import lrn as lrn
from gradwire.tf.operations.nn import moments as moments
from gradwire.tf.operations.nn import normalize_moments as normalize_moments
from gradwire.tf.operations.nn import relu as relu
from gradwire.tf.operations.nn import relu6 as relu6
from gradwire.tf.operations.nn import selu as selu
from gradwire.tf.operations.nn import silu as silu
from gradwire.tf.operations.nn import space_to_depth as space_to_depth
from gradwire.tf.operations.nn import swish as swish
from gradwire.tf.operations.nn import (
    weighted_cross_entropy_with_logits as weighted_cross_entropy_with_logits,
)
from gradwire.tf.operations.nn import weighted_moments as weighted_moments
from gradwire.tf.operations.reductions import in_top_k as in_top_k
from gradwire.tf.operations.reductions import log_softmax as log_softmax
from gradwire.tf.operations.reductions import zero_fraction as zero_fraction
from gradwire.tf.ordering import top_k as top_k
from gradwire.tf.sampled_losses import compute_accidental_hits as compute_accidental_hits
from gradwire.tf.sampled_losses import nce_loss as nce_loss
from gradwire.tf.sampled_losses import sampled_softmax_loss as sampled_softmax_loss

experimental = nn_experimental
