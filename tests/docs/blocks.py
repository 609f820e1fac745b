"""The code of a page, run as a reader would run it, and compared with what the page shows."""

from __future__ import annotations

import contextlib
import io
import json
import linecache
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import gradwire

from tests.docs.answers import same

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
#: What shows the output of the block before it.
_OUTPUTS = {"text", "json"}
#: Commands that a test does not run, and why.
NOT_RUN = {
    "make": "the tests run in an environment that make has built",
    "pip": "packages come from a registry",
    ".venv/bin/pip": "packages come from a registry",
    ".venv/bin/gradwire-server": "a service runs already",
    "gradwire-server": "a service runs already",
    "docker": "containers are tested by make container-test",
    "git": "the checkout is there",
}


class Block(NamedTuple):
    """A block of code, with the output that the page shows for it, if it does."""

    line: int
    language: str
    code: str
    shown: tuple[str, str] | None


def blocks(text: str) -> list[Block]:
    """The blocks of a page that can be run, in order."""
    found: list[Block] = []
    end = 0
    for fence in _FENCE.finditer(text):
        language, code = fence.groups()
        line = text.count("\n", 0, fence.start()) + 1
        if language in _OUTPUTS:
            if found and found[-1].shown is None and len(text[end : fence.start()]) < 200:
                found[-1] = found[-1]._replace(shown=(language, code))
            else:
                raise AssertionError(f"line {line}: the output of no block")
        else:
            found.append(Block(line, language, code, None))
        end = fence.end()
    return found


def commands(code: str) -> list[str]:
    """The commands of a shell block that a test runs."""
    joined = re.split(r"\n(?=[\w.])", code.strip())  # a command goes on in indented or quoted lines
    return [one for one in joined if program(one) not in NOT_RUN]


def program(command: str) -> str:
    """The program that a command runs, after the variables that it sets."""
    return next(word for word in command.split() if "=" not in word)


class Session:
    """What one reader has done so far: Python's names and the folder of the shell."""

    def __init__(self, page: str, url: str, folder: Path) -> None:
        self._page = page
        self._address = url.removeprefix("http://")
        self._folder = folder
        self._names: dict[str, Any] = {"__name__": "__main__"}

    def run(self, block: Block) -> str | None:
        """What a block prints; None if nothing of it is run."""
        code = re.sub(r"127\.0\.0\.1:80[08]0", self._address, block.code)
        if block.language == "python":
            return self._python(code, block.line)
        if block.language == "javascript":
            return self._program(["node", "--input-type=module", "--eval", code])
        assert block.language == "sh", f"line {block.line}: nothing runs {block.language!r}"
        wanted = commands(code)
        if not wanted:
            return None
        return self._program(["bash", "-e", "-c", "\n".join(wanted)])

    def close(self) -> None:
        """Close the clients that the page has opened."""
        for value in self._names.values():
            if isinstance(value, gradwire.Client):
                value.close()

    def _python(self, code: str, line: int) -> str:
        name = f"{self._page}:{line}"
        linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(code, name, "exec"), self._names)
        return printed.getvalue()

    def _program(self, command: list[str]) -> str:
        done = subprocess.run(
            command, cwd=self._folder, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


def differences(shown: tuple[str, str], printed: str) -> Iterator[str]:
    """Where the output is not the one shown: numbers to the digits shown, ``…`` stands for any."""
    language, text = shown
    if language == "json":
        if not same(json.loads(text), json.loads(printed)):
            yield printed
        return
    expected, found = text.rstrip().splitlines(), printed.rstrip().splitlines()
    if len(expected) != len(found):
        yield printed
        return
    for line, other in zip(expected, found, strict=True):
        if not _alike(line.rstrip(), other.rstrip()):
            yield f"{line!r} is shown, {other!r} is printed"


def _alike(line: str, other: str) -> bool:
    pattern, numbers = "", []
    for part in re.split(r"(…|[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)", " ".join(line.split())):
        if part == "…":
            pattern += ".*"
        elif _NUMBER.fullmatch(part):
            pattern += f"({_NUMBER.pattern})"
            numbers.append(part)
        else:
            pattern += re.escape(part)
    match = re.fullmatch(pattern, " ".join(other.split()))
    if match is None:
        return False
    return all(_near(number, text) for number, text in zip(numbers, match.groups(), strict=True))


def _near(shown: str, found: str) -> bool:
    """True if a number agrees in the digits shown, up to one unit of the last."""
    if shown == found:
        return True
    if not re.search(r"[.eE]", shown):
        return False  # whole numbers are counted
    digits, _, power = shown.lower().partition("e")
    unit = 10.0 ** (int(power or 0) - len(digits.partition(".")[2]))
    return abs(float(shown) - float(found)) <= 1.01 * unit
