"""Replay with NumPy and SciPy."""
