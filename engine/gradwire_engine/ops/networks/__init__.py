"""Layers and losses of neural networks."""
