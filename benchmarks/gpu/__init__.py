"""Gradwire beside JAX, PyTorch and CuPy on one GPU."""
