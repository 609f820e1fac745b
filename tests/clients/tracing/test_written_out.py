"""Common functions that NumPy lacks, as people write them with NumPy."""

from typing import Any

import numpy as np
import scipy.sparse
import scipy.special as sc
from numpy.lib.stride_tricks import sliding_window_view

RNG = np.random.default_rng(9)
X = RNG.normal(size=(3, 4))
W = RNG.normal(size=(4, 4))
V = RNG.uniform(0.2, 0.9, 6)
IMAGE = RNG.normal(size=(2, 6, 6))
KERNEL = RNG.normal(size=(3, 2, 3, 3))
LABELS = np.array([1, 0, 3])
SEGMENTS = np.array([0, 2, 2, 0, 1, 1])
NOISE = RNG.normal(size=(3, 4))
SPARSE = scipy.sparse.csr_array(np.where(W > 0.2, W, 0))
T = 0.7


def segment_extremes(v):
    top, low = np.full(3, -np.inf, like=v), np.full(3, np.inf, like=v)
    np.maximum.at(top, SEGMENTS, v)
    np.minimum.at(low, SEGMENTS, v)
    return top, low


def segment_means(v):
    total, count = np.zeros_like(v[:3]), np.bincount(SEGMENTS)
    np.add.at(total, SEGMENTS, v)
    return total / count


def segment_products(v):
    product = np.ones(3, like=v)
    np.multiply.at(product, SEGMENTS, v)
    return product


def layer_norm(x):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)


def cross_entropy(x):
    log_likelihoods = x - sc.logsumexp(x, axis=1, keepdims=True)
    return -np.mean(log_likelihoods[np.arange(3), LABELS])


def convolution(image, kernel):
    windows = sliding_window_view(image, (3, 3), axis=(1, 2))
    strided = np.pad(image, ((0, 0), (1, 1), (1, 1)))
    columns = sliding_window_view(strided, (3, 3), axis=(1, 2))[:, ::2, ::2]
    return (
        np.einsum("chwij,ocij->ohw", windows, kernel),
        np.tensordot(columns, kernel, axes=([0, 3, 4], [1, 2, 3])),
        np.einsum("chwij,cij->chw", windows, kernel[0]),
    )


def pooling(image):
    blocks = image.reshape(2, 3, 2, 3, 2)
    return blocks.max(axis=(2, 4)), blocks.mean(axis=(2, 4)), np.repeat(image, 2, axis=1)


def attention(x, w):
    weights = sc.softmax((x @ w) @ x.T / np.sqrt(x.shape[1]), axis=-1)
    return weights @ x


def draws(x, t):
    noise = np.random.default_rng(0).normal(size=x.shape)
    kept = np.random.default_rng(1).random(x.shape) < 0.5
    soft = sc.softmax((x - np.log(-np.log(np.random.default_rng(2).random(x.shape)))) / t, axis=1)
    return x + t * noise, np.where(kept, x / 0.5, 0.0), soft


CASES: list[Any] = [
    ("lerp", lambda x, t: x + t * (NOISE - x), X, T),
    ("rsqrt", lambda v: 1 / np.sqrt(v), V),
    ("relu6", lambda x: np.minimum(np.maximum(x, 0), 6), X),
    ("leaky_relu", lambda x: np.where(x > 0, x, 0.01 * x), X),
    ("elu", lambda x: np.where(x > 0, x, np.expm1(x)), X),
    ("selu", lambda x: 1.05 * np.where(x > 0, x, 1.67 * np.expm1(np.minimum(x, 0))), X),
    ("celu", lambda x: np.maximum(x, 0) + np.minimum(0, 2 * np.expm1(x / 2)), X),
    ("softsign", lambda x: x / (1 + np.abs(x)), X),
    ("silu", lambda x: x * sc.expit(x), X),
    ("gelu", lambda x: x * (1 + sc.erf(x / np.sqrt(2))) / 2, X),
    ("mish", lambda x: x * np.tanh(np.log1p(np.exp(x))), X),
    (
        "hardswish/hardsigmoid/hardtanh",
        lambda x: (np.clip(x, -1, 1), x * np.clip(x / 6 + 0.5, 0, 1)),
        X,
    ),
    ("glu", lambda x: x[:, :2] * sc.expit(x[:, 2:]), X),
    ("layer_norm", layer_norm, X),
    ("batch norm", lambda x: (x - x.mean(0)) / x.std(0), X),
    ("cross entropy (labels)", cross_entropy, X),
    (
        "binary cross entropy with logits",
        lambda x: np.mean(np.logaddexp(0, x) - x * (NOISE > 0)),
        X,
    ),
    ("top_k", lambda v: np.sort(v)[::-1][:2] + v[np.argsort(v)[-2:]], V),
    ("dynamic slice", lambda v, i: v[i : i + 2], V, np.int64(1)),
    ("dynamic update slice", lambda v: np.concatenate([v[:1], 2 * v[4:], v[3:]]), V),
    ("segment_sum", lambda v: np.bincount(SEGMENTS, weights=v), V),
    ("segment_max/min", segment_extremes, V),
    ("segment_prod", segment_products, V),
    ("segment mean", segment_means, V),
    ("embedding lookup", lambda x: x[LABELS % 3], X),
    ("sparse (COO) @ dense", lambda x: (SPARSE @ x.T, x @ SPARSE, SPARSE.dot(x[0])), X),
    ("conv2d (stride, padding)", convolution, IMAGE, KERNEL),
    ("grouped / depthwise", convolution, IMAGE, KERNEL),
    ("max pool", pooling, IMAGE),
    ("average pool", pooling, IMAGE),
    ("im2col / unfold", lambda image: sliding_window_view(image, (2, 2, 2)).reshape(-1, 8), IMAGE),
    (
        "pixel shuffle",
        lambda image: image.reshape(2, 2, 3, 6).transpose(2, 0, 3, 1).reshape(6, 12),
        IMAGE,
    ),
    ("attention", attention, X, W),
    ("gradient inside a gradient", lambda x: np.sum(np.tanh(x) ** 2) * x, X),
    ("normal (location, scale)", draws, X, T),
    ("Gumbel softmax", draws, X, T),
    ("dropout", draws, X, T),
]


def test_functions_written_out_in_numpy_are_recorded(case, check):
    _, f, *args = case
    check(f, *args)
