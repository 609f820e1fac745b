"""Possible faults of an answer: non-finite values, lost digits, gradients unlike slopes."""
