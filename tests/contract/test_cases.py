"""Every case of the contract, sent to the real application."""

import json
import os
import runpy
import shutil
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from tests.patient import patient_app

HERE = Path(__file__).parent
CASES = sorted((HERE / "cases").glob("*.json"))
MEMBERS = {"id", "title", "rule", "request", "expect", "rtol", "atol"}

differences = runpy.run_path(str(HERE / "compare.py"))["differences"]


@pytest.fixture(scope="module")
async def http() -> AsyncIterator[httpx.AsyncClient]:
    app = patient_app()
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://service") as client:
        yield client
    app.state.executors.shut()


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
async def test_the_application_answers_as_the_case_expects(http, path):
    case = json.loads(path.read_text(encoding="utf-8"))
    request = case["request"]
    response = await http.request(request["method"], request["path"], json=request["body"])
    assert differences(case, response.status_code, response.json()) == []


#: What makes a tape; the rest of a request is asked of it.
MADE_OF = ("program", "variables", "promotion", "exact")


def through_tapes():
    for path in CASES:
        case = json.loads(path.read_text(encoding="utf-8"))
        asked = case["request"]["path"].rpartition("/")[2]
        batched = "batch" in case["request"]["body"]  # a tape is of one example
        if asked != "evaluate" and case["expect"]["status"] == 200 and not batched:
            yield pytest.param(case, asked, id=path.stem)


@pytest.mark.parametrize(("case", "asked"), [*through_tapes()])
async def test_a_tape_answers_as_the_case_expects(http, case, asked):
    body = case["request"]["body"]
    made = {name: body[name] for name in MADE_OF if name in body}
    tape = await http.post("/v1/tapes", json=made)
    question = {name: body[name] for name in body.keys() - made.keys()}
    response = await http.post(f"/v1/tapes/{tape.json()['tape']}/{asked}", json=question)
    assert differences(case, response.status_code, response.json()) == []


SCRIPT = Path("examples/seed_cases.sh")


@pytest.fixture
def run_script(tmp_path):
    """Runs the script on some of the cases; how many, and what it did."""
    few = CASES[::8]
    for path in [HERE.parents[1] / SCRIPT, HERE / "compare.py", *few]:
        copy = tmp_path / path.relative_to(HERE.parents[1])
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy)

    def run(url):
        environment = {**os.environ, "GRADWIRE_URL": url}
        command = [tmp_path / SCRIPT]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        return len(few), done

    return run


@pytest.mark.thorough
def test_curl_finds_the_same(run_script, service_url):
    count, done = run_script(service_url)
    assert (done.stdout, done.stderr) == (f"{count} passed, 0 failed\n", "")
    assert done.returncode == 0


@pytest.mark.thorough
def test_curl_counts_what_is_not_answered(run_script):
    count, done = run_script("http://127.0.0.1:1")
    assert done.stdout.endswith(f"0 passed, {count} failed\n")
    assert done.returncode == 1


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_a_case_has_the_documented_members(path):
    case = json.loads(path.read_text(encoding="utf-8"))
    assert case.keys() == MEMBERS
    assert case["id"] == path.stem
    assert case["request"].keys() == {"method", "path", "body"}
    assert case["expect"].keys() == {"status", "body"}


CASE = {"expect": {"status": 200, "body": None}, "rtol": 1e-3, "atol": 0.0}


@pytest.mark.parametrize(
    ("got", "want", "found"),
    [
        ({"a": 1, "b": 2}, {"a": 1}, []),
        ({"a": 1}, {"a": 1, "b": 2}, ["/b is missing"]),
        ([1, 2.0], [1.0, 2], []),
        ([1.0005], [1.0], []),
        ([1.0, 1.01], [1.0, 1.0], ["/1 is 1.01, expected 1.0"]),
        ([1, 2], [1], [" is [1, 2], expected [1]"]),
        ({"a": [0.0]}, {"a": [None]}, ["/a/0 is 0.0, expected null"]),
        ({"a": None}, {"a": 0.0}, ["/a is null, expected 0.0"]),
        (1, True, [" is 1, expected true"]),
        (["NaN"], ["NaN"], []),
        (["NaN"], ["Infinity"], ['/0 is "NaN", expected "Infinity"']),
        (1.0, [1.0], [" is 1.0, expected [1.0]"]),
    ],
    ids=repr,
)
def test_an_answer_is_compared_as_documented(got, want, found):
    assert differences(CASE | {"expect": {"status": 200, "body": want}}, 200, got) == found


def test_another_status_is_told_with_what_was_answered():
    assert differences(CASE, 500, {}) == ["status 500, expected 200: {}"]
