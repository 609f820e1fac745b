"""What a release has answered, later ones answer: see README.md."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

import pytest

from tests.releases.answers import COUNT, HERE, answer, served

RELEASES = {path.stem: json.loads(path.read_text()) for path in sorted(HERE.glob("*.json"))}
#: Of each number, relative to the largest of its member of the answer.
TOLERANCE, SINGLE = 1e-9, 2e-5
#: Words for people, which may become better.
WORDS = frozenset(("detail", "hint"))


@pytest.mark.thorough
@pytest.mark.parametrize("release", RELEASES)
async def test_programs_have_the_ids_and_the_answers_that_they_had(release: str):
    assert len(RELEASES[release]) <= COUNT  # but for what was corrected
    async with served() as http:
        for case in RELEASES[release]:
            status, found = await answer(http, case)
            assert status == 200, (case, found)
            tolerance = SINGLE if "float32" in json.dumps(case["body"]) else TOLERANCE
            for name, before in case["answer"].items():
                where = f"{case['body']['program']}: {name}"
                least = tolerance * max(map(abs, numbers(before)), default=0.0)
                compare(where, found.get(name), before, tolerance, least)


def numbers(of: Any) -> Iterator[float]:
    """All numbers in a member of an answer."""
    if isinstance(of, dict | list):
        for part in of.values() if isinstance(of, dict) else of:
            yield from numbers(part)
    elif isinstance(of, int | float):
        yield float(of)


def compare(where: str, found: Any, before: Any, tolerance: float, least: float) -> None:
    """Fail where an answer is another one: members may be added, and words changed."""
    if isinstance(before, dict):
        assert isinstance(found, dict), where
        for name in before.keys() - WORDS:
            compare(f"{where}.{name}", found.get(name), before[name], tolerance, least)
    elif isinstance(before, list):
        assert isinstance(found, list), where
        assert len(found) == len(before), where
        for number, (one, other) in enumerate(zip(found, before, strict=True)):
            compare(f"{where}[{number}]", one, other, tolerance, least)
    elif isinstance(before, float | int) and not isinstance(before, bool):
        assert isinstance(found, float | int), (where, found, before)
        close = math.isclose(found, before, rel_tol=tolerance, abs_tol=least)
        assert close, (where, found, before)
    else:
        assert found == before, (where, found, before)


@pytest.mark.parametrize(
    "found",
    [{"x": [1.0, 2.0 + 1e-6]}, {"x": [1.0]}, {"x": None}, {}, None, {"x": [1.0, "NaN"]}],
    ids=repr,
)
def test_another_answer_is_found(found: Any):
    before = {"x": [1.0, 2.0], "detail": "some words"}
    compare("same", {"x": [1.0, 2.0 + 1e-12], "more": 1}, before, TOLERANCE, 2 * TOLERANCE)
    with pytest.raises(AssertionError):
        compare("another", found, before, TOLERANCE, 2 * TOLERANCE)
