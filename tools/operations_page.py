"""Print docs/reference/operations.md: every operation, generated from the code."""

from __future__ import annotations

import re
import runpy
import sys
from collections.abc import Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

from gradwire_engine import catalogue

HEAD = """# Operations

What programs can call, by family. `make docs` writes this page from the operations' own classes,
as `GET /v1/ops` lists them.
Names and defaults are NumPy's, the array API's and SciPy's, also under `np.` and `scipy.`;
other libraries' names follow each operation.
Each operation has a line of code as a program may have it, with the value that the engine gives
for it, in four digits.
"Not differentiable" is a statement: such a gradient is null, with the reason.
"""


def page(examples: Mapping[str, tuple[str, str]]) -> str:
    """The whole page; ``examples`` are lines of code with their values, by the operation's name."""
    entries = sorted(catalogue(), key=lambda entry: (entry["family"], entry["name"]))
    families = [
        (name, list(found)) for name, found in groupby(entries, key=lambda entry: entry["family"])
    ]
    contents = ", ".join(f"[{name}](#{name})" for name, _ in families)
    sections = [
        f"## {name}\n\n" + "\n".join(_item(entry, examples.get(entry["name"])) for entry in found)
        for name, found in families
    ]
    head = f"{HEAD}\n{len(entries)} in all: {contents}."
    return "\n\n".join([head, *sections]) + "\n"


def _item(entry: dict[str, Any], example: tuple[str, str] | None) -> str:
    summary, _, rest = entry["doc"].partition("\n\n")
    lines = [f"- **`{entry['signature']}`** {_prose(summary)}"]
    lines += [f"  {_prose(part)}" for part in rest.split("\n\n") if part]
    if example is not None:
        lines.append("  `{}` → `{}`".format(*example))
    if not entry["differentiable"]:
        lines.append("  *Not differentiable.*")
    if entry["aliases"]:
        lines.append(f"  Also {', '.join(f'`{name}`' for name in entry['aliases'])}.")
    if entry["dialects"]:
        lines.append(f"  Elsewhere {', '.join(f'`{call}`' for call in entry['dialects'])}.")
    return "  \n".join(lines)


def _prose(text: str) -> str:
    """A docstring's paragraph on one line, with code marked as in Markdown."""
    return re.sub(r"``(.+?)``", r"`\1`", re.sub(r"\s+", " ", text)).strip()


if __name__ == "__main__":
    found = runpy.run_path(str(Path(__file__).with_name("operation_examples.py")))["examples"]()
    sys.stdout.write(page(found))
