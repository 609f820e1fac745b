"""Functions with several results: their number and container, as in NumPy and SciPy."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Outputs:
    """A call's results: the container that is made of them, and their number."""

    kind: Callable[[Sequence[Any]], Any]
    count: int


#: A call's arguments by parameter, defaults included.
Given = Mapping[str, Any]


def results(
    name: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Outputs | None:
    """The container of a call's results; ``None`` for a single array."""
    rule = RESULTS.get(name)
    if rule is None:
        return None
    bound = inspect.signature(function).bind(*args, **kwargs)
    bound.apply_defaults()
    return rule(bound.arguments)


def _tuple(count: int) -> Outputs:
    return Outputs(tuple, count)


def _list(count: int) -> Outputs:
    return Outputs(list, count)


@cache
def _named_tuple(path: str) -> Callable[[Sequence[Any]], Any]:
    function = getattr(np.linalg, path, None) or getattr(np, path)
    kind: Any = type(function(np.ones((1, 1))))
    return lambda parts: kind(*parts)


def _linalg(name: str, count: int) -> Callable[[Given], Outputs]:
    return lambda given: Outputs(_named_tuple(name), count)


def _svd(given: Given) -> Outputs | None:
    return Outputs(_named_tuple("svd"), 3) if given["compute_uv"] else None


def _qr(given: Given) -> Outputs | None:
    return None if given["mode"] == "r" else Outputs(_named_tuple("qr"), 2)


def _scipy_qr(given: Given) -> Outputs:
    return _tuple(1 if given["mode"] == "r" else 2)


def _split(given: Given) -> Outputs:
    sections = given["indices_or_sections"]
    return _list(int(sections) if isinstance(sections, (int, np.integer)) else len(sections) + 1)


def _unique(given: Given) -> Outputs | None:
    asked = ("return_index", "return_inverse", "return_counts")
    count = 1 + sum(bool(given[name]) for name in asked)
    return None if count == 1 else _tuple(count)


def _gradient(given: Given) -> Outputs | None:
    axis = given["axis"]
    if isinstance(axis, (int, np.integer)):
        return None
    count = np.ndim(given["f"]) if axis is None else len(axis)
    return None if count == 1 and axis is None else _tuple(count)


def _inputs(kind: Any, parameter: str) -> Callable[[Given], Outputs]:
    return lambda given: Outputs(kind, len(given[parameter]))


def _at_least(given: Given) -> Outputs | None:
    count = len(given["arys"])
    return None if count == 1 else _tuple(count)


def _pair(given: Given) -> Outputs:
    return _tuple(2)


RESULTS: dict[str, Callable[[Given], Outputs | None]] = {
    "np.linalg.eigh": _linalg("eigh", 2),
    "np.linalg.eig": _linalg("eig", 2),
    "np.linalg.slogdet": _linalg("slogdet", 2),
    "np.linalg.svd": _svd,
    "np.linalg.qr": _qr,
    "np.linalg.lstsq": lambda given: _tuple(4),
    "np.split": _split,
    "np.array_split": _split,
    "np.hsplit": _split,
    "np.vsplit": _split,
    "np.dsplit": _split,
    "np.unstack": lambda given: _tuple(np.shape(given["x"])[given["axis"]]),
    "np.meshgrid": _inputs(tuple, "xi"),
    "np.ix_": _inputs(tuple, "args"),
    "np.atleast_1d": _at_least,
    "np.atleast_2d": _at_least,
    "np.atleast_3d": _at_least,
    "np.nonzero": lambda given: _tuple(np.ndim(given["a"])),
    "np.unravel_index": lambda given: _tuple(len(given["shape"])),
    "np.unique": _unique,
    "np.histogram": _pair,
    "np.gradient": _gradient,
    "scipy.linalg.lu": lambda given: _tuple(2 if given["permute_l"] else 3),
    "scipy.linalg.lu_factor": _pair,
    "scipy.linalg.cho_factor": lambda given: Outputs(
        lambda parts: (parts[0], bool(given["lower"])), 1
    ),
    "scipy.linalg.qr": _scipy_qr,
    "scipy.linalg.svd": lambda given: _tuple(3) if given["compute_uv"] else None,
    "scipy.linalg.eigh": lambda given: None if given["eigvals_only"] else _tuple(2),
    "scipy.linalg.eig": lambda given: _tuple(2) if given["right"] else None,
    "scipy.linalg.lstsq": lambda given: _tuple(4),
    "scipy.linalg.polar": _pair,
    "scipy.linalg.expm_frechet": lambda given: _tuple(2) if given["compute_expm"] else None,
}
