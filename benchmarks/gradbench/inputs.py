"""Small random inputs for each evaluation in GradBench's form; each seed gives others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Input = dict[str, Any]
Draw = np.random.Generator

BONES = 22
#: Joints of a finger that bend; the last of its four bones does not.
FREE_JOINTS = 3


def hello(draw: Draw) -> float:
    """One number, without a name."""
    return float(draw.normal())


def gmm(draw: Draw, *, d: int = 3, k: int = 4, n: int = 20) -> Input:
    """Points of ``d`` dimensions and a mixture of ``k`` components."""
    sizes = {"mu": (k, d), "q": (k, d), "l": (k, d * (d - 1) // 2), "alpha": (k,), "x": (n, d)}
    arrays = {name: draw.normal(size=size).tolist() for name, size in sizes.items()}
    return {"d": d, "k": k, "n": n, **arrays, "gamma": 1.5, "m": 2}


def ba(draw: Draw, *, n: int = 3, m: int = 4, p: int = 10) -> Input:
    """One camera with a point in front of it, each repeated."""
    camera = [*draw.normal(scale=0.1, size=6), 500.0, 320.0, 240.0, 0.01, -0.02]
    x = draw.normal(loc=[0.0, 0.0, 5.0])
    feature = draw.normal(scale=100.0, size=2) + 300.0
    given = {"cam": camera, "x": x.tolist(), "w": draw.uniform(0.5, 1.5), "feat": feature.tolist()}
    return {"n": n, "m": m, "p": p, **given}


def lstm(draw: Draw, *, layers: int = 2, width: int = 5, length: int = 6) -> Input:
    """A text of one-hot characters, and the parameters of stacked cells."""
    text = np.eye(width)[draw.integers(width, size=length)]
    sizes = {"main_params": (2 * layers, 4 * width), "extra_params": (3, width)}
    sizes["state"] = (2 * layers, width)
    return {
        **{name: draw.normal(size=size).tolist() for name, size in sizes.items()},
        "sequence": text.tolist(),
    }


def ht(draw: Draw, *, vertices: int = 12, points: int = 5, on_triangles: bool = True) -> Input:
    """A hand of random bones: a wrist, an arm, and five fingers of four bones each."""
    parents = [-1, 0, *(1 if bone % 4 == 0 else bone + 1 for bone in range(BONES - 2))]
    affine = np.eye(4) + np.pad(draw.normal(scale=0.3, size=(2, BONES, 3, 4)), _LAST_ROW)
    weights = draw.uniform(size=(vertices, BONES))
    corners = draw.integers(vertices, size=(8, 3))
    model = {
        "bone_count": BONES,
        "bone_names": [f"bone{number}" for number in range(BONES)],
        "parents": parents,
        "base_relatives": affine[0].tolist(),
        "inverse_base_absolutes": affine[1].tolist(),
        "base_positions": np.insert(draw.normal(size=(vertices, 3)), 3, 1.0, axis=1).tolist(),
        "weights": (weights / weights.sum(axis=1, keepdims=True)).tolist(),
        "triangles": corners.tolist(),
        "is_mirrored": False,
    }
    numbered = len(corners) if on_triangles else vertices
    data = {
        "model": model,
        "correspondences": draw.integers(numbered, size=points).tolist(),
        "points": draw.normal(size=(points, 3)).tolist(),
    }
    us = draw.uniform(size=2 * points).tolist() if on_triangles else []
    return {"theta": draw.normal(scale=0.5, size=26).tolist(), "data": data, "us": us}


_LAST_ROW = ((0, 0), (0, 0), (0, 1), (0, 0))


def kmeans(draw: Draw, *, points: int = 40, clusters: int = 4, d: int = 3) -> Input:
    """Points, the first of which are the centroids, so that each centroid has a point."""
    drawn = draw.normal(size=(points, d))
    near = drawn[:clusters] + draw.normal(scale=0.01, size=(clusters, d))
    return {"points": drawn.tolist(), "centroids": near.tolist()}


def ode(draw: Draw, *, n: int = 6, s: int = 10) -> Input:
    """The coefficients of a chain of ``n`` equations, and the number of steps."""
    return {"x": draw.uniform(0.5, 1.5, size=n).tolist(), "s": s}


def llsq(draw: Draw, *, n: int = 30, m: int = 5) -> Input:
    """The coefficients of a polynomial, and the number of points."""
    return {"x": draw.normal(size=m).tolist(), "n": n}


def lse(draw: Draw, *, n: int = 50) -> Input:
    """Numbers whose exponentials would overflow."""
    return {"x": (1000 * draw.normal(size=n)).tolist()}


def det(draw: Draw, *, ell: int = 5) -> Input:
    """A square matrix, flattened."""
    return {"A": draw.normal(size=ell * ell).tolist(), "ell": ell}


def particle(_: Draw) -> Input:
    """The start of the descent, the only input with a published answer."""
    return {"w": 0.0}


def saddle(_: Draw) -> Input:
    """The start of all descents, the only input with a published answer."""
    return {"start": [1.0, 1.0]}


GENERATORS: dict[str, Callable[..., Input | float]] = {
    generator.__name__: generator
    for generator in (hello, gmm, ba, lstm, ht, kmeans, ode, llsq, lse, det, particle, saddle)
}


def sample(evaluation: str, seed: int = 0, **sizes: Any) -> Any:
    """A small input of an evaluation; ``sizes`` are the arguments of its generator."""
    return GENERATORS[evaluation](np.random.default_rng(seed), **sizes)
