"""NumPy and BLAS, called one after the other: the backend that runs everywhere."""
