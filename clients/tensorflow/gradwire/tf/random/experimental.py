"""``tf.random.experimental``: older names."""

from gradwire.tf.random.generators import (
    Algorithm,
    Generator,
    create_rng_state,
    get_global_generator,
    set_global_generator,
)
from gradwire.tf.random.stateless import fold_in as stateless_fold_in
from gradwire.tf.random.stateless import split as stateless_split
from gradwire.tf.random.stateless import stateless_shuffle

__all__ = [
    "Algorithm", "Generator", "create_rng_state", "get_global_generator", "set_global_generator",
    "stateless_fold_in", "stateless_shuffle", "stateless_split",
]  # fmt: skip
