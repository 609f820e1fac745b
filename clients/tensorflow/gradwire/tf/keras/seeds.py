"""Where Keras's random numbers come from: one generator for what is not seeded by itself."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

import gradwire.tf as tf

_SHARED: list[np.random.Generator] = [np.random.default_rng()]


def generator(seed: Any = None) -> np.random.Generator:
    """The generator of a seed, or the one that all without a seed share."""
    return _SHARED[0] if seed is None else np.random.default_rng(int(seed))


def set_random_seed(seed: int) -> None:
    """Seed everything that draws: Python, NumPy, TensorFlow's names, and Keras."""
    random.seed(seed)
    np.random.seed(seed)
    tf.random.set_seed(seed)
    _SHARED[0] = np.random.default_rng(seed)
