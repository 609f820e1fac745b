"""Convolutions, windows and Fourier transforms."""
