"""Optimisations that users of other tools reported: a success is one, and a minimum is found.

Right answers are published optima, NIST's certified values, and closed forms, as each case says.
Where no success may be honest, either that is said, or the optimum is found.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

CASES = json.loads(Path(__file__).with_name("solver_reports.json").read_text(encoding="utf-8"))


def holds(answer: Any, expected: dict[str, Any]) -> bool:
    """Whether one expectation, or one of several lists of them, is met."""
    if "any" in expected:
        return any(all(holds(answer, one) for one in every) for every in expected["any"])
    if "at" not in expected:
        return True  # of the status, and of durations, which no test asserts
    for part in expected["at"].strip("/").split("/"):
        answer = answer[part]
    if "is" in expected:
        return answer is expected["is"]
    if "has" in expected:
        return expected["has"] in answer
    if "max" in expected:
        return bool(answer <= expected["max"])
    rtol, atol = expected.get("rtol", 1e-5), expected.get("atol", 1e-8)
    return bool(np.allclose(answer, expected["close"], rtol=rtol, atol=atol))


@pytest.mark.parametrize("case", [pytest.param(case, id=case["name"]) for case in CASES])
async def test_success_means_success(wire: Any, case: dict[str, Any]):
    request = case["request"]
    response = await wire.http.post(request["path"], json=request["body"])
    assert response.status_code == 200, response.text
    answer = response.json()
    wrong = [expected for expected in case["expect"] if not holds(answer, expected)]
    assert not wrong, f"{answer['value']}, {answer['message']}"
