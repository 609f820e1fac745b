"""``scipy.stats`` and ``jax.scipy.stats``: functions of random variables, by their laws."""

from gradwire_engine.dialects.stats import continuous, discrete, vectors

__all__ = ["continuous", "discrete", "vectors"]
