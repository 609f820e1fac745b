"""JAX's names: tables of those that only order or call things otherwise, and functions."""

from gradwire_engine.dialects.jax import blocks, networks, products
from gradwire_engine.dialects.jax.names import JAX

__all__ = ["JAX", "blocks", "networks", "products"]
