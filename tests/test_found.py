"""What new seeds have found stays mended: each file of `make explore` is replayed."""

import asyncio
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from subprocess import PIPE, STDOUT, run
from typing import Any

import httpx
import numpy as np
import pytest

from tests.exploring import FOUND

ROOT = Path(__file__).parents[1]
FILES = {file.stem: json.loads(file.read_text("utf-8")) for file in FOUND.glob("*.json")}


@pytest.mark.parametrize("name", sorted(FILES))
def test_what_was_found_is_mended(name):
    found = FILES[name]
    assert found.keys() & {"test", "request"}
    if "request" in found:
        asyncio.run(ask(found["path"], found["request"]))
    if "test" in found:
        draw_again(found["test"], found["seed"])


async def ask(path: str, request: Any) -> None:
    """An answer is what it is without optimisation, and its gradient is not found to be wrong."""
    from tests.patient import patient_app

    app = patient_app()
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
            assert all(one["ok"] or not one["decided"] for one in checks(checked["checks"])), (
                checked
            )
    app.state.executors.shut()


def checks(nested: Any) -> Iterator[Any]:
    """The checks of all sources, in whichever structure these are."""
    if isinstance(nested, dict) and "decided" in nested:
        yield nested
    elif isinstance(nested, dict | list):
        for item in nested.values() if isinstance(nested, dict) else nested:
            yield from checks(item)


def draw_again(test: str, seed: int) -> None:
    """The test passes with the seed, unless it draws in another way by now."""
    command = [sys.executable, "-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider"]
    command += [test, f"--explore={seed}"]
    done = run(command, cwd=ROOT, stdout=PIPE, stderr=STDOUT, text=True, check=False)
    assert done.returncode == 0, done.stdout


def assert_near(actual: Any, expected: Any) -> None:
    """Equal but for rounding, wherever there are numbers."""
    if isinstance(expected, dict):
        assert actual.keys() == expected.keys()
        for key in expected.keys() - {"id", "program"}:
            assert_near(actual[key], expected[key])
    elif isinstance(expected, list) and any(isinstance(item, dict) for item in expected):
        for one, other in zip(actual, expected, strict=True):
            assert_near(one, other)
    elif isinstance(expected, str | None):
        assert actual == expected
    else:
        np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-8)


@pytest.mark.thorough
def test_a_failure_that_an_exploration_finds_is_saved_and_fails_until_it_is_mended(tmp_path):
    """In a copy of what an exploration needs, a random test that is wrong for large numbers."""
    for name in ("conftest.py", "effort.py", "exploring.py", "missing.py", "processes.py"):
        (tmp_path / "tests").mkdir(exist_ok=True)
        (tmp_path / "tests" / name).write_text((ROOT / "tests" / name).read_text("utf-8"))
    (tmp_path / "tests/serving.py").touch()
    (tmp_path / "pyproject.toml").write_text('[tool.pytest]\npythonpath = ["."]\n')
    wrong = "from hypothesis import given, strategies as st\n\n" + (
        "@given(st.integers())\ndef test_it(x):\n    assert x < 100\n"
    )
    (tmp_path / "tests/test_wrong.py").write_text(wrong)

    def explored() -> str:
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--explore=3"]
        return run(command, cwd=tmp_path, stdout=PIPE, stderr=STDOUT, text=True, check=False).stdout

    assert "1 failed" in explored()
    (saved,) = (tmp_path / "tests/found").glob("*.json")
    assert json.loads(saved.read_text("utf-8")) == {
        "test": "tests/test_wrong.py::test_it",
        "seed": 3,
    }
    assert "1 failed" in explored()
    (tmp_path / "tests/test_wrong.py").write_text(wrong.replace("x < 100", "x < x + 1"))
    assert "1 passed" in explored()
