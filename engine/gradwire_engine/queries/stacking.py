"""Answers of some examples each, put together to one of all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from gradwire_engine.answer import Answer, Array
from gradwire_engine.errors import ArgumentError, DtypeMismatch, Place, ShapeMismatch

#: The examples of an answer, and the answer of these alone.
Part = tuple[Array, Answer]
#: The members of an array by its nonzeros.
_COORDINATES = {"indices", "values", "shape"}


def merged(parts: Sequence[Part]) -> Answer:
    """One answer, what it says of each example taken from the part that holds for it."""
    if len(parts) == 1:
        return parts[0][1]
    masks, every = zip(*parts, strict=True)

    def merge(trees: Iterable[Any]) -> Any:
        return _merge(masks, [*trees])

    names = dict.fromkeys(name for answer in every for name in answer.derivatives)
    updated = dict.fromkeys(path for answer in every for path in answer.updates)
    return Answer(
        merge(answer.value for answer in every),
        merge(answer.outputs for answer in every),
        {name: merge(answer.derivatives.get(name) for answer in every) for name in names},
        {path: why for answer in every[::-1] for path, why in answer.unconnected.items()},
        {path: merge(answer.updates.get(path) for answer in every) for path in updated},
        list(dict.fromkeys(notice for answer in every for notice in answer.warnings)),
        next((answer.nonfinite for answer in every if answer.nonfinite), {}),
    )


def _merge(masks: Sequence[Array], trees: Sequence[Any]) -> Any:
    """The nested arrays with each example's from its tree, zeros where that has none."""
    present = [tree for tree in trees if tree is not None]
    if not present:
        return None
    first = present[0]
    if isinstance(first, dict | list):
        keys = [*first] if isinstance(first, dict) else [*range(len(first))]
        if any(type(x) is not type(first) or len(x) != len(first) for x in present):
            raise _unlike("structures")
        if isinstance(first, dict) and first.keys() == _COORDINATES:
            trees = _of_one_length(masks, trees, first)
        items = [[x if x is None else x[key] for x in trees] for key in keys]
        merged = [_merge(masks, item) for item in items]
        return dict(zip(keys, merged, strict=True)) if isinstance(first, dict) else merged
    if len({x.shape[1:] for x in present}) > 1:
        raise _unlike("shapes")
    if len({x.dtype for x in present}) > 1:
        found = " and ".join(sorted({str(x.dtype) for x in present}))
        raise _unlike(f"dtypes, {found}", DtypeMismatch)
    whole = np.zeros((masks[0].size, *first.shape[1:]), first.dtype)
    for took, tree in zip(masks, trees, strict=True):
        if tree is not None:
            whole[took] = tree
    return whole


def _of_one_length(
    masks: Sequence[Array], trees: Sequence[Any], first: Mapping[str, Array]
) -> list[dict[str, Array]]:
    """Coordinates of as many elements each: those that are added repeat a place with a zero."""
    most = max(tree["values"].shape[1] for tree in trees if tree is not None)

    def longer(tree: Mapping[str, Array]) -> dict[str, Array]:
        short = most - tree["values"].shape[1]
        after = [(0, 0), (0, short), *[(0, 0)] * first["values"].ndim]
        padded = {p: np.pad(tree[p], after[: tree[p].ndim]) for p in ("indices", "values")}
        return {**tree, **padded}

    def nothing(count: int) -> dict[str, Array]:
        one = {part: np.repeat(array[:1], count, axis=0) for part, array in first.items()}
        return one | {"values": np.zeros_like(one["values"])}

    pairs = zip(masks, trees, strict=True)
    return [longer(nothing(took.sum()) if tree is None else tree) for took, tree in pairs]


def _unlike(what: str, kind: type[ArgumentError] = ShapeMismatch) -> ArgumentError:
    return kind(
        f"the examples give results of different {what}, which do not stack",
        at=Place(pointer="/batch"),
        hint="send such examples one by one",
    )
