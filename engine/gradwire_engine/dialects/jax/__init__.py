"""JAX's names: tables of those that only order or call things otherwise, and functions."""

from gradwire_engine.dialects.jax import arrays, blocks, images, products, windows
from gradwire_engine.dialects.jax.names import JAX

__all__ = ["JAX", "arrays", "blocks", "images", "products", "windows"]
