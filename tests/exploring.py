"""What random tests find with new seeds, kept as files that every later run replays."""

import json
import re
from hashlib import sha256
from pathlib import Path

import pytest

FOUND = Path(__file__).parent / "found"
#: The title under which tests of the engine print what they asked last.
REQUEST = "the same asked of a service"
_CURL = re.compile(r"curl -s \S+?(/v1/\w+) -H \S+ \S+ -d '(.*)'\Z", re.DOTALL)


def draws(item: pytest.Item) -> bool:
    """True of a test that draws examples."""
    return any(item.get_closest_marker(name) is not None for name in ("hypothesis", "drawn"))


def save(test: str, seed: int, report: pytest.TestReport) -> str:
    """Save a failure; the file."""
    found: dict[str, object] = {"test": test, "seed": seed}
    for title, text in report.sections:
        if title == REQUEST and (asked := _CURL.match(text)) is not None:
            body = asked[2].replace("'\\''", "'")
            if body.startswith("@"):
                body = Path(body[1:]).read_text(encoding="utf-8")
            found |= {"path": asked[1], "request": json.loads(body)}
    FOUND.mkdir(exist_ok=True)
    text = json.dumps(found, indent=1) + "\n"
    file = FOUND / f"{sha256(text.encode()).hexdigest()[:12]}.json"
    file.write_text(text, encoding="utf-8")
    return str(file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file)
