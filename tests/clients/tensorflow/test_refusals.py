"""Calls that TensorFlow refuses raise an error of the same class when called."""

import pytest
from gradwire import tf

from tests.clients.tensorflow import record_refusals


@pytest.fixture(autouse=True)
def served(service_url, monkeypatch):
    monkeypatch.setenv("GRADWIRE_URL", service_url)


@pytest.mark.parametrize(("kind", "call"), record_refusals.refusals())
def test_a_call_raises_the_same_error_as_in_tensorflow(kind, call):
    with pytest.raises(Exception) as caught:  # noqa: PT011 - its class is what is compared
        eval(call, record_refusals.operands(tf))
    assert type(caught.value).__name__ == kind
