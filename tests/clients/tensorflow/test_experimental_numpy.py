"""``tf.experimental.numpy`` agrees with NumPy, and tapes differentiate it."""

import numpy as np
import pytest
from gradwire import tf
from gradwire.tf.experimental import numpy as tnp

X = np.array([[1.0, -2.0, 0.5], [3.0, 4.0, -1.5]])


@pytest.fixture(autouse=True)
def served(service_url, monkeypatch):
    monkeypatch.setenv("GRADWIRE_URL", service_url)


@pytest.mark.parametrize(
    "call",
    [
        "np.sum(x, axis=1)",
        "np.mean(x)",
        "np.concatenate([x, x * 2], axis=0)",
        "np.where(x > 0, x, 0.0)",
        "np.matmul(x, np.transpose(x))",
        "np.clip(x, -1, 1)",
        "np.var(x, axis=0)",
        "np.reshape(x, (3, 2))",
        "np.add(x, np.array([1, 2, 3]))",
        'np.einsum("ij->j", x)',
        'np.maximum(x, np.array(0.25, dtype="float32"))',
        "np.take(x, np.array([0, 2]), axis=1)",
        "np.linspace(0, 1, 5) + np.eye(5) * np.full((5,), 2.0)",
    ],
)
def test_a_function_agrees_with_numpy(call):
    found = eval(call, {"np": tnp, "x": tnp.array(X)})
    wanted = eval(call, {"np": np, "x": X})
    assert found.dtype.name == wanted.dtype.name
    np.testing.assert_allclose(found, wanted)


def test_tapes_differentiate_it():
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = tnp.sum(tnp.square(x))
    np.testing.assert_array_equal(tape.gradient(y, x), [2.0, 4.0])
    assert y.dtype == tf.float32
