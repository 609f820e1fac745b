"""What skipped tests lacked, a line for each thing."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

#: What pytest says of a module that cannot be imported.
_NO_MODULE = re.compile(r"could not import .*No module named '([^'.]+)")
_TEST = re.compile(r"^ *(?:async )?def test_", re.MULTILINE)


def lines(skipped: Iterable[Any]) -> Iterator[str]:
    """The lines of a summary, for reports of tests and modules that were skipped."""
    counts = Counter[str]()
    for report in skipped:
        file, _, reason = report.longrepr
        counts[_thing(reason)] += 1 if "::" in report.nodeid else _tests_of(Path(file))
    for thing, count in sorted(counts.items()):
        yield f"skipped {count} test{'s' if count > 1 else ''}: {thing}"


def _thing(reason: str) -> str:
    reason = reason.removeprefix("Skipped: ")
    module = _NO_MODULE.match(reason)
    return reason if module is None else f"{module[1]} is not installed"


def _tests_of(file: Path) -> int:
    """The test functions of a module that was skipped before its cases were known."""
    return len(_TEST.findall(file.read_text(encoding="utf-8")))
