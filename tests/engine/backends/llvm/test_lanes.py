"""The vectorised loop: never one whose passes must come one after the other."""

from __future__ import annotations

import pytest

pytest.importorskip("llvmlite")

from gradwire_engine.backends.llvm.lanes import vectorized
from gradwire_engine.kernels.form import (
    Add,
    Affine,
    Apply,
    Carried,
    Carry,
    Load,
    Nest,
    Reduce,
    Store,
)


def rows(n: int, columns: int) -> Nest:
    """The largest of each row."""
    return Nest(
        (n, columns),
        1,
        (Load(0, Affine((columns, 1), 0), None, "d"),),
        (Reduce("max", 1, Affine((1, 0), 0), 0),),
    )


@pytest.mark.parametrize(
    ("shape", "loop"),
    [((1000, 3), 0), ((1000, 10), 0), ((1000, 64), 1), ((5, 64), 1), ((5, 3), None)],
)
def test_rows_of_few_columns_are_reduced_side_by_side(shape, loop):
    assert vectorized(rows(*shape)) == loop


@pytest.mark.parametrize(("n", "loop"), [(100, 0), (7, None)])
def test_passes_that_carry_values_on_come_one_after_the_other(n, loop):
    at = Affine((100, 1), 0)
    nodes = Load(0, at, None, "d"), Carried(0, "d"), Apply("add", (1, 0), "d")
    nest = Nest((n, 100), 1, nodes, (Store(1, at, 2),), carries=(Carry(2, 0.0, "d"),))
    assert vectorized(nest) == loop


@pytest.mark.parametrize(
    ("index", "lengths", "loop"),
    [
        ((1, 0), (100, 100), 1),  # rows are added
        ((0, 1), (100, 100), 1),
        ((3, 1), (100, 3), None),  # lanes along the first would come before passes of the second
        ((1, 0), (100, 3), 0),
    ],
)
def test_no_other_index_from_data_is_within_lanes(index, lengths, loop):
    coefficients = tuple([0 if c else 1 for c in index])
    nodes = Load(0, Affine(index, 0), None, "l"), Load(1, Affine((3, 1), 0), None, "d")
    root = Add(2, Affine(coefficients, 0, ((0, 3),)), 1)
    assert vectorized(Nest(lengths, 2, nodes, (root,))) == loop
