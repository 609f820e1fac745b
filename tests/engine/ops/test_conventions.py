"""Gradients at ties, kinks and singular points: our rule, one test a row."""

from math import inf, log, nan
from typing import Any

import numpy as np
import pytest

SYMMETRIC, EYE, ZERO = np.array([[2, 1], [1, 3.0]]), np.eye(2), np.zeros((2, 2))
RANK1, TALL = np.array([[1, 2], [2, 4.0]]), np.array([[1, 2], [0, 1], [3, -1.0]])
VECTORS = np.linalg.eigh(SYMMETRIC)[1]


def in_lower_triangle(bar):
    """The cotangent of a symmetric matrix of which one triangle is read."""
    return np.tril(bar) + np.tril(bar, -1)


def of_svd(a):
    """``u diag(1, 10) v^T`` with the vectors that LAPACK chose."""
    u, _, vt = np.linalg.svd(a)
    return u @ np.diag([1, 10]) @ vt


def of_pinv(a):
    """Golub and Pereyra's formula for the sum of all elements of the pseudoinverse ``z``."""
    z = np.linalg.pinv(a)
    bar, rows, columns = np.ones_like(z), np.eye(len(a)), np.eye(a.shape[1])
    through = -z.T @ bar @ z.T
    return through + (rows - a @ z) @ bar.T @ z @ z.T + z.T @ z @ bar.T @ (columns - z @ a)


ROWS: dict[str, Any] = {
    "abs(0)": (lambda f, x: f.abs(x), [0], [0]),
    "relu(0)": (lambda f, x: f.relu(x), [0], [0]),
    "relu6(0), relu6(6)": (lambda f, x: f.relu6(x), [[0, 6]], [[0, 0]]),
    "leaky_relu(0)": (lambda f, x: f.leaky_relu(x, 0.2), [0], [0.2]),
    "elu(0)": (lambda f, x: f.elu(x), [0], [1]),
    "maximum(a,b) a=b": (lambda f, a, b: f.maximum(a, b), [2, 2], [1, 0]),
    "minimum(a,b) a=b": (lambda f, a, b: f.minimum(a, b), [2, 2], [1, 0]),
    "maximum(x,x)": (lambda f, x: f.maximum(x, x), [2], [1]),
    "clip(-1..1) at -1,1": (lambda f, x: f.clip(x, -1, 1), [[-1, 1]], [[1, 1]]),
    "sqrt(0)": (lambda f, x: f.sqrt(x), [0], [inf]),
    "x**0 at 0 (const)": (lambda f, x: f.power(x, 0.0), [0], [0]),
    "x**1 at 0 (const)": (lambda f, x: f.power(x, 1.0), [0], [1]),
    "x**2 at 0 (const)": (lambda f, x: f.power(x, 2.0), [0], [0]),
    "x**0.5 at 0": (lambda f, x: f.power(x, 0.5), [0], [inf]),
    "x**(1/3) at 0": (lambda f, x: f.power(x, 1 / 3), [0], [inf]),
    "pow(0,0) wrt (x,y)": (lambda f, x, y: f.power(x, y), [0, 0], [0, 0]),
    "pow(0,1) wrt (x,y)": (lambda f, x, y: f.power(x, y), [0, 1], [1, 0]),
    "pow(0,2) wrt (x,y)": (lambda f, x, y: f.power(x, y), [0, 2], [0, 0]),
    "pow(-2,2) wrt (x,y)": (lambda f, x, y: f.power(x, y), [-2, 2], [-4, 0]),
    "log(0)": (lambda f, x: f.log(x), [0], [inf]),
    "1/x at 0": (lambda f, x: f.divide(1.0, x), [0], [-inf]),
    "a/b at 0/0": (lambda f, a, b: f.divide(a, b), [0, 0], [inf, nan]),
    "x*log(x) at 0": (lambda f, x: f.multiply(x, f.log(x)), [0], [nan]),
    "xlogy(0,0)": (lambda f, x, y: f.xlogy(x, y), [0, 0], [0, 0]),
    "arcsin(1)": (lambda f, x: f.arcsin(x), [1], [inf]),
    "where(x>0,sqrt(x),0) at 0": (
        lambda f, x: f.where(f.greater(x, 0), f.sqrt(x), 0),
        [0],
        [0],
    ),
    "where(x>0,log(x),0) at 0": (
        lambda f, x: f.where(f.greater(x, 0), f.log(x), 0),
        [0],
        [0],
    ),
    "sign(0), sign(1)": (lambda f, x: f.sign(x), [[0, 1]], [[0, 0]]),
    "floor(1.5), floor(2)": (lambda f, x: f.floor(x), [[1.5, 2]], [None]),
    "round(1.4)": (lambda f, x: f.round(x), [1.4], [None]),
    "mod(7,3) wrt (a,b)": (lambda f, a, b: f.mod(a, b), [7, 3], [1, -2]),
    "mod(6,3) at the jump": (lambda f, a, b: f.mod(a, b), [6, 3], [1, -2]),
    "mod(-7,3)": (lambda f, a, b: f.mod(a, b), [-7, 3], [1, 3]),
    "logsumexp all -inf": (lambda f, x: f.logsumexp(x), [[-inf, -inf]], [[0, 0]]),
    "logsumexp [inf,0]": (lambda f, x: f.logsumexp(x), [[inf, 0]], [[1, 0]]),
    "logaddexp(-inf,-inf)": (lambda f, x, y: f.logaddexp(x, y), [-inf, -inf], [0, 0]),
    "softplus(-1000,0,1000)": (lambda f, x: f.softplus(x), [[-1000, 0, 1000]], [[0, 0.5, 1]]),
    "arctan2(0,0)": (lambda f, y, x: f.arctan2(y, x), [0, 0], [0, 0]),
    "hypot(0,0)": (lambda f, x, y: f.hypot(x, y), [0, 0], [0, 0]),
    "sinc(0)": (lambda f, x: f.sinc(x), [0], [0]),
    "reduce_max [1,3,3]": (lambda f, x: f.reduce_max(x, 0), [[1, 3, 3]], [[0, 0.5, 0.5]]),
    "max() global, torch.max [1,3,3]": (lambda f, x: f.max(x), [[1, 3, 3]], [[0, 0.5, 0.5]]),
    "reduce_min [1,1,2]": (lambda f, x: f.reduce_min(x), [[1, 1, 2]], [[0.5, 0.5, 0]]),
    "top_k(2) [3,3,3]": (lambda f, x: f.top_k(x, 2)[0], [[3, 3, 3]], [[1, 1, 0]]),
    "norm([0,0])": (lambda f, x: f.norm(x), [[0, 0]], [[0, 0]]),
    "norm axis": (lambda f, x: f.norm(x, axis=1), [[[0, 0], [3, 4]]], [[[0, 0], [0.6, 0.8]]]),
    "sqrt(sum(x*x)) at 0": (lambda f, x: f.sqrt(f.sum(f.multiply(x, x))), [[0, 0]], [[nan, nan]]),
    "norm1([0,2])": (lambda f, x: f.norm(x, 1), [[0, 2]], [[0, 1]]),
    "norm_inf([2,-2])": (lambda f, x: f.norm(x, inf), [[2, -2]], [[0.5, -0.5]]),
    "sort ties, seed [1,10,100] x=[2,1,2]": (
        lambda f, x: f.multiply(f.sort(x), [1, 10, 100]),
        [[2, 1, 2]],
        [[10, 1, 100]],
    ),
    "median [2,2,1]": (lambda f, x: f.median(x), [[2, 2, 1]], [[0.5, 0.5, 0]]),
    "median even [1,2,3,4]": (lambda f, x: f.median(x), [[1, 2, 3, 4]], [[0, 0.5, 0.5, 0]]),
    "prod one zero [2,0,4]": (lambda f, x: f.prod(x), [[2, 0, 4]], [[0, 8, 0]]),
    "prod two zeros [0,3,0]": (lambda f, x: f.prod(x), [[0, 3, 0]], [[0, 0, 0]]),
    "cumprod one zero [2,0,4]": (lambda f, x: f.cumprod(x), [[2, 0, 4]], [[1, 10, 0]]),
    "std of 1 element": (lambda f, x: f.std(x), [[3]], [[0]]),
    "std of equal elements": (lambda f, x: f.std(x), [[3, 3, 3]], [[0, 0, 0]]),
    "var of 1 element": (lambda f, x: f.var(x), [[3]], [[0]]),
    "cholesky [[4,2],[2,3]]": (
        lambda f, x: f.cholesky(x),
        [[[4, 2], [2, 3]]],
        [[[0.125 + 2**-3.5, 0.25 - 2**-2.5], [0.25 - 2**-2.5, 2**-1.5]]],
    ),
    "det singular rank1 [[1,2],[2,4]]": (
        lambda f, x: f.det(x),
        [[[1, 2], [2, 4]]],
        [[[4, -2], [-2, 1]]],
    ),
    "det zero matrix": (lambda f, x: f.det(x), [[[0, 0], [0, 0]]], [[[0, 0], [0, 0]]]),
    "eigvalsh [[2,1],[1,3]] seed (1,10)": (
        lambda f, x: f.multiply(f.eigvalsh(x), [1, 10]),
        [SYMMETRIC],
        [in_lower_triangle(VECTORS @ np.diag([1, 10]) @ VECTORS.T)],
    ),
    "eigvalsh degenerate I, seed (1,10)": (
        lambda f, x: f.multiply(f.eigvalsh(x), [1, 10]),
        [EYE],
        [[[1, 0], [0, 10]]],
    ),
    "eigh vectors degenerate I, seed [[1,2],[3,4]]": (
        lambda f, x: f.multiply(f.eigh(x)[1], [[1, 2], [3, 4]]),
        [EYE],
        [[[0, 0], [0, 0]]],
    ),
    "svdvals equal (I)": (lambda f, x: f.multiply(f.svdvals(x), [1, 10]), [EYE], [of_svd(EYE)]),
    "svdvals zero matrix": (
        lambda f, x: f.multiply(f.svdvals(x), [1, 10]),
        [ZERO],
        [of_svd(ZERO)],
    ),
    "pinv rank deficient [[1,2],[2,4]]": (lambda f, x: f.pinv(x), [RANK1], [of_pinv(RANK1)]),
    "pinv 3x2": (lambda f, x: f.pinv(x), [TALL], [of_pinv(TALL)]),
    "max_pool [1,1]": (lambda f, x: f.max_pool(x, 2), [[[[1, 1]]]], [[[[1, 0]]]]),
    "softmax one -inf": (lambda f, x: f.softmax(x), [[0, -inf]], [[0, 0]]),
    "abs(x)**2 at 0": (lambda f, x: f.square(f.abs(x)), [0], [0]),
}

MORE: dict[str, Any] = {
    "relu of an integer stays one": (lambda f, x: f.relu(f.floor(x)), [2], [None]),
    "maximum(0,x) at 0": (lambda f, x: f.maximum(0, x), [0], [0]),
    "maximum(x,0) at 0": (lambda f, x: f.maximum(x, 0), [0], [1]),
    "clip's bounds get what was clipped": (
        lambda f, x, low, high: f.clip(x, low, high),
        [[-3, -1, 0, 1, 2, 5], -1, 1],
        [[0, 1, 1, 1, 0, 0], 1, 2],
    ),
    "clip with bounds crossed gives the upper": (
        lambda f, x, low, high: f.clip(x, low, high),
        [0, 2, 1],
        [0, 0, 1],
    ),
    "abs(0) complex": (lambda f, x: f.abs(x), [0j], [0j]),
    "angle(0) complex": (lambda f, x: f.angle(x), [0j], [0j]),
    "xlogy(0,2)": (lambda f, x, y: f.xlogy(x, y), [0, 2], [log(2), 0]),
    "logaddexp2(-inf,-inf)": (lambda f, x, y: f.logaddexp2(x, y), [-inf, -inf], [0, 0]),
    "logaddexp(inf,0)": (lambda f, x, y: f.logaddexp(x, y), [inf, 0], [1, 0]),
    "log_softmax one -inf, its own output unread": (
        lambda f, x: f.where(f.isfinite(x), f.log_softmax(x), 0),
        [[0, -inf]],
        [[0, 0]],
    ),
    "nan_to_num of what was replaced": (
        lambda f, x: f.nan_to_num(x),
        [[nan, inf, -inf, 2]],
        [[0, 0, 0, 1]],
    ),
    "nan_to_num of what has no slope": (
        lambda f, x: f.nan_to_num(x / (x - x)) + f.nan_to_num(f.log(x)) + x,
        [[0, -1, 2]],
        [[1, 1, 1.5]],
    ),
    "elu far below": (lambda f, x: f.elu(x), [[-1000, 1000]], [[0, 1]]),
    "sigmoid far out": (lambda f, x: f.sigmoid(x), [[-1000, 1000]], [[0, 0]]),
    "gelu far out": (lambda f, x: f.gelu(x), [[-100, 100]], [[0, 1]]),
}

EXPECTED = ROWS | MORE


@pytest.mark.parametrize("row", EXPECTED)
def test_gradient(row, gradients):
    function, values, expected = EXPECTED[row]
    found = gradients(function, *values)
    assert len(found) == len(expected)
    for one, wanted in zip(found, expected, strict=True):
        if wanted is None:
            assert one is None
        else:
            assert np.asarray(one) == pytest.approx(np.asarray(wanted), 1e-9, 1e-15, nan_ok=True)


@pytest.mark.parametrize(
    ("row", "function"),
    {
        "inv singular": lambda f, x: f.inv(x),
        "logabsdet singular": lambda f, x: f.slogdet(x)[1],
    }.items(),
)
def test_no_gradient(row, function, gradients):
    with pytest.raises(np.linalg.LinAlgError):
        gradients(function, [[1, 2], [2, 4]])
