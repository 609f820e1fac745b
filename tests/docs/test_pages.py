"""Every block of code on the pages that teach does what the page shows."""

import re
import shutil
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.docs.blocks import Session, blocks, commands, differences

DOCS = Path(__file__).parents[2] / "docs"
#: Pages that one reads from top to bottom; those of reference have tests of their own.
PAGES = sorted(
    path for kind in ("tutorial", "how-to", "explanation") for path in (DOCS / kind).glob("*.md")
)
#: Pages for operators, whose commands change a machine, and pages with tests of their own.
OTHER = {
    *(
        "backup.md",
        "deployment.md",
        "security.md",
        "troubleshooting.md",
        "performance.md",
        "scaling.md",
    ),
    *("accuracy.md", "architecture.md"),
    "large-data.md",  # tests/service/cluster sends its request
}
TAUGHT = [DOCS / "index.md", *(page for page in PAGES if page.name not in OTHER)]
#: Libraries that only the development environment has, by the page that uses them.
NEEDS = {"jax.md": "jax"}


@pytest.mark.thorough
@pytest.mark.parametrize("page", TAUGHT, ids=lambda page: page.stem)
def test_every_block_does_what_the_page_shows(page, service_url, monkeypatch, tmp_path):
    monkeypatch.setenv("GRADWIRE_URL", service_url)
    if page.name in NEEDS and find_spec(NEEDS[page.name]) is None:
        pytest.skip(f"needs {NEEDS[page.name]}")
    with closing(Session(page.name, service_url, tmp_path)) as session:
        for block in blocks(page.read_text(encoding="utf-8")):
            if block.language == "javascript" and shutil.which("node") is None:
                continue
            printed = session.run(block)
            if printed is None:
                continue
            if block.shown is None:
                assert not printed, f"{page.name}:{block.line} prints what the page does not show"
            else:
                wrong = [*differences(block.shown, printed)]
                assert not wrong, f"{page.name}:{block.line}: {wrong[0]}"


def test_every_page_is_run_or_named_as_another():
    assert {page.name for page in PAGES} >= OTHER
    for page in TAUGHT:
        assert blocks(page.read_text(encoding="utf-8")) or page.parent.name == "explanation"


def test_the_picture_of_reverse_mode_shows_what_the_page_computes():
    page = (DOCS / "explanation/reverse-mode.md").read_text(encoding="utf-8")
    ((_, printed),) = [block.shown for block in blocks(page) if block.shown]
    picture = ElementTree.parse(DOCS / "pictures/reverse-mode.svg")
    texts = [text.text for text in picture.iter("{http://www.w3.org/2000/svg}text")]
    for line in printed.splitlines():
        name, value, cotangent = re.findall(r"^\w|[\d.]+", line)
        box = next(i for i, text in enumerate(texts) if re.match(rf"{name}( = |$)", text or ""))
        assert texts[box + 2] == f"cotangent {cotangent}"
        assert value.startswith(str(texts[box + 1]).removeprefix("value "))


def test_few_commands_are_not_run():
    skipped = [
        line
        for page in TAUGHT
        for block in blocks(page.read_text(encoding="utf-8"))
        if block.language == "sh"
        for line in set(block.code.splitlines()) - {*"\n".join(commands(block.code)).splitlines()}
    ]
    assert 0 < len(skipped) < 30


@pytest.mark.parametrize(
    ("shown", "printed", "agree"),
    [
        ("x = 1.23", "x = 1.2345", True),
        ("x = 1.23", "x = 1.26", False),
        ("[1.5 -2.]", "[ 1.5  -2. ]", False),
        ("a 3", "a 4", False),
        ("3 requests in … s", "3 requests in 0.25 s", True),
        ("1e-9", "2e-9", True),
        ("1e-9", "4e-9", False),
        ("one", "one\ntwo", False),
    ],
)
def test_outputs_are_compared_to_the_digits_shown(shown, printed, agree):
    assert (not [*differences(("text", shown), printed)]) == agree


def test_commands_of_several_lines_are_kept_whole():
    code = "make serve\ncurl -s x -d '{\n  \"a\": 1}'\nA=b docker run gradwire-server\n"
    assert commands(code) == ["curl -s x -d '{\n  \"a\": 1}'"]
    assert re.match(r"curl", commands(code)[0])
