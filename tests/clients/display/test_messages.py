import numpy as np
import pytest
from gradwire.display.messages import brief, cut
from hypothesis import given
from hypothesis import strategies as st


@given(st.text(st.characters(exclude_characters="…")), st.integers(1, 60))
def test_truncated_text_keeps_both_ends(words, width):
    told = cut(words, width)
    ahead, _, behind = told.partition("…")
    assert words.startswith(ahead)
    assert words.endswith(behind)
    assert len(told) == min(len(words), width)


@pytest.mark.parametrize(
    ("leaf", "words"),
    [
        (None, "none"),
        (np.float64(0.25), "0.25"),
        (np.array([[1.0, -0.0], [np.nan, 1e-9]]), "[[1, 0], [nan, 1e-9]]"),
        (np.zeros((2, 0)), "[[], []]"),
        (np.full(9, 2.0), "all 2"),
        (np.arange(10.0), "0 … 9, mean 4.5"),
        (np.array([np.inf] * 9), "9 not finite"),
        (np.array([1.0, np.nan] * 5), "1, 5 not finite"),
        (1j * np.arange(1, 9), "|·| 1 … 8, mean 4.5"),
        (np.arange(6) > 2, "[False, False, False, True, True, True]"),
        (np.full(6, 1.2345e-200), "all 1.23e-200"),  # a list of six would be too long
        ("words", "'words'"),
    ],
)
def test_leaves_are_summarised_briefly(leaf, words):
    assert brief(leaf) == words
