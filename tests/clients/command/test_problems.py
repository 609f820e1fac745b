import json
import re
from collections.abc import Iterator
from pathlib import Path

import gradwire
import pytest
from gradwire.problems import error_class
from gradwire_command.exit_codes import ExitCode
from gradwire_command.problems import EXIT_CODES, exit_code_of

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "command.md"


def subclasses(kind: type[gradwire.GradwireError]) -> Iterator[type[gradwire.GradwireError]]:
    """A class and all below it."""
    yield kind
    for below in kind.__subclasses__():
        yield from subclasses(below)


def test_errors_show_the_line_with_a_caret_a_hint_and_the_request(run):
    told = run("eval", "h = x\nh @ w", "x=[1,2]", "w=[1,2,3]", exits=4).stderr.splitlines()
    assert told[0] == "error: Shape mismatch: matmul needs equal inner sizes, got (2,) and (3,)"
    assert told[1] == "  line 2: h @ w"
    assert told[2] == "          ^"
    assert told[3].startswith("  hint: x @ y sums")
    assert re.fullmatch(r"  \(shape_mismatch, status 422, at /program, request \S+\)", told[4])


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["eval", "x @@ y"], ExitCode.PROGRAM),
        (["eval", "foo(x)", "x=1"], ExitCode.PROGRAM),
        (["eval", "x"], ExitCode.PROGRAM),
        (["grad", "x", "x=1", "--target=q"], ExitCode.PROGRAM),
        (["eval", "inv(x)", "x=[[0,0],[0,0]]"], ExitCode.VALUES),
        (["eval", "x", 'x={"base64":"%","dtype":"int8","shape":[1]}'], ExitCode.VALUES),
        (["eval", "x", "x=1", "--batch=q"], ExitCode.USAGE),
        (["eval", "x", "--url=ftp://a"], ExitCode.USAGE),
        (["eval", "x", "--url=http://127.0.0.1:1"], ExitCode.UNAVAILABLE),
        (["eval", "zeros((10000000, 10000000)) + x", "x=1"], ExitCode.LIMITS),
        (["eval", "--stored=none"], ExitCode.NOT_FOUND),
        (["tapes", "get", "none"], ExitCode.NOT_FOUND),
        (["nothing"], ExitCode.USAGE),
        (["eval", "x", "x=1", "--nothing"], ExitCode.USAGE),
        (["eval", "x", "x=1", "--timeout=-1"], ExitCode.USAGE),
    ],
    ids=lambda part: " ".join(part) if isinstance(part, list) else None,
)
def test_exit_codes_go_by_kind(run, words, code):
    result = run(*words, exits=code)
    assert result.stdout == ""
    assert result.stderr.strip()


def test_an_invalid_key_is_an_error_of_its_own(run, script):
    problem = b'{"title":"Invalid API key","detail":"the key is unknown","code":"unauthenticated"}'
    reply = b"HTTP/1.1 401 Unauthorized\r\nContent-Type: application/problem+json\r\n"
    server = script(reply + b"Content-Length: %d\r\n\r\n" % len(problem) + problem)
    words = ("eval", "x", "x=1", "--url", server.url, "--key", "k")
    told = run(*words, exits=ExitCode.AUTHENTICATION).stderr
    assert "Invalid API key: the key is unknown" in told
    assert "hint: set GRADWIRE_API_KEY, or give --key" in told
    assert b"Authorization: Bearer k\r\n" in server.requests[0]


def test_problems_are_json_for_scripts(run):
    told = json.loads(run("eval", "x @ y", "x=[1,2]", "y=[1]", "--json", exits=4).stderr)
    assert told["code"] == "shape_mismatch"
    assert told["node"]["line"] == 1
    assert told["request_id"]
    assert told["exit_code"] == 4
    told = json.loads(run("eval", "x", "x=@none.npy", "--json", exits=4).stderr)
    assert told == {
        "code": "unreadable_values",
        "detail": "cannot read none.npy: No such file or directory",
        "exit_code": 4,
    }
    told = json.loads(run("ops", "--json", "--url", "http://127.0.0.1:1", exits=5).stderr)
    assert told["code"] == "transport_error"


def test_every_error_of_the_sdk_has_an_exit_code():
    kinds = {kind.__name__: kind for kind in subclasses(gradwire.GradwireError)}
    assert set(EXIT_CODES) <= set(kinds)
    for name, kind in kinds.items():
        code = exit_code_of(kind.__new__(kind))
        assert code is EXIT_CODES.get(name, code)
        assert code not in (ExitCode.DONE, ExitCode.INTERRUPTED)
    fallen = error_class(599, None)
    assert exit_code_of(fallen.__new__(fallen)) is ExitCode.SERVICE


def test_the_page_lists_the_exit_codes():
    rows = re.findall(r"^\| (\d+) \|([^|]*)\|([^|]*)\|$", PAGE.read_text("utf-8"), re.MULTILINE)
    assert [int(code) for code, _, _ in rows] == list(ExitCode)
    listed = {
        name: int(code) for code, _, names in rows for name in re.findall(r"`([A-Z]\w+)`", names)
    }
    assert listed == {name: int(code) for name, code in EXIT_CODES.items()}
