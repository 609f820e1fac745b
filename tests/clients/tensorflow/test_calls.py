"""Every public function agrees with TensorFlow: dtype, shape, values, gradients."""

import json

import numpy as np
import pytest
from gradwire import tf

from tests.clients.tensorflow import record_calls

ANSWERS = json.loads(record_calls.ANSWERS.read_text())


@pytest.fixture(autouse=True)
def served(service_url, monkeypatch):
    monkeypatch.setenv("GRADWIRE_URL", service_url)


@pytest.mark.parametrize("line", record_calls.calls())
def test_a_call_agrees_with_tensorflow(line):
    assert_like(record_calls.answer(tf, line), ANSWERS[line])


def assert_like(found, wanted):
    if isinstance(wanted, list) and isinstance(found, list):
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted, strict=True):
            assert_like(one, other)
    elif isinstance(wanted, dict) and "value" in wanted:
        assert (found["dtype"], found["shape"]) == (wanted["dtype"], wanted["shape"])
        if wanted["dtype"] in record_calls.DIFFERENTIABLE:
            one, other = (np.asarray(each["value"], float) for each in (found, wanted))
            np.testing.assert_allclose(one, other, rtol=2e-3, atol=2e-4)
        else:
            assert found["value"] == wanted["value"]
    elif isinstance(wanted, dict):
        assert found.keys() == wanted.keys()
        for key in wanted:
            assert_like(found[key], wanted[key])
    else:
        assert found == wanted
