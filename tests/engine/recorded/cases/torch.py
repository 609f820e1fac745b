"""Expressions in the names of PyTorch, with their variables; most of them are in ``torch.txt``."""

import ast
import re
from pathlib import Path

import numpy as np

RNG = np.random.default_rng(0)


def normal(*shape):
    return RNG.normal(size=shape).round(2)


def both(*shape):
    return normal(*shape) + 1j * normal(*shape)


SQUARE = normal(3, 3)
VARIABLES = {
    "x": normal(2, 3),
    "y": normal(2, 3),
    "row": normal(1, 3),
    "col": normal(2, 1),
    "v": normal(3),
    "w": normal(3),
    "w2": [0.5, 2.0],
    "v2": [[0.5], [2.0]],
    "p": [[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]],
    "u": [[0.0, 1.0, 0.5], [1.0, 0.25, 0.75]],
    "q": [[1.5, 2.25, 3.5], [1.1, 4.0, 2.75]],
    "single": normal(2, 3).astype(np.float32),
    # Of ties, kinks and holes.
    "edge": [-3.0, -1.0, -0.5, 0.0, 0.5, 1.0, 3.0],
    "tied": [[3.0, 1.0, 3.0], [1.0, 1.0, 2.0]],
    "other": [[3.0, 2.0, 1.0], [1.0, 0.0, 2.0]],
    "zeros": [[2.0, 0.0, 4.0], [0.0, 3.0, 0.0]],
    "gaps": [[np.nan, np.inf, 1.0], [-np.inf, 0.5, 2.0]],
    "holes": [[np.nan, 2.0, 1.0], [0.5, np.nan, 3.0]],
    "origin": [0.0, 0.0, 0.0],
    "whole": [0.0, 1.0, 2.0],
    "holed": [0.0, 3.0, 0.0],
    "triple": [3.0, 3.0, 3.0],
    "jump": [7.0, 6.0, -7.0],
    "vast": [-1000.0, 0.0, 1000.0],
    "least": [0.0, -np.inf, 1.0],
    "nothing": [-np.inf, -np.inf],
    "pair": [2.0, -2.0],
    "bounds": [1.0, -1.0],
    "flat": [[1.0, 2.0], [2.0, 4.0]],
    "void": [[0.0, 0.0], [0.0, 0.0]],
    "unit": np.eye(3),
    "steps": [-0.5, 0.2, 0.9],
    "signs": [[1.0, -1.0, 1.0], [-1.0, 1.0, -1.0]],
    # Integers and booleans.
    "ints": [[-4, 0, 1], [2, 5, 3]],
    "nats": [[0, 1, 4], [3, 2, 1]],
    "index": [2, 0],
    "classes": [2, 0],
    "labels": [[0, 1, 1], [1, 0, 1]],
    "ranked": [[2, 0, -1], [1, -1, 0]],
    "places": [[2, 0, 1], [1, 2, 0]],
    "repeated": [[2, 0, 2], [1, 1, 0]],
    "mask": [[True, False, True], [False, True, False]],
    # Matrices, stacks of them, and images.
    "square": SQUARE,
    "spd": (SQUARE @ SQUARE.T + np.eye(3)).round(2),
    "stack": normal(2, 2, 3),
    "squares": normal(2, 3, 3),
    "cube": normal(2, 3, 3),
    "c": both(2, 3),
    "d": both(2, 3),
    "ca": both(3, 3),
    "image": normal(1, 2, 4, 5),
    "deep": normal(1, 4, 2, 2),
    "rows": normal(1, 2, 6),
    "taps": normal(2, 2, 3),
    "frames": normal(4, 2, 3),
    "targets": [[1, 2], [2, 2]],
    "kernel": normal(3, 2, 2, 2),
    "grouped": normal(2, 1, 2, 2),
    "grid": RNG.uniform(-0.9, 0.9, (1, 2, 3, 2)).round(2),
    "theta": normal(1, 2, 3),
    # Without axes, and of one element.
    "point": 0.7,
    "spot": -0.4,
    "origin_index": 0,
    "first_index": [0],
    "yes": True,
}

#: Functions of one argument, by the variable that has their domain.
ONE_ARGUMENT = {
    "x": "abs neg positive sign square ceil floor trunc round reciprocal sin cos tan sinh cosh "
    "tanh asinh atan exp exp2 expm1 sinc deg2rad rad2deg sigmoid erf erfc isnan isinf isfinite "
    "special.erfcx special.exp2 special.expit special.i0 special.i0e special.i1 special.i1e "
    "special.ndtr special.log_ndtr",
    "p": "asin acos atanh erfinv logit special.erfinv special.ndtri special.logit",
    "q": "sqrt rsqrt log log2 log10 log1p acosh lgamma digamma special.gammaln special.psi "
    "special.bessel_j0 special.bessel_j1 special.bessel_y0 special.bessel_y1 "
    "special.modified_bessel_i0 special.modified_bessel_i1 special.modified_bessel_k0 "
    "special.modified_bessel_k1 special.spherical_bessel_j0 special.scaled_modified_bessel_k0 "
    "special.scaled_modified_bessel_k1",
    "c": "abs neg sgn square reciprocal sin cos tan sinh cosh tanh asin acos atan asinh acosh "
    "atanh exp expm1 log log2 log10 log1p sqrt rsqrt",
}
TEXTS = [
    f"torch.{name}({variable})"
    for variable, names in ONE_ARGUMENT.items()
    for name in names.split()
]
#: Functions that take an array without axes along axis 0 or -1, as their second argument.
OF_SCALARS = (
    "sum mean prod nansum nanmean all any amax amin argmax argmin count_nonzero cumsum cumprod "
    "logsumexp logcumsumexp softmax log_softmax special.softmax special.log_softmax "
    "special.logsumexp nn.functional.softmax nn.functional.log_softmax nn.functional.softmin "
    "squeeze flip masked.sum masked.mean masked.prod masked.amax masked.amin masked.softmax "
    "masked.log_softmax masked.softmin masked.cumsum masked.cumprod masked.logsumexp masked.median"
)
#: Those that give a list of two.
PAIRS_OF_SCALARS = "max min median nanmedian mode sort cummax cummin"
TEXTS += [
    f"torch.{name}(point, {f'({axis},)' if name == 'flip' else axis})"
    for name in OF_SCALARS.split()
    for axis in (0, -1)
]
TEXTS += [
    f"torch.{name}(point, {axis})[{part}]"
    for name in PAIRS_OF_SCALARS.split()
    for axis in (0, -1)
    for part in (0, 1)
]
#: Calls of others that take such an array along an axis.
CALLS_OF_SCALARS = """
argsort(point, {}) msort(point) var(point, {}, correction=0) var_mean(point, {}, correction=0)[0]
std_mean(point, {}, correction=0)[1] aminmax(point, dim={})[0] linalg.vector_norm(point, 3, {})
linalg.norm(point, 2, {}) norm(point, 1, {}, True) linalg.vecdot(point, spot, dim={})
masked.var(point, {}, unbiased=False) masked.norm(point, 2.0, {})
kthvalue(point, 1, {}, True)[0] topk(point, 1, {})[1] quantile(point, 0.3, {})
nanquantile(point, 0.3, {}, True)
gather(point, {}, origin_index) index_select(point, {}, first_index)
index_add(point, {}, origin_index, spot) index_copy(point, {}, origin_index, spot)
index_fill(point, {}, origin_index, 3.0) index_reduce(point, {}, first_index, spot, 'mean')
scatter(point, {}, origin_index, spot) scatter_add(point, {}, origin_index, spot)
scatter_reduce(point, {}, origin_index, spot, 'prod') swapaxes(point, {}, 0) swapdims(point, 0, {})
transpose(point, {}, -1) movedim(point, {}, 0) moveaxis(point, -1, {}) unsqueeze(point, {})
stack([point, spot], {}) flatten(point, {}) squeeze(point, ({},)) logsumexp(point, [{}], True)
sum(point, ({},), True) amax(point, [{}]) any(yes, {}, True) sort(point, {}, True)[1]
sort(point, stable=True, dim={})[0]
"""
TEXTS += [
    f"torch.{call}"
    for calls in re.split(r"(?<=[)\]])\s+", CALLS_OF_SCALARS.strip())
    for call in dict.fromkeys(calls.format(axis) for axis in (0, -1))
]
LINES = (Path(__file__).with_suffix(".txt")).read_text().splitlines()
TEXTS += [line for line in LINES if line and not line.startswith("#")]


def variables_of(text):
    found = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)]
    names = {node.id for node in found} - {n.id for n in found if isinstance(n.ctx, ast.Store)}
    return {name: value for name, value in VARIABLES.items() if name in names}


#: Each an expression and its variables.
CASES = [(text, variables_of(text)) for text in dict.fromkeys(TEXTS)]
#: Programs, the last line of each an expression.
PROGRAMS = Path(__file__).with_suffix(".programs.txt").read_text().strip().split("\n\n")
CASES += [(text, variables_of(text)) for text in PROGRAMS]
