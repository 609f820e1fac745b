"""The documentation shows what the service answers."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
from gradwire_service.app import create_app
from gradwire_service.problems import KINDS
from gradwire_service.settings import Settings

from tests.docs.answers import same
from tests.patient import patient_app

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = tuple(
    f"reference/{name}.md"
    for name in "language values computations resources errors optimization".split()
)
#: Pages for all readers, without long sentences.
PLAIN = (
    *("../README.md", "../CHANGELOG.md", "explanation/performance.md"),
    *PAGES[1:5],
    *("reference/protocol.md", "reference/glossary.md"),
)
#: How near the numbers of iterative methods come.
NEARLY = {"reference/optimization.md": 1e-4}
STORING = ("POST", "/v1/programs"), ("PUT", "/v1/tensors")
#: Where files that name pages are.
FOLDERS = "benchmarks clients deploy docs engine examples fuzz service tests tools".split()
FILES = [
    path
    for name in FOLDERS
    for path in (ROOT / name).rglob("*")
    if "node_modules" not in path.parts  # pages of others
]
WRITTEN = sorted([*ROOT.glob("*.md"), *(path for path in FILES if path.suffix == ".md")])
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Example(NamedTuple):
    """One request of a page with the parts of the answer that the page shows.

    ``tape`` is the request for the tape that ``{tape}`` in the path stands for, ``job`` that for
    the job, which has ended then; ``stored`` are the requests before that store programs and
    tensors, which may be made again.
    """

    place: str
    method: str
    path: str
    request: Any
    status: int
    media_type: str
    shown: Any
    whole: bool
    tape: Any = None
    stored: tuple[tuple[str, str, Any], ...] = ()
    job: Any = None


def examples() -> list[Example]:
    """All examples of all pages, in order."""
    found: list[Example] = []
    for page in PAGES:
        text = (DOCS / page).read_text(encoding="utf-8")
        asked: tuple[str, str, Any] | None = None
        tape: Any = None
        job: Any = None
        stored: tuple[tuple[str, str, Any], ...] = ()
        for fence in FENCE.finditer(text):
            language, body = fence.groups()
            place = f"{page}:{text.count(chr(10), 0, fence.start()) + 1}"
            if language == "python":
                found.append(commented(place, body))
            elif language == "http" and asked is None:
                line, _, document = body.partition("\n")
                method, path = line.split()
                asked = method, path, json.loads(document) if document else None
            elif language == "http" and asked is not None:
                line, _, document = body.partition("\n")
                status, media_type = line.split()
                shown = json.loads(document)
                answer = int(status), media_type, shown
                found.append(Example(place, *asked, *answer, True, tape, stored, job))
                tape = asked[2] if asked[1] == "/v1/tapes" else tape
                job = asked if answer[0] == 202 else job
                if asked[:2] in STORING:
                    stored = (*stored, asked)
                asked = None
        assert asked is None, f"{page}: a request without an answer"
    return found


def commented(place: str, program: str) -> Example:
    """An example whose comments are the request's fields and, with arrows, the answer's."""
    fields = {
        key: json.loads(value)
        for key, value in re.findall(r"^# (\w+): (.*)$", program, re.MULTILINE)
    }
    shown = {
        key: json.loads(value)
        for key, value in re.findall(r"^# → (\w+): (.*)$", program, re.MULTILINE)
    }
    assert shown, f"{place}: an example without an answer"
    status, media_type = 200, "application/json"
    if "code" in shown:
        status, media_type = KINDS[shown["code"]].status, "application/problem+json"
    path = "/v1/gradient" if "gradients" in shown else "/v1/evaluate"
    request = {"program": program, **fields}
    return Example(place, "POST", path, request, status, media_type, shown, whole=False)


@pytest.fixture(scope="module")
def apps():
    """Make the application of the page's limits, and one for all other examples."""
    return {True: create_app(Settings(memory_bytes=64 << 30)), False: patient_app()}


@pytest.mark.parametrize("example", examples(), ids=lambda example: example.place)
async def test_the_answer_is_the_one_shown(apps, example):
    transport = httpx.ASGITransport(app=apps[example.path == "/v1/limits"])
    async with httpx.AsyncClient(transport=transport, base_url="http://service") as client:
        path = example.path
        for method, where, document in example.stored:
            assert (await client.request(method, where, json=document)).is_success
        if "{tape}" in path:
            made = await client.post("/v1/tapes", json=example.tape)
            path = path.replace("{tape}", made.json()["tape"])
        if "{job}" in path:
            made = await client.request(*example.job[:2], json=example.job[2])
            path = path.replace("{job}", made.json()["id"])
            await client.get(f"{made.headers['location']}/events")  # which end with the job
        reply = await client.request(example.method, path, json=example.request)
    answer = reply.json()
    assert reply.status_code == example.status, answer
    assert reply.headers["content-type"] == example.media_type
    if not example.whole:
        missing = example.shown.keys() - answer.keys()
        assert not missing, answer
        answer = {key: answer[key] for key in example.shown}
    assert same(example.shown, answer, NEARLY.get(example.place.partition(":")[0], 1e-8)), answer


def test_clients_in_python_run(service_url):
    page = (DOCS / "reference/values.md").read_text(encoding="utf-8")
    blocks = [body for language, body in FENCE.findall(page) if language == "py"]
    assert blocks
    for block in blocks:
        program = block.replace("http://127.0.0.1:8000", service_url)
        subprocess.run(
            [sys.executable, "-"], input=program.encode(), check=True, capture_output=True
        )


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_clients_in_javascript_run(service_url):
    page = (DOCS / "reference/protocol.md").read_text(encoding="utf-8")
    (program,) = [body for language, body in FENCE.findall(page) if language == "javascript"]
    shown = re.findall(r"; // (.*)$", program, re.MULTILINE)
    program = program.replace("http://127.0.0.1:8000", service_url)
    command = ["node", "--input-type=module", "--eval", program]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stdout.splitlines() == shown


def test_every_page_has_examples():
    places = [example.place.partition(":")[0] for example in examples()]
    assert set(places) == set(PAGES)
    assert len(places) > 130


def test_every_code_has_one_row_with_its_status():
    text = (DOCS / "reference/errors.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| (\d+) \| (.+) \| (.+) \|$", text, re.MULTILINE)
    assert [(code, int(status)) for code, status, _, _ in rows] == [
        (code, kind.status) for code, kind in KINDS.items()
    ]


def test_the_pages_name_modules_that_exist():
    text = (DOCS / "explanation/architecture.md").read_text(encoding="utf-8")
    for name in re.findall(r"`((?:engine|service|clients|tests)/[\w/.]+)`", text):
        assert (ROOT / name).exists(), name
    rows = re.findall(r"^\| `([\w/]+)` \|", text, re.MULTILINE)
    assert len(rows) == len(set(rows))


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    return {
        re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
        for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    }


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_files_and_headings(page):
    text = re.sub(r"`[^`\n]*`", "`", FENCE.sub("", page.read_text(encoding="utf-8")))
    for link, anchor in re.findall(r"\]\((?![a-z]+:)([^)#\s]*)(?:#([^)\s]+))?\)", text):
        target = (page.parent / link).resolve() if link else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), f"{link}#{anchor}"


@pytest.mark.parametrize("page", PLAIN)
def test_sentences_are_short(page):
    text = FENCE.sub("", (DOCS / page).read_text(encoding="utf-8"))
    text = re.sub(r"\]\([^)\n]*\)|`[^`\n]*`", "`", text)
    for part in re.split(r"\n\n|\n(?=[-|])|\|", text):
        for sentence in re.split(r"(?<=[.?!])\s", part):
            assert len(sentence.split()) <= 40, sentence


def test_pages_that_other_files_name_exist():
    """Comments and messages name pages by their path from the repository's root."""
    named: dict[str, Path] = {}
    for path in FILES:
        if path.suffix in {".py", ".yaml", ".yml", ".conf", ".service", ".md"}:
            text = path.read_text(encoding="utf-8")
            named |= dict.fromkeys(re.findall(r"(?<![\w./-])docs/[\w/-]+\.\w+", text), path)
    assert len(named) > 10
    assert {page: path for page, path in named.items() if not (ROOT / page).exists()} == {}
