"""Tapes on an NVIDIA GPU, by CuPy. Nothing imports it before it is asked for."""
