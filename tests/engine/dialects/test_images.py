"""Images, normalisation and attention are what PyTorch, TensorFlow and JAX make of them.

``images.json`` has what they gave: values, and gradients of their sum weighed by cosines.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from gradwire_engine.errors import BadArgument, EngineError, OverBudget, ShapeMismatch
from numpy.testing import assert_allclose

ANSWERS = json.loads(Path(__file__).with_name("images.json").read_text())
VARIABLES = {
    "x": np.array([[[[1.0, -2.0, 0.5], [3.0, 0.25, -1.0]]]]),
    "w": np.array([[[1.0, -2.0, 0.5, 0.75]]]),
    "g": np.array(
        [[[[-0.9, 0.3], [0.2, -0.4], [1.6, 0.7]], [[0.45, 1.3], [-1.2, -0.1], [0.05, 0.6]]]]
    ),
    "corners": np.array([[[[-1.0, -1.0], [1.0, 1.0], [0.0, 0.0], [-3.0, 2.0]]]]),
    "theta": np.array([[[0.8, -0.3, 0.1], [0.2, 1.1, -0.4]]]),
    "c": np.array([[0.5, 2.0, -1.0, 1.5], [1.0, -0.5, 0.25, 3.0]]),
    "q": np.array([[0.5, -1.0], [2.0, 0.25], [-0.3, 0.8]]),
    "k": np.array([[1.0, 0.5], [-0.5, 1.5], [0.2, -0.7]]),
    "seen": np.array([[True, False, True], [False, False, False], [True, True, False]]),
    "im": np.array(
        [[[1.0, 0.5], [-2.0, 0.25], [0.5, 3.0]], [[3.0, -1.0], [0.25, 1.5], [-1.0, 2.0]]]
    ),
    "rgb": np.array([[[0.1, 0.5, 0.9], [0.8, 0.3, 0.2]]]),
    "box": np.array([[0.1, 0.2, 0.9, 0.65], [-0.3, 0.9, 0.4, 0.15]]),
    "which": np.array([0, 0]),
    "at": np.array([[0.3, -0.6, 1.4, 0.9], [1.7, 2.2, -0.4, 3.8]]),
    "reached": np.array([[True, False, True], [False, True, True], [True, True, False]]),
}
HEADS = "F.multi_head_attention_forward(c, c, c, {})"
TOLERANCE = 2e-5  # of single precision, in which some were computed


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: answer["text"])
def test_answer(ask, answer):
    text, size = answer["text"], len(answer["value"])
    value = np.asarray(ask.value(text, VARIABLES))
    assert list(value.shape) == answer["shape"]
    assert_allclose(value.ravel(), answer["value"], TOLERANCE, TOLERANCE)
    weighed = f"sum(ravel({text}) * cos(arange({size})))"
    found = ask.gradients(weighed, VARIABLES, sources=[*answer["gradients"]])
    for name, gradient in zip(answer["gradients"], found, strict=True):
        # Rounding to the nearest element leaves no path; PyTorch calls that zeros.
        ours = np.zeros(VARIABLES[name].size) if gradient is None else gradient.ravel()
        assert_allclose(ours, answer["gradients"][name], TOLERANCE, TOLERANCE)


def test_heads_share_keys_and_values(ask):
    rng = np.random.default_rng(5)
    q, k, v = rng.normal(size=(4, 3, 2)), rng.normal(size=(2, 5, 2)), rng.normal(size=(2, 5, 1))
    given = {"q": q, "k": k, "v": v}
    found = ask.value("F.scaled_dot_product_attention(q, k, v, enable_gqa=True)", given)
    given |= {"k": k[[0, 0, 1, 1]], "v": v[[0, 0, 1, 1]]}
    expected = ask.value("F.scaled_dot_product_attention(q, k, v)", given)
    assert_allclose(found, expected, rtol=1e-12)


def test_weights_of_attention_are_given_if_needed(ask):
    start = "F.multi_head_attention_forward(c, c, c, 4, 2, torch.tile(c, (6, 1)), None, None, None,"
    call = f"{start} False, 0.5, torch.eye(4), None, training=False"
    assert ask.value(f"{call}, average_attn_weights=False)[1]", VARIABLES).shape == (2, 2, 2)
    assert ask.value(f"{call}, need_weights=False)[1] is None", VARIABLES)


def test_scipys_modes_are_not_jaxs(ask):
    outside = {"c": VARIABLES["c"], "at": np.array([[0.5], [-0.5]])}
    assert ask.value("scipy.ndimage.map_coordinates(c, at, 1, cval=7.0)", outside) == 7
    assert ask.value("jax.scipy.ndimage.map_coordinates(c, at, 1, cval=7.0)", outside) == 3.875


def test_given_statistics_are_used_unless_training(ask):
    given = {"c": VARIABLES["c"], "m": np.ones(4), "s": np.full(4, 4.0)}
    expected = (given["c"] - 1) / 2
    for text in (
        "F.batch_norm(c, m, s, eps=0)",
        "F.instance_norm(c, m, s, use_input_stats=False, eps=0)",
        "tf.nn.batch_normalization(c, m, s, None, None, 0)",
    ):
        assert_allclose(ask.value(text, given), expected)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("F.interpolate(x)", BadArgument),
        ("F.interpolate(x, 3, 2.0)", BadArgument),
        ("F.interpolate(x, 0)", BadArgument),
        ("F.interpolate(x, (3, 4, 5))", BadArgument),
        ("F.interpolate(x, scale_factor='2')", BadArgument),
        ("F.interpolate(x, scale_factor=inf)", BadArgument),
        ("F.interpolate(x, scale_factor=1e9)", OverBudget),
        ("F.interpolate(x, 3, mode='quadratic')", BadArgument),
        ("F.interpolate(x, 3, mode='linear')", ShapeMismatch),
        ("F.interpolate(x, 3, antialias=True)", BadArgument),
        ("F.batch_norm(c, None, None)", BadArgument),
        ("F.rms_norm(c, [3])", ShapeMismatch),
        ("F.scaled_dot_product_attention(q, q, q, dropout_p=0.5)", BadArgument),
        ("F.scaled_dot_product_attention(q, q, q, enable_gqa=True)", ShapeMismatch),
        (HEADS.format("3, 2, c, c, None, None, False, 0, c, c"), ShapeMismatch),
        (HEADS.format("4, 3, c, c, None, None, False, 0, c, c"), ShapeMismatch),
        (HEADS.format("4, 2, c, c, c, None, False, 0, c, c"), BadArgument),
        (HEADS.format("4, 2, c, c, None, None, True, 0, c, c"), BadArgument),
        (HEADS.format("4, 2, c, c, None, None, False, 1, c, c"), BadArgument),
        ("jax.scipy.ndimage.map_coordinates(c, at, 3)", BadArgument),
        ("jax.scipy.ndimage.map_coordinates(c, at, 1, 'grid-wrap')", BadArgument),
        ("jax.nn.dot_product_attention(q, k, k)", ShapeMismatch),
        ("tf.image.central_crop(im, 2)", BadArgument),
        ("tf.image.pad_to_bounding_box(im, 1, 1, 2, 4)", BadArgument),
        ("tf.image.resize(im, (3,))", BadArgument),
        ("tf.image.resize(im, (3, 4), 'cubic')", BadArgument),
        ("tf.image.resize(c, (3, 4))", ShapeMismatch),
        ("tf.image.crop_and_resize(im, box, which, (2, 3))", ShapeMismatch),
        ("tf.image.crop_and_resize(im[None], box, which, (2, 3), 'bicubic')", BadArgument),
        ("tf.image.crop_and_resize(im[None], box, which - 1, (2, 3))", EngineError),
        ("tf.image.resize(im, (3, 4), 'area', align_corners=True)", BadArgument),
        ("tf.image.grayscale_to_rgb(im)", ShapeMismatch),
        ("tf.image.crop_to_bounding_box(im, 1, 1, 2, 2)", BadArgument),
    ],
)
def test_what_a_library_does_not_take_is_refused(ask, text, error):
    with pytest.raises(error):
        ask.value(text, VARIABLES)
