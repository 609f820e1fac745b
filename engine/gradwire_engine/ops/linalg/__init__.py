"""Linear algebra of matrices in the last two axes."""
