"""Compares answers with those that cases expect. Needs nothing but Python's standard library.

python3 compare.py request CASE             the method, the path and the body to send, a line each
python3 compare.py reply CASE STATUS        reads the answer's body from standard input
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any


def differences(case: dict[str, Any], status: int, body: Any) -> list[str]:
    """The differences between an answer and the expected one, each with its place; or none."""
    if status != case["expect"]["status"]:
        return [f"status {status}, expected {case['expect']['status']}: {json.dumps(body)}"]
    return list(_differ("", body, case["expect"]["body"], case["rtol"], case["atol"]))


def _differ(place: str, got: Any, want: Any, rtol: float, atol: float) -> Iterator[str]:
    if isinstance(want, dict) and isinstance(got, dict):
        for name in want:
            if name in got:
                yield from _differ(f"{place}/{name}", got[name], want[name], rtol, atol)
            else:
                yield f"{place}/{name} is missing"
    elif isinstance(want, list) and isinstance(got, list) and len(want) == len(got):
        for i, (one, other) in enumerate(zip(got, want, strict=True)):
            yield from _differ(f"{place}/{i}", one, other, rtol, atol)
    elif not _same(got, want, rtol, atol):
        yield f"{place} is {json.dumps(got)}, expected {json.dumps(want)}"


def _same(got: Any, want: Any, rtol: float, atol: float) -> bool:
    if _is_number(got) and _is_number(want):
        return math.isclose(got, want, rel_tol=0.0, abs_tol=atol + rtol * abs(want))
    return type(got) is type(want) and bool(got == want)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def requests(*paths: str) -> Iterator[str]:
    """A line for each case: its path, then method, path and body to send, between tabs."""
    for path in paths:
        request = _read(path)["request"]
        yield "\t".join((path, request["method"], request["path"], json.dumps(request["body"])))


def verdicts(lines: Iterable[str]) -> Iterator[str]:
    """The faults of answers, a line each: the case's path, the body and the status."""
    passed = failed = 0
    for line in lines:
        path, body, status = line.rstrip("\n").split("\t")
        case = _read(path)
        found = differences(case, int(status), json.loads(body) if body else None)
        failed, passed = failed + bool(found), passed + (not found)
        yield from (f"{case['id']}: {difference}" for difference in found)
    yield f"{passed} passed, {failed} failed"


def _read(path: str) -> Any:
    return json.loads(Path(path).read_text(encoding="utf-8"))


def main(command: str, *paths: str) -> int:
    """Run a command of this module's docstring; 1 where an answer was not as expected."""
    lines = list(requests(*paths) if command == "requests" else verdicts(sys.stdin))
    sys.stdout.writelines(f"{line}\n" for line in lines)
    return int(command == "verdicts" and not lines[-1].endswith(" 0 failed"))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
