"""``tf.compat.v1.data``: iterators over data sets, and what they give."""

from __future__ import annotations

from typing import Any

from gradwire.tf import nest


def make_one_shot_iterator(dataset: Any) -> Any:
    """An iterator over the elements."""
    return iter(dataset)


def get_output_shapes(dataset_or_iterator: Any) -> Any:
    """The shapes of an element's tensors."""
    return nest.map_structure(lambda spec: spec.shape, dataset_or_iterator.element_spec)


def get_output_types(dataset_or_iterator: Any) -> Any:
    """The dtypes of an element's tensors."""
    return nest.map_structure(lambda spec: spec.dtype, dataset_or_iterator.element_spec)
