"""Parts of answers are read by the types of their fields."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from gradwire.documents import Document


@dataclass(frozen=True, slots=True)
class Part(Document):
    name: str
    sizes: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole(Document):
    parts: tuple[Part, ...]
    main: Part | None
    dtype: np.dtype[Any]
    when: datetime
    error: float
    range: tuple[float, ...] | None
    anything: Any
    options: Mapping[str, str] = field(default_factory=dict)


DOCUMENT = {
    "parts": [{"name": "a", "sizes": [1, 2]}, {"name": "b"}],
    "main": {"name": "c", "sizes": None},
    "dtype": "float32",
    "when": "2026-05-04T03:02:01+00:00",
    "error": "Infinity",
    "range": [1, 2.5],
    "anything": [None, {"name": 3}],
    "options": {"x": "y"},
    "of a later version": {},
}
WHOLE = Whole(
    parts=(Part("a", (1, 2)), Part("b")),
    main=Part("c"),
    dtype=np.dtype(np.float32),
    when=datetime(2026, 5, 4, 3, 2, 1, tzinfo=UTC),
    error=math.inf,
    range=(1.0, 2.5),
    anything=[None, {"name": 3}],
    options={"x": "y"},
)


def test_members_are_read_by_the_types_of_fields():
    assert Whole.read(DOCUMENT) == WHOLE


def test_members_that_may_be_missing_are_none_or_have_the_default():
    may = ("main", "range", "anything", "options")
    left = {name: value for name, value in DOCUMENT.items() if name not in may}
    for read in (Whole.read(left), Whole.read({**left, **dict.fromkeys(may)})):
        assert (read.main, read.range, read.anything, read.options) == (None, None, None, {})


@pytest.mark.parametrize("name", ["parts", "dtype", "when", "error"])
def test_members_that_are_needed_are_missed(name):
    with pytest.raises(LookupError, match=name):
        Whole.read({other: value for other, value in DOCUMENT.items() if other != name})


def test_fields_that_are_given_are_not_read():
    given = Whole.read({**DOCUMENT, "dtype": "not one"}, dtype=np.dtype(np.int8))
    assert given.dtype == np.int8
