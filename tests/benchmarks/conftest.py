"""Measurements collect garbage before each round."""

import pytest


@pytest.fixture(autouse=True, scope="module")
def of_few_objects(little_garbage: None) -> None:
    """Let that take little time."""
