"""Answers of shards, added up, beside that of the whole."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from gradwire_engine import Answer, Leaf, Shard
from gradwire_engine.nesting import leaves
from numpy.testing import assert_allclose

from tests.engine.conftest import Asker


def divide(value: Any, path: str, of: Sequence[str], rows: slice) -> Any:
    """The values of a shard: of those that are divided, some rows."""
    if isinstance(value, dict):
        return {k: divide(v, f"{path}.{k}" if path else k, of, rows) for k, v in value.items()}
    if any(path == name or path.startswith(f"{name}.") for name in of):
        return Leaf(np.asarray(value)[rows])
    return value


class Objective:
    """A program whose variables ``of`` are divided at ``cuts`` into shards."""

    def __init__(
        self, program: str, variables: dict[str, Any], of: Sequence[str], sizes: Sequence[int]
    ) -> None:
        self.asker = Asker()
        self.program = program
        self.variables = variables
        self.of = tuple(of)
        self.rows = sum(sizes)
        self.cuts = [*pairwise(accumulate(sizes, initial=0))]

    def shards(self, seeds: Any = None, *, residuals: bool = False, **query: Any) -> list[Answer]:
        """The answers of all shards."""
        numbers = range(len(self.cuts))
        return [self.shard(i, seeds, residuals=residuals, **query) for i in numbers]

    def shard(
        self, number: int, seeds: Any = None, *, residuals: bool = False, **query: Any
    ) -> Answer:
        """The answer of one shard."""
        shard = Shard(self.of, self.rows, number == 0, residuals)
        own = divide(self.variables, "", self.of, slice(*self.cuts[number]))
        asked = {"unconnected": "zero", **query, "shard": shard}
        return self.asker.answer(self.program, own, seeds, **asked)

    def whole(self, seeds: Any = None, **query: Any) -> Answer:
        """The answer of all rows at once."""
        asked = {"unconnected": "zero", **query}
        return self.asker.answer(self.program, self.variables, seeds, **asked)

    def check(self, seeds: Any = None, rtol: float = 1e-9, **query: Any) -> None:
        """Compare the sum of the shards' answers, and their types, with that of the whole."""
        answer, shards = self.whole(seeds, **query), self.shards(seeds, **query)
        assert all(kinds(shard) == kinds(answer) for shard in shards)
        whole, parts = numbers(answer), [numbers(shard) for shard in shards]
        size = 1 + np.max(np.abs(np.nan_to_num(parts)), initial=0)
        assert_allclose(sum(parts), whole, rtol=rtol, atol=rtol * size)

    def check_all(self, sources: Sequence[str], rtol: float = 1e-9) -> None:
        """Compare values, gradients and products of Hessians, along the direction of ones."""
        self.check(sources=[*sources], rtol=rtol)
        names = {name: name for name in sources}
        ones = {name: np.ones_like(np.asarray(self.variables[name])) for name in sources}
        self.check(ones, kind="hvp", sources=names, rtol=rtol)
        self.check(ones, kind="jvp", sources=names, rtol=rtol)


def numbers(answer: Answer) -> Any:
    """The value and the derivatives of an answer, one after the other."""
    return flat([answer.value, answer.derivatives])


def kinds(answer: Answer) -> list[tuple[Any, Any]]:
    """The dtypes and shapes of the value and the derivatives of an answer."""
    return [(x.dtype, x.shape) for x in leaves([answer.value, answer.derivatives])]


def flat(nested: Any) -> Any:
    """All elements of nested arrays."""
    if isinstance(nested, dict):
        nested = [*nested.values()]
    if isinstance(nested, list | tuple):
        return np.concatenate([np.empty(0), *[flat(item) for item in nested]])
    return np.ravel(np.asarray(nested, float))
