"""Preparation of training data: texts, sequences and images as arrays."""

from gradwire.tf.keras.preprocessing import image, sequence, text
from gradwire.tf.keras.utils.sequences import timeseries_dataset_from_array

__all__ = ["image", "sequence", "text", "timeseries_dataset_from_array"]
