"""Parts of the Python functions that backends generate, and which instruction each line is of.

The generated text holds only names made here; constants, functions and parameters are bound by
reference.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import CodeType
from typing import Any
from weakref import WeakKeyDictionary

from gradwire_engine.tape import Instruction

#: The instruction of each line, counted from 1, of the functions that were generated.
LINES: WeakKeyDictionary[CodeType, Sequence[Instruction | None]] = WeakKeyDictionary()


class Text:
    """A function being written: its lines, and the objects that its names are bound to."""

    def __init__(self, head: str) -> None:
        self.names: dict[str, Any] = {"__builtins__": {}}
        self._text = [head]
        self._lines: list[Instruction | None] = [None, None]

    def write(self, line: str, instruction: Instruction | None = None, indent: int = 1) -> None:
        """Add a line."""
        self._text.append(" " * indent + line)
        self._lines.append(instruction)

    def bind(self, value: Any, name: str = "") -> str:
        """The name of an object."""
        name = name or f"k{len(self.names)}"
        self.names.setdefault(name, value)
        return name

    @property
    def lines(self) -> list[tuple[str, Instruction | None]]:
        """What has been written, and of which instruction each line is."""
        return [*zip(self._text, self._lines[1:], strict=True)]

    def function(self, name: str) -> Callable[..., Any]:
        """The finished function."""
        exec(compile("\n".join(self._text), "<tape>", "exec"), self.names)
        made: Callable[..., Any] = self.names[name]
        inner = [value for value in made.__code__.co_consts if isinstance(value, CodeType)]
        for code in (made.__code__, *inner):
            LINES[code] = self._lines
        return made


def failing(error: BaseException) -> Instruction | None:
    """The innermost instruction of generated functions during which ``error`` was raised."""
    found, trace = None, error.__traceback__
    while trace is not None:
        lines = LINES.get(trace.tb_frame.f_code)
        if lines is not None:
            found = lines[trace.tb_lineno] or found
        trace = trace.tb_next
    return found
