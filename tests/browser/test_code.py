"""The request as code: what the page shows is run, and answers what the page answers."""

import json
import os
import shutil
import subprocess
import sys

import httpx
import pytest
from playwright.sync_api import expect

from tests.browser.conftest import visiting
from tests.generators.tools import run

#: Whatever a language could take for its own.
HOSTILE = """\
# it's "quoted" \\ \\n `x` ${x} $x #{x} %s %d {x} \"\"\" ''' )" )-" </script> é 漢 🙂
sum(x**2) * b["it's"]
"""
VARIABLES = {"x": [1.5, -2.0, 3e-300], "b": {"it's": 2.0}, "unused": ["NaN", "Infinity", 1]}
SOURCES = {"a": ["x", None], "b": {"inner": ["b.it's"]}}


def _go(folder, code):
    (folder / "go.mod").write_text("module example\n\ngo 1.19\n")
    (folder / "main.go").write_text(code)
    return run(folder, "go run .")


def _python(folder, code):
    (folder / "main.py").write_text(code)
    return _run(folder, sys.executable, "main.py")


def _node(folder, code):
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    # Node prints objects in a way of its own.
    shown = code.replace("console.log(answer.gradients)", "console.log(JSON.stringify(answer))")
    (folder / "main.mjs").write_text(shown)
    return _run(folder, "node", "main.mjs")


def _curl(folder, code):
    return _run(folder, "sh", "-c", code)


def _rscript(folder, code):
    if shutil.which("Rscript") is None:
        pytest.skip("R is not installed")
    (folder / "main.R").write_text(code)
    return _run(folder, "Rscript", "main.R")


def _run(folder, *command):
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


RUNNERS = {
    "curl": _curl,
    "python": _python,
    "httpx": _python,
    "javascript": _node,
    "go": _go,
    "r": _rscript,
}


@pytest.fixture(scope="module")
def codes(browser, context, service):
    """The code that the page shows for the hostile program, by its language."""
    found = {}
    with visiting(browser, context, service) as visit:
        opened = visit()
        opened.page.get_by_label("with respect to").fill(json.dumps(SOURCES))
        opened.write_variables(json.dumps(VARIABLES))
        opened.write(HOSTILE)
        opened.page.get_by_role("tab", name="Code").click()
        for language in (*RUNNERS, "julia"):
            opened.page.get_by_label("Language").select_option(language)
            code = opened.page.locator(".code pre")
            expect(code).to_contain_text("漢")
            found[language] = code.inner_text()
    assert len({*found.values()}) == len(found)
    return found


@pytest.mark.parametrize("language", RUNNERS)
def test_the_code_answers_what_the_service_answers(codes, service, tmp_path, language):
    code = codes[language]
    request = {"program": HOSTILE, "variables": VARIABLES, "sources": SOURCES}
    answer = httpx.post(f"{service}/v1/gradient", json=request).json()
    printed = RUNNERS[language](tmp_path, code)
    if language in {"curl", "go", "javascript"}:
        assert json.loads(printed)["gradients"] == answer["gradients"]
    else:
        for number in ("6", "8", "6.25"):
            assert number.removesuffix(".0") in printed
    assert service in code


def test_julias_code_contains_the_request(codes):
    """Julia has no package here that could run it."""
    (line,) = [line for line in codes["julia"].splitlines() if line.startswith("body = ")]
    text = json.loads(line.removeprefix("body = ").replace("\\$", "$"))
    assert json.loads(text)["program"] == HOSTILE


def test_a_long_request_is_read_from_a_file(visit, tmp_path):
    opened = visit()
    page = opened.page
    page.get_by_label("with respect to").fill("")
    opened.write_variables(json.dumps({"x": list(range(3000))}))
    opened.write("sum(x)")
    page.get_by_role("tab", name="Code").click()
    with page.expect_download() as started:
        page.get_by_role("button", name="Download request.json").click()
    started.value.save_as(tmp_path / "request.json")
    for language in "curl", "python", "httpx":
        page.get_by_label("Language").select_option(language)
        code = page.locator(".code pre")
        expect(code).to_contain_text("request.json")
        printed = RUNNERS[language](tmp_path, code.inner_text())
        assert "1" in printed


def test_the_link_that_is_copied_opens_the_same(visit):
    opened = visit(permissions=["clipboard-read", "clipboard-write"])
    page = opened.page
    page.get_by_label("with respect to").fill("")
    opened.write_variables('{"x": [1, 2]}')
    opened.write("sum(x**5)")
    page.get_by_role("tab", name="Code").click()
    page.get_by_role("button", name="Copy a link").click()
    expect(page.get_by_text("The link is copied.")).to_be_visible()
    link = page.evaluate("() => navigator.clipboard.readText()")
    other = visit(link.removeprefix(f"{opened.address}/"))
    expect(other.page.get_by_label("Gradients", exact=True)).to_contain_text("[5, 80]")
