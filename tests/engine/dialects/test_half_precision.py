"""Functions of other libraries that give half precision where SciPy's give float32."""

import numpy as np
import pytest
from gradwire_engine.autodiff.reverse import gradient
from gradwire_engine.check import Recorded
from gradwire_engine.dialects import DIALECTS
from gradwire_engine.errors import EngineError
from gradwire_engine.ops.halves import HALVES, rounded_once
from numpy.testing import assert_allclose

from tests.effort import some
from tests.engine.ops.test_half_precision import assert_rounded

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
    assert_allclose(np.asarray(found, np.float32), expected, 2 * eps, 2 * eps)
    if gradient is not None:
        assert gradient.dtype == dtype
        expected = ask.gradients(f"sum({text})", single)["x"]
        assert_allclose(np.asarray(gradient, np.float32), expected, 4 * eps, 4 * eps)


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
    assert_allclose(found, [0.6323, 1.2646], rtol=8e-3)


def answers(record, x):
    """The results of a function, and the gradient of their sum."""
    recorded = Recorded(lambda b, x: rounded_once(b, record, (x,), {}), [x])
    targets = [z for z in recorded.outputs if z.type.differentiable]
    slopes = gradient(recorded.b, targets, recorded.inputs) if targets else []
    made = [*recorded.outputs, *[bar for bar in slopes if bar is not None]]
    found = recorded.compute(made)
    return [found[z.slot] for z in made], [z.type for z in made]


@pytest.mark.parametrize("dtype", HALVES, ids=lambda dtype: dtype.name)
@pytest.mark.parametrize("scale", [1.0, 0.0, 1e-4, 300.0])
@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_functions_of_one_matrix_are_float32_rounded_once(dialect, scale, dtype):
    half = (np.array([[0.3, -1.2, 0.7], [1.1, 0.4, -0.6], [0.2, 0.9, 1.3]]) * scale).astype(dtype)
    for name, function in some([*dialect.functions.items()]):
        if "rand" in name:  # draws have as many bits as the dtype resolves
            continue
        try:
            found, kinds = answers(function.record, half)
            expected, _ = answers(function.record, half.astype(np.float32))
        except (EngineError, TypeError):
            continue  # of other arguments, or of no half precision
        assert_rounded(found, expected, kinds, name)
