"""Convolutions and poolings give PyTorch's and TensorFlow's values and gradients.

Recorded from PyTorch 2.13 and TensorFlow 2.21 in double precision: the shape, the mark of the
value ``z``, and the marks added up of the gradients of ``sum(z sin z)``.
"""

import numpy as np
import pytest
from gradwire_engine.errors import BadArgument, ShapeMismatch


def waves(shapes):
    return {
        name: np.sin(1.7 * k + np.arange(np.prod(shape)) * 1.3).reshape(shape)
        for k, (name, shape) in enumerate(shapes.items())
    }


TORCH = waves(
    {
        "x1": (2, 4, 9),
        "w1": (6, 4, 3),
        "w1g": (6, 2, 2),
        "d1": (4, 1, 3),
        "b6": (6,),
        "x2": (2, 4, 7, 6),
        "w2": (6, 4, 3, 2),
        "w2g": (6, 2, 2, 3),
        "d2": (8, 1, 3, 3),
        "x3": (1, 2, 5, 4, 6),
        "w3": (3, 2, 2, 3, 2),
        "u1": (4, 3, 3),
        "u2": (4, 3, 3, 2),
        "u2g": (4, 2, 3, 3),
        "u3": (2, 3, 2, 3, 2),
        "b3": (3,),
        "p2": (2, 4, 7, 6),
        "c2": (2, 24, 30),
    }
)
TORCH["p2"] += 1.5
TF = waves(
    {
        "x1": (2, 9, 4),
        "w1": (3, 4, 6),
        "x2": (2, 7, 6, 4),
        "w2": (3, 2, 4, 6),
        "w2g": (2, 3, 2, 6),
        "d2": (3, 3, 4, 2),
        "pw": (1, 1, 8, 5),
        "x3": (1, 5, 4, 6, 2),
        "w3": (2, 3, 2, 2, 3),
        "u1": (3, 5, 4),
        "u2": (3, 2, 5, 4),
        "u3": (2, 3, 2, 3, 2),
    }
)

RECORDED_TORCH = [
    ("F.conv1d(x1, w1)", (2, 6, 7), 0.8509992147, -6.871263305),
    ("F.conv1d(x1, w1, b6, 2, 1, 2)", (2, 6, 4), -1.741752663, 30.43030202),
    ("F.conv1d(x1, w1, padding='same', dilation=2)", (2, 6, 9), 2.945996897, -2.43045698),
    ("torch.conv1d(x1, w1g, b6, stride=3, groups=2)", (2, 6, 3), -2.685735336, 24.4153102),
    ("F.conv1d(x1[0], w1, padding='valid')", (6, 7), 0.2126571825, -13.37310034),
    ("F.conv1d(x1, d1, groups=4)", (2, 4, 7), -24.20949627, 20.92137263),
    ("F.conv2d(x2, w2)", (2, 6, 5, 5), 9.238543539, 17.52317472),
    ("F.conv2d(x2, w2, b6, (2, 1), (1, 0), (1, 2))", (2, 6, 4, 4), 2.493069096, 35.69664363),
    ("F.conv2d(x2, w2, padding='same')", (2, 6, 7, 6), 5.77968535, 18.79745071),
    ("torch.conv2d(x2, w2g, b6, 2, 1, 1, 2)", (2, 6, 4, 3), 2.508671224, -0.384279046),
    ("F.conv2d(x2, d2, None, 1, (2, 1), 2, 4)", (2, 8, 7, 4), -5.274961362, 118.8034996),
    ("F.conv3d(x3, w3, b3, (2, 1, 1), 1)", (1, 3, 3, 4, 7), -1.742149055, 36.37922655),
    ("F.conv_transpose1d(x1, u1)", (2, 3, 11), 5.984646118, -4.682955377),
    ("F.conv_transpose1d(x1, u1, b3, 2, 1, 1)", (2, 3, 18), 0.147421774, -10.86286211),
    (
        "F.conv_transpose1d(x1, u1, stride=3, padding=2, output_padding=2, dilation=2)",
        (2, 3, 27),
        0.9762718636,
        22.00993763,
    ),
    ("F.conv_transpose2d(x2, u2, b3, 2, 1)", (2, 3, 13, 10), -166.6741177, -170.1084286),
    (
        "torch.conv_transpose2d(x2, u2g, None, (2, 3), (1, 2), (1, 2), 2)",
        (2, 4, 14, 16),
        -4.506562534,
        -25.29597042,
    ),
    (
        "F.conv_transpose2d(x2, u2, dilation=(3, 2), output_padding=(2, 1))",
        (2, 3, 15, 9),
        0.654064274,
        -9.483341027,
    ),
    ("F.conv_transpose2d(x2, u2, padding=(3, 2))", (2, 3, 3, 3), -0.933213743, -3.738376873),
    ("F.conv_transpose3d(x3, u3, b3, 2, 1, 1)", (1, 3, 9, 8, 11), 8.07407965, 618.0571953),
    ("F.max_pool1d(x1, 3)", (2, 4, 3), 0.3633493127, 2.776673009),
    ("F.max_pool1d(x1, 3, 2, 1, 2, True)", (2, 4, 4), 0.9467731406, 2.88657711),
    ("F.max_pool2d(x2, 2)", (2, 4, 3, 3), -0.3079329055, -4.517709984),
    (
        "F.max_pool2d(x2, (3, 2), (2, 1), (1, 1), 1, True)",
        (2, 4, 4, 7),
        -0.07784915455,
        -0.3267897762,
    ),
    ("F.max_pool2d(x2, 3, 2, 1)", (2, 4, 4, 3), 2.676659122, 1.525098117),
    ("F.max_pool2d(x2, 2, ceil_mode=True)", (2, 4, 4, 3), 1.717604178, 16.42176133),
    ("F.max_pool3d(x3, 2)", (1, 2, 2, 2, 3), -0.8830617156, 1.186633734),
    ("F.max_pool3d(x3, (2, 3, 2), 1, (1, 1, 0))", (1, 2, 6, 4, 5), -1.470907882, -1.416450129),
    ("F.max_pool2d(x2, 2, 1, 1, 3)", (2, 4, 6, 5), -0.0239742797, 13.33786486),
    ("F.avg_pool1d(x1, 3)", (2, 4, 3), 0.2837635722, 0.7353458441),
    ("F.avg_pool1d(x1, 4, 3, 2, True)", (2, 4, 4), 0.2347609559, 0.3209193797),
    ("F.avg_pool1d(x1, 4, 3, 2, True, False)", (2, 4, 4), 0.4901506061, 0.7015496667),
    ("F.avg_pool2d(x2, 2, 1, 1)", (2, 4, 8, 7), 0.6143171615, -7.982923583),
    ("F.avg_pool2d(x2, (3, 2), 2, (1, 1), True)", (2, 4, 4, 4), 0.1064082093, -3.183400991),
    ("F.avg_pool2d(x2, 3, 2, 1, True, False)", (2, 4, 4, 4), 0.4054942798, -4.826436261),
    ("F.avg_pool2d(x2, 3, 2, 1, True, True, 5)", (2, 4, 4, 4), 0.2606309994, -6.013982487),
    ("F.avg_pool3d(x3, 2, 1, 1, False, False)", (1, 2, 6, 5, 7), -4.50738591, -8.945631226),
    ("F.avg_pool3d(x3, (2, 2, 3), ceil_mode=True)", (1, 2, 3, 2, 2), 0.07056205969, 0.1653019401),
    ("F.adaptive_avg_pool1d(x1, 4)", (2, 4, 4), 0.01895836861, 0.9814546084),
    ("F.adaptive_avg_pool2d(x2, (3, 4))", (2, 4, 3, 4), 0.39616873, -4.471207049),
    ("F.adaptive_avg_pool2d(x2, (None, 5))", (2, 4, 7, 5), -0.7121066377, 0.3749200048),
    ("F.adaptive_avg_pool2d(x2, 1)", (2, 4, 1, 1), -0.005301314927, 0.008730987233),
    ("F.adaptive_avg_pool3d(x3, (2, 3, 4))", (1, 2, 2, 3, 4), 0.2959086695, 0.1170350254),
    ("F.adaptive_max_pool1d(x1, 5)", (2, 4, 5), 4.162584499, 3.655071206),
    ("F.adaptive_max_pool2d(x2, (3, 4))", (2, 4, 3, 4), 0.939388381, 3.999714042),
    ("F.adaptive_max_pool2d(x2, (9, 2))", (2, 4, 9, 2), 0.004266974599, 22.80092118),
    ("F.adaptive_max_pool3d(x3, (2, 3, 4))", (1, 2, 2, 3, 4), 2.093330255, 0.5227686639),
    ("F.lp_pool1d(p2[0], 2, 3)", (4, 7, 2), -1.255227948, 0.1587693385),
    ("F.lp_pool2d(p2, 3, 2)", (2, 4, 3, 3), 3.069413148, 30.31438369),
    ("F.lp_pool2d(x2, 2, (2, 3), 1)", (2, 4, 6, 4), 1.109854936, -17.73376868),
    ("F.lp_pool2d(p2, 2.5, 3, 2, True)", (2, 4, 3, 3), 4.93066671, -6.854528167),
    ("F.lp_pool3d(x3, 2, 2)", (1, 2, 2, 2, 3), -1.08391552, -0.05884343276),
    ("F.unfold(x2, (3, 2), 2, 1, (1, 2))", (2, 24, 15), 0.3081334714, -4.879498112),
    ("F.unfold(x2, 2)", (2, 16, 30), 5.118448807, -54.52984395),
    ("F.unfold(x2[0], 2)", (16, 30), 3.602745525, -28.86302169),
    ("F.fold(c2, (6, 7), (2, 2))", (2, 6, 6, 7), 9.491422004, -0.9444645176),
    ("F.fold(c2[:, :, :12], (4, 5), 2)", (2, 6, 4, 5), -0.844736973, 4.095041001),
    ("F.max_pool2d(x2, (3, 3), 2, 1, return_indices=True)[1]", (2, 4, 4, 3), -8.440480157, 0),
    ("F.max_pool1d(x1, 3, 2, 1, 2, True, return_indices=True)[1]", (2, 4, 4), -1.320387329, 0),
    ("F.adaptive_max_pool2d(x2, (3, 4), return_indices=True)[1]", (2, 4, 3, 4), -28.20652408, 0),
]
RECORDED_TF = [
    ("tf.nn.conv1d(x1, w1, 1, 'SAME')", (2, 9, 6), 1.96472384, -19.29955744),
    ("tf.nn.conv1d(x1, w1, stride=2, padding='VALID')", (2, 4, 6), -16.93108044, 2.002004956),
    ("tf.nn.conv1d(x1, w1, [1, 2, 1], 'SAME')", (2, 5, 6), -16.35813775, -21.3015624),
    ("tf.nn.conv2d(x2, w2, 1, 'SAME')", (2, 7, 6, 6), -10.0282343, -47.58970926),
    ("tf.nn.conv2d(x2, w2, [1, 2, 2, 1], 'SAME')", (2, 4, 3, 6), -20.14401313, 55.64313288),
    ("tf.nn.conv2d(x2, w2, strides=2, padding='VALID')", (2, 3, 3, 6), -20.00021351, -225.1418521),
    ("tf.nn.conv2d(x2, w2, [2, 3], 'SAME')", (2, 4, 2, 6), -1.603278277, 57.3750524),
    (
        "tf.nn.conv2d(x2, w2, 1, [[0, 0], [1, 2], [0, 1], [0, 0]])",
        (2, 8, 6, 6),
        -4.250802536,
        -31.28349694,
    ),
    ("tf.nn.convolution(x2, w2)", (2, 5, 5, 6), -3.325498553, -162.3895078),
    ("tf.nn.convolution(x1, w1, 2, 'SAME')", (2, 5, 6), -16.35813775, -21.3015624),
    (
        "tf.nn.convolution(x3, w3, padding='SAME', dilations=2)",
        (1, 5, 4, 6, 3),
        2.392439169,
        -17.07775402,
    ),
    ("tf.nn.conv3d(x3, w3, [1, 1, 1, 1, 1], 'SAME')", (1, 5, 4, 6, 3), -8.248098419, 10.18228493),
    ("tf.nn.conv3d(x3, w3, [1, 2, 1, 2, 1], 'VALID')", (1, 2, 2, 3, 3), -1.332035064, 2.286708251),
    (
        "tf.nn.depthwise_conv2d(x2, d2, [1, 1, 1, 1], 'SAME')",
        (2, 7, 6, 8),
        18.94824186,
        218.9141938,
    ),
    (
        "tf.nn.depthwise_conv2d(x2, d2, [1, 2, 2, 1], 'VALID')",
        (2, 3, 2, 8),
        -9.275471419,
        105.5286867,
    ),
    (
        "tf.nn.depthwise_conv2d(x2, d2, [1, 1, 1, 1], 'VALID', dilations=[2, 1])",
        (2, 3, 4, 8),
        -72.52598007,
        91.4085819,
    ),
    (
        "tf.nn.separable_conv2d(x2, d2, pw, [1, 2, 2, 1], 'SAME')",
        (2, 4, 3, 5),
        -4.203663856,
        13.60941891,
    ),
    ("tf.nn.conv1d_transpose(x1, u1, [2, 18, 5], 2)", (2, 18, 5), -0.3830266108, -2.215066103),
    (
        "tf.nn.conv1d_transpose(x1, u1, [2, 11, 5], 1, 'VALID')",
        (2, 11, 5),
        -80.32227293,
        -91.89081213,
    ),
    (
        "tf.nn.conv2d_transpose(x2, u2, [2, 13, 12, 5], 2)",
        (2, 13, 12, 5),
        -0.566767661,
        -29.42588105,
    ),
    (
        "tf.nn.conv2d_transpose(x2, u2, [2, 14, 12, 5], [1, 2, 2, 1], 'SAME')",
        (2, 14, 12, 5),
        36.18963452,
        -12.90282019,
    ),
    (
        "tf.nn.conv2d_transpose(x2, u2, [2, 15, 12, 5], 2, 'VALID')",
        (2, 15, 12, 5),
        24.76971392,
        -8.46618872,
    ),
    (
        "tf.nn.conv2d_transpose(x2, u2, [2, 16, 13, 5], 2, padding='VALID')",
        (2, 16, 13, 5),
        3.729462813,
        -8.46618872,
    ),
    (
        "tf.nn.conv2d_transpose(x2, u2, [2, 21, 24, 5], [3, 4], 'SAME')",
        (2, 21, 24, 5),
        16.87461142,
        54.49300806,
    ),
    ("tf.nn.conv_transpose(x2, u2, [2, 14, 12, 5], 2)", (2, 14, 12, 5), 36.18963452, -12.90282019),
    (
        "tf.nn.conv3d_transpose(x3, u3, [1, 10, 8, 6, 3], [1, 2, 2, 1, 1], 'SAME')",
        (1, 10, 8, 6, 3),
        3.722587947,
        79.10214234,
    ),
    ("tf.nn.max_pool(x2, 2, 2, 'SAME')", (2, 4, 3, 4), -24.04300707, 1.755797263),
    ("tf.nn.max_pool2d(x2, [3, 2], [2, 1], 'SAME')", (2, 4, 6, 4), 1.213798563, -0.2250241755),
    ("tf.nn.max_pool2d(x2, 3, 2, 'VALID')", (2, 3, 2, 4), 0.5919141458, 0.3565258303),
    ("tf.nn.max_pool1d(x1, 3, 2, 'SAME')", (2, 5, 4), 8.514342089, 1.874173395),
    (
        "tf.nn.max_pool2d(x2, 3, 2, [[0, 0], [1, 0], [0, 2], [0, 0]])",
        (2, 3, 3, 4),
        -2.517099874,
        -0.657523728,
    ),
    ("tf.nn.avg_pool(x2, 2, 2, 'SAME')", (2, 4, 3, 4), -25.04666272, 0.09836937623),
    (
        "tf.nn.avg_pool2d(x2, [1, 3, 2, 1], [1, 2, 1, 1], 'SAME')",
        (2, 4, 6, 4),
        0.02400293441,
        -0.1967887664,
    ),
    ("tf.nn.avg_pool1d(x1, 3, 2, 'SAME')", (2, 5, 4), 7.923111676, 1.1841586),
    ("tf.nn.avg_pool2d(x2, 3, 1, 'VALID')", (2, 5, 4, 4), -0.2470206866, 0.1275419076),
    ("tf.nn.pool(x2, [2, 2], 'AVG', padding='SAME')", (2, 7, 6, 4), -0.4600347374, 1.986837714),
    ("tf.nn.pool(x2, [2, 3], 'MAX', strides=[2, 1])", (2, 3, 4, 4), 0.0788784799, 1.708738543),
    ("tf.nn.pool(x1, [3], 'AVG', padding='SAME', strides=[2])", (2, 5, 4), 7.923111676, 1.1841586),
    (
        "tf.image.extract_patches(x2, [1, 3, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], 'VALID')",
        (2, 3, 3, 24),
        0.7612112783,
        1.252331256,
    ),
    (
        "tf.image.extract_patches(x2, [1, 3, 3, 1], [1, 2, 1, 1], [1, 2, 1, 1], 'SAME')",
        (2, 4, 6, 36),
        13.75419382,
        -0.636894202,
    ),
]


def mark(z):
    """A number that tells arrays of one size apart."""
    return np.cos(np.arange(z.size)) @ np.ravel(z)


def compare(ask, text, variables, shape, value, gradient):
    used = {name: v for name, v in variables.items() if name in text}
    z = ask.value(text, used)
    assert z.shape == shape
    assert mark(z) == pytest.approx(value, rel=1e-8, abs=1e-8)
    if z.dtype.kind == "f":
        bars = ask.gradients(f"z = {text}\nsum(z * sin(z))", used).values()
        total = sum(mark(np.asarray(bar)) for bar in bars if bar is not None)
        assert total == pytest.approx(gradient, rel=1e-8, abs=1e-8)


@pytest.mark.parametrize(("text", "shape", "value", "gradient"), RECORDED_TORCH)
def test_torch(ask, text, shape, value, gradient):
    compare(ask, text, TORCH, shape, value, gradient)


@pytest.mark.parametrize(("text", "shape", "value", "gradient"), RECORDED_TF)
def test_tensorflow(ask, text, shape, value, gradient):
    compare(ask, text, TF, shape, value, gradient)


@pytest.mark.parametrize(
    ("text", "channels_last", "numbers"),
    [
        ("tf.nn.conv1d(x, w1, {}, 'SAME', data_format='{}')", "NWC", [2, "[1, 2, 1]"]),
        ("tf.nn.conv2d(x, w2, {}, 'SAME', data_format='{}')", "NHWC", ["(1, 2)", "[1, 1, 2, 1]"]),
        ("tf.nn.max_pool3d(x, 2, {}, 'SAME', '{}')", "NDHWC", ["[1, 2, 2]", "[1, 1, 2, 2, 1]"]),
        (
            "tf.nn.conv2d_transpose(x, u2, ({}), 2, data_format='{}')",
            "NHWC",
            ["14, 12", "2, 14, 12, 5"],
        ),
    ],
)
def test_channels_come_first_or_last(ask, text, channels_last, numbers):
    first = channels_last[0] + "C" + channels_last[1:-1]
    lengths = len(first) - 2
    x = TF[f"x{lengths}"]
    expected = ask.value(text.format(numbers[0], channels_last), {**TF, "x": x})
    short, whole = numbers
    if isinstance(whole, str):
        bracketed = whole.strip("[]").split(", ")
        moved = ", ".join([bracketed[0], bracketed[-1], *bracketed[1:-1]])
        whole = f"[{moved}]" if "[" in whole else moved
    for given in (short, whole):
        found = ask.value(text.format(given, first), {**TF, "x": np.moveaxis(x, -1, 1)})
        np.testing.assert_allclose(np.moveaxis(found, 1, -1), expected, atol=1e-12)


def test_ceiling_keeps_no_window_beyond_the_elements(ask):
    text = "torch.nn.functional.max_pool1d(x, 2, 3, 1, ceil_mode=True)"
    assert ask.value(text, {"x": np.arange(6.0)[None]}).tolist() == [[0, 3, 5]]


def test_norms_of_zeros_have_derivative_zero(ask):
    found = ask.gradients("sum(F.lp_pool1d(x, 2, 2))", {"x": np.array([[0.0, 0, 3, 4]])})
    np.testing.assert_allclose(found["x"], [[0, 0, 0.6, 0.8]])
    assert ask.value("F.lp_pool1d([[2, 4]], -1, 2)") == 4 / 3


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("F.conv2d(b6, w2)", ShapeMismatch, "channels and 2 lengths"),
        ("F.conv1d(x1, w2)", ShapeMismatch, "weight needs 3 axes"),
        ("F.conv1d(x1, w1, stride=2, padding='same')", BadArgument, "stride 1"),
        ("F.conv_transpose1d(x1, u1, padding='same')", BadArgument, "padding"),
        ("F.max_pool2d(x2, (2, 2, 2))", BadArgument, "kernel_size needs 2 integers"),
        ("F.lp_pool1d(x1, 0, 2)", BadArgument, "norm_type must be a number other than 0"),
        ("F.adaptive_avg_pool2d(x2, (2, 2, 2))", BadArgument, "output_size needs 2 lengths"),
    ],
)
def test_torch_refuses(ask, text, error, message):
    with pytest.raises(error, match=message):
        ask.value(text, TORCH)


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("tf.nn.conv2d(x1, w2, 1, 'SAME')", ShapeMismatch, "1 to 3 lengths"),
        ("tf.nn.conv2d(x2, w1, 1, 'SAME')", ShapeMismatch, "filters need 2 lengths"),
        ("tf.nn.depthwise_conv2d(x2, w1, 1, 'SAME')", ShapeMismatch, "filter needs 4 axes"),
        ("tf.nn.conv2d(x2, w2, 1, 'SAME', 'NWC')", BadArgument, "'NHWC' or 'NCHW'"),
        ("tf.nn.conv2d(x2, w2, [2, 1, 1, 1], 'SAME')", BadArgument, "1 for batches"),
        ("tf.nn.conv2d(x2, w2, [1, 1, 1], 'SAME')", BadArgument, "strides needs 1, 2 or 4"),
        ("tf.nn.conv2d(x2, w2, 1, [[1, 1]])", BadArgument, "a pair for each axis"),
        ("tf.nn.conv2d_transpose(x2, u2, [2, 9, 9, 5], 2)", ShapeMismatch, "other lengths"),
        ("tf.nn.conv2d_transpose(x2, u2, [2, 9, 9], 2)", BadArgument, "2 or 4 lengths"),
        ("tf.nn.conv2d(x2, w2, 0, 'SAME')", BadArgument, "strides needs 2 integers of at least 1"),
        ("tf.nn.pool(x2, [2, 2], 'SUM')", BadArgument, "'MAX' or 'AVG'"),
    ],
)
def test_tensorflow_refuses(ask, text, error, message):
    with pytest.raises(error, match=message):
        ask.value(text, TF)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("scipy.signal.convolve(x, y, 'same')", [[0, 2, 6], [4, 17, 25]]),
        ("scipy.signal.correlate2d(x, y, 'valid')", [[28, 35]]),
        ("scipy.signal.fftconvolve(x, y, mode='valid')", [[17, 25]]),
        ("np.convolve(x[0], y[0], 'valid')", [2, 6]),
        ("np.lib.stride_tricks.sliding_window_view(x[0], 2)", [[0, 2], [2, 2]]),
    ],
)
def test_scipys_and_numpys_names(ask, text, expected):
    variables = {"x": np.array([[0.0, 2, 2], [4, 3, 5]]), "y": np.array([[1.0, 2], [3, 4]])}
    np.testing.assert_allclose(ask.value(text, variables), expected, atol=1e-12)
