"""Going through what is long: every item once and in order, and a look before every few."""

import pytest
from gradwire_engine.polling import PIECE, polled
from hypothesis import given
from hypothesis import strategies as st


@given(st.integers(0, 5 * PIECE))
def test_every_item_comes_once_with_a_look_before_each_piece(length):
    since, longest, looks = 0, 0, 0

    def poll():
        nonlocal since, looks
        since, looks = 0, looks + 1

    seen = []
    for item in polled(range(length), poll):
        seen.append(item)
        since += 1
        longest = max(longest, since)
    assert seen == list(range(length))
    assert longest <= PIECE
    assert looks == (-(-length // PIECE) if length > PIECE else 0)


def test_what_the_look_raises_ends_it():
    seen: list[int] = []

    def poll():
        if seen:
            raise TimeoutError

    with pytest.raises(TimeoutError):
        seen.extend(polled(range(10 * PIECE), poll))
    assert len(seen) <= PIECE
