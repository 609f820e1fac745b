"""Logistic regression on more data than the workers of a cluster have memory."""
