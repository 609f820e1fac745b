"""Colourings: what they promise for all patterns, and how few colours well-known ones take."""

import numpy as np
import pytest
from gradwire_engine.autodiff.coloring import color_columns, color_symmetric
from gradwire_engine.autodiff.sparsity import Pattern
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

MATRICES = arrays(bool, array_shapes(min_dims=2, max_dims=2, max_side=9))


def poll():
    """There is no deadline."""


def pattern_of(dense):
    rows, columns = np.nonzero(dense)
    return Pattern(rows, columns, dense.shape)


@given(MATRICES)
def test_columns_of_one_color_share_no_row(dense):
    colors = color_columns(pattern_of(dense), poll)
    for color in set(colors):
        assert (dense[:, colors == color].sum(axis=1) <= 1).all()


@given(st.integers(1, 9).flatmap(lambda n: arrays(bool, (n, n))))
def test_every_pair_of_a_star_coloring_is_alone_in_one_of_its_rows(dense):
    dense |= dense.T
    colors = color_symmetric(pattern_of(dense), poll)
    beside = np.stack([dense[:, colors == color].sum(axis=1) for color in colors], axis=1)
    alone = beside == 1
    assert (alone | alone.T)[dense].all()


def band(size, width):
    i = np.arange(size)
    return abs(i[:, None] - i) <= width


@pytest.mark.parametrize("width", [0, 1, 2, 5])
def test_a_band_takes_as_many_colors_as_it_is_wide(width):
    pattern = pattern_of(band(60, width))
    assert color_columns(pattern, poll).max() == 2 * width
    assert color_symmetric(pattern, poll).max() == 2 * width


def test_an_arrow_takes_all_colors_but_two_where_it_is_symmetric():
    dense = band(50, 0)
    dense[0] = dense[:, 0] = True
    pattern = pattern_of(dense)
    assert color_columns(pattern, poll).max() == 49
    assert color_symmetric(pattern, poll).max() == 1


def test_a_plane_of_neighbors_takes_a_handful():
    one = band(20, 1)
    grid = np.kron(band(20, 0), one) | np.kron(one, band(20, 0))
    assert color_columns(pattern_of(grid), poll).max() < 8
    assert color_symmetric(pattern_of(grid), poll).max() < 6


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (3, 3)])
def test_nothing_takes_one_color(shape):
    assert (color_columns(pattern_of(np.zeros(shape, bool)), poll) == np.zeros(shape[1])).all()
