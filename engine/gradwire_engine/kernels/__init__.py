"""Kernels: the loop-level form of a tape, from which machine code is printed."""
