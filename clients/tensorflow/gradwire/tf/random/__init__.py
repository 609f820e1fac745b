"""``tf.random``: numbers that seeds decide, drawn here."""

from gradwire.tf.random import experimental as experimental
from gradwire.tf.random.candidates import (
    log_uniform_candidate_sampler as log_uniform_candidate_sampler,
)
from gradwire.tf.random.candidates import uniform_candidate_sampler as uniform_candidate_sampler
from gradwire.tf.random.generators import Algorithm as Algorithm
from gradwire.tf.random.generators import Generator as Generator
from gradwire.tf.random.generators import create_rng_state as create_rng_state
from gradwire.tf.random.generators import get_global_generator as get_global_generator
from gradwire.tf.random.generators import set_global_generator as set_global_generator
from gradwire.tf.random.stateful import categorical as categorical
from gradwire.tf.random.stateful import gamma as gamma
from gradwire.tf.random.stateful import normal as normal
from gradwire.tf.random.stateful import poisson as poisson
from gradwire.tf.random.stateful import set_seed as set_seed
from gradwire.tf.random.stateful import shuffle as shuffle
from gradwire.tf.random.stateful import truncated_normal as truncated_normal
from gradwire.tf.random.stateful import uniform as uniform
from gradwire.tf.random.stateless import fold_in as fold_in
from gradwire.tf.random.stateless import split as split
from gradwire.tf.random.stateless import stateless_binomial as stateless_binomial
from gradwire.tf.random.stateless import stateless_categorical as stateless_categorical
from gradwire.tf.random.stateless import stateless_gamma as stateless_gamma
from gradwire.tf.random.stateless import stateless_normal as stateless_normal
from gradwire.tf.random.stateless import (
    stateless_parameterized_truncated_normal as stateless_parameterized_truncated_normal,
)
from gradwire.tf.random.stateless import stateless_poisson as stateless_poisson
from gradwire.tf.random.stateless import stateless_truncated_normal as stateless_truncated_normal
from gradwire.tf.random.stateless import stateless_uniform as stateless_uniform
