"""What was found by new seeds stays mended: files that `make explore` has written."""

import json
import sys
from pathlib import Path
from subprocess import PIPE, STDOUT, run
from typing import Any

import httpx
import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
FOUND = {
    file.stem: json.loads(file.read_text())
    for file in (Path(__file__).parent / "found").glob("*.json")
}
TESTS = sorted(name for name, found in FOUND.items() if "test" in found)
REQUESTS = sorted(name for name, found in FOUND.items() if "request" in found)


@pytest.mark.thorough
@pytest.mark.parametrize("name", TESTS)
def test_the_test_passes_with_the_seed(name):
    """The seed draws something else once the test or Hypothesis draws in another way."""
    found = FOUND[name]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-p", "no:cacheprovider"]
    command += [found["test"], f"--explore={found['seed']}", "--effort=thorough"]
    done = run(command, cwd=ROOT, stdout=PIPE, stderr=STDOUT, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("name", REQUESTS)
async def test_the_request_is_answered_as_without_optimisation_and_its_gradient_checked(name):
    from gradwire_service.app import create_app

    path, request = FOUND[name]["path"], FOUND[name]["request"]
    app = create_app()
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://service") as client:

        async def answer(to: str, **more: Any) -> Any:
            response = await client.post(to, json=request | more, timeout=None)
            assert response.status_code == 200, response.text
            return response.json()

        plain = await answer(path, exact=True)
        for _ in range(2):  # recorded, and replayed
            assert_near(await answer(path), plain)
        if path == "/v1/gradient":
            checked = await answer("/v1/check")
            assert checked["agrees"] or not checked["decided"], checked
    app.state.executors.shut()


def assert_near(actual: Any, expected: Any) -> None:
    """Equal but for rounding, wherever there are numbers."""
    if isinstance(expected, dict):
        assert actual.keys() == expected.keys()
        for key in expected.keys() - {"id", "program"}:
            assert_near(actual[key], expected[key])
    elif isinstance(expected, list) and any(isinstance(item, dict) for item in expected):
        for one, other in zip(actual, expected, strict=True):
            assert_near(one, other)
    elif isinstance(expected, str):
        assert actual == expected
    else:
        np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-8)
