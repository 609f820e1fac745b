"""Python's containers: recorded functions take and return them as they are."""

from __future__ import annotations

import builtins

NAMES = {name: getattr(builtins, name) for name in ("dict", "isinstance", "list", "tuple", "type")}
globals().update(NAMES)
