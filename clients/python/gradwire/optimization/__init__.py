"""Whole optimisations beside the data: what is asked, the job that computes it, and its result."""
