"""Preparation of training data: texts, sequences and images as arrays."""

from gradwire.tf.keras.preprocessing import image, sequence, text

__all__ = ["image", "sequence", "text"]
