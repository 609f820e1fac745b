"""Functions with several results: their number and container, as in NumPy and SciPy."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Outputs:
    """A call's results: the container that is made of them, and their number."""

    kind: Callable[[Sequence[Any]], Any]
    count: int


#: The number of a call's results by its arguments, defaults included; ``None`` for a single array.
Count = Callable[[Mapping[str, Any]], int | None]


def results(
    name: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Outputs | None:
    """The container of a call's results; ``None`` for a single array."""
    rule = COUNTS.get(name)
    if rule is None:
        return None
    bound = inspect.signature(function).bind(*args, **kwargs)
    bound.apply_defaults()
    count = rule(bound.arguments)
    if count is None:
        return None
    if name == "scipy.linalg.cho_factor":
        return Outputs(lambda parts: (parts[0], bool(bound.arguments["lower"])), count)
    if name in NAMED_TUPLES:
        return Outputs(named_tuple(function)._make, count)
    return Outputs(list if rule is _split else tuple, count)


def named_tuple(function: Callable[..., Any]) -> Any:
    """The class of the results of one of NumPy's functions, which has no public name."""
    return type(function(np.ones((1, 1))))


def _always(count: int) -> Count:
    return lambda given: count


def _inputs(parameter: str) -> Count:
    return lambda given: len(given[parameter])


def _if(parameter: str, then: int | None, otherwise: int | None) -> Count:
    return lambda given: then if given[parameter] else otherwise


def _split(given: Mapping[str, Any]) -> int:
    sections = given["indices_or_sections"]
    return int(sections) if isinstance(sections, (int, np.integer)) else len(sections) + 1


def _unique(given: Mapping[str, Any]) -> int | None:
    asked = ("return_index", "return_inverse", "return_counts")
    return 1 + sum(bool(given[name]) for name in asked) if any(map(given.get, asked)) else None


def _gradient(given: Mapping[str, Any]) -> int | None:
    axis = given["axis"]
    if isinstance(axis, (int, np.integer)):
        return None
    count = np.ndim(given["f"]) if axis is None else len(axis)
    return None if count == 1 and axis is None else count


NAMED_TUPLES = frozenset(f"np.linalg.{name}" for name in ("eigh", "eig", "slogdet", "svd", "qr"))
COUNTS: dict[str, Count] = {
    "np.linalg.eigh": _always(2),
    "np.linalg.eig": _always(2),
    "np.linalg.slogdet": _always(2),
    "np.linalg.svd": _if("compute_uv", 3, None),
    "np.linalg.qr": lambda given: None if given["mode"] == "r" else 2,
    "np.linalg.lstsq": _always(4),
    "np.split": _split,
    "np.array_split": _split,
    "np.hsplit": _split,
    "np.vsplit": _split,
    "np.dsplit": _split,
    "np.unstack": lambda given: np.shape(given["x"])[given["axis"]],
    "np.meshgrid": _inputs("xi"),
    "np.ix_": _inputs("args"),
    **dict.fromkeys(
        ("np.atleast_1d", "np.atleast_2d", "np.atleast_3d"),
        lambda given: len(given["arys"]) if len(given["arys"]) != 1 else None,
    ),
    "np.nonzero": lambda given: np.ndim(given["a"]),
    "np.unravel_index": _inputs("shape"),
    "np.unique": _unique,
    "np.histogram": _always(2),
    "np.gradient": _gradient,
    "scipy.linalg.lu": _if("permute_l", 2, 3),
    "scipy.linalg.lu_factor": _always(2),
    "scipy.linalg.cho_factor": _always(1),
    "scipy.linalg.qr": lambda given: 1 if given["mode"] == "r" else 2,
    "scipy.linalg.svd": _if("compute_uv", 3, None),
    "scipy.linalg.eigh": _if("eigvals_only", None, 2),
    "scipy.linalg.eig": _if("right", 2, None),
    "scipy.linalg.lstsq": _always(4),
    "scipy.linalg.polar": _always(2),
    "scipy.linalg.expm_frechet": _if("compute_expm", 2, None),
}
