"""Computes on a GPU, with CuPy."""
