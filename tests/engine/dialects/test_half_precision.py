"""Functions of other libraries that give half precision where SciPy's give float32."""

import numpy as np
import pytest
from gradwire_engine.ops.promotion import BFLOAT16, DTYPES

HALVES = DTYPES["float16"], BFLOAT16
X, Y = np.array([0.25, 0.5, 0.75]), np.array([1.5, 2.0, 3.0])


@pytest.mark.parametrize("dtype", HALVES, ids=lambda dtype: dtype.name)
@pytest.mark.parametrize(
    "text",
    [
        "torch.erf(x)",
        "torch.special.gammainc(x, y)",
        "torch.special.zeta(y, 2)",
        "torch.xlogy(x, y)",
        "torch.polygamma(1, x)",
        "torch.logit(x)",
        "torch.nn.functional.kl_div(x, y, reduction='none')",
        "jax.lax.lgamma(x)",
        "tf.math.erf(x)",
        "tf.math.lbeta(x)",
        "tf.formulas.lgamma(x)",
        "tf.formulas.digamma(x)",
    ],
)
def test_half_precision_stays(ask, text, dtype):
    given = {"x": X.astype(dtype), "y": Y.astype(dtype)}
    single = {name: value.astype(np.float32) for name, value in given.items()}
    found, gradient = ask.value(text, given), ask.gradients(f"sum({text})", given)["x"]
    assert np.asarray(found).dtype == dtype
    eps = {"float16": 2e-3, "bfloat16": 1.6e-2}[dtype.name]
    expected = ask.value(text, single)
    np.testing.assert_allclose(np.asarray(found, np.float32), expected, 2 * eps, 2 * eps)
    if gradient is not None:
        assert gradient.dtype == dtype
        expected = ask.gradients(f"sum({text})", single)["x"]
        np.testing.assert_allclose(np.asarray(gradient, np.float32), expected, 4 * eps, 4 * eps)


@pytest.mark.parametrize(
    "text",
    ["scipy.special.erf(x)", "torch.sum(x, dtype=torch.float32)", "torch.xlogy(x, s)"],
)
def test_other_dtypes_stay_what_they_are(ask, text):
    given = {"x": X.astype(np.float16), "s": X.astype(np.float32)}
    assert np.asarray(ask.value(text, given)).dtype == np.float32


@pytest.mark.parametrize("dtype", HALVES, ids=lambda dtype: dtype.name)
def test_rms_norm_adds_the_epsilon_of_float32(ask, dtype):
    # PyTorch 2.13 of [0.01, 0.02]: with the epsilon of float16 it would be 0.2855 and 0.5711.
    given = {"x": np.array([0.01, 0.02], dtype)}
    found = np.asarray(ask.value("torch.nn.functional.rms_norm(x, (2,))", given), np.float32)
    np.testing.assert_allclose(found, [0.6323, 1.2646], rtol=8e-3)
