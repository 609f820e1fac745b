"""Parts of the Python functions that backends generate, and which instruction each line is of.

The generated text holds only names made here; constants, functions and parameters are bound by
reference.
"""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from typing import Any
from weakref import WeakKeyDictionary

from gradwire_engine.answer import Poll
from gradwire_engine.backends.base import Line
from gradwire_engine.polling import unhurried
from gradwire_engine.tape import Instruction

#: Among a generated function's globals, the lines of each text by the name of its file. Equal texts
#: of several tapes make equal code, so code does not identify its instructions.
_LINES = "lines of files"
#: So many instructions are computed by one generated function: Python compiles a function in one
#: go, during which nothing else runs; 5 to 15 ms for so many.
PART = 1024


class Text:
    """A function being written: its lines, and the objects that its names are bound to.

    It may be divided in several functions that follow each other. Who writes looks at the deadline
    by ``poll`` now and then.
    """

    def __init__(
        self, head: str, poll: Poll = unhurried, loops: MutableMapping[Any, Any] | None = None
    ) -> None:
        self.poll = poll
        #: The functions of loops, for those that are equal to have one.
        self.loops: Any = WeakKeyDictionary() if loops is None else loops
        self.names: dict[str, Any] = {"__builtins__": {}}
        self._head = head
        self._parts: list[list[Line]] = [[(head, None)]]
        #: Functions that this one calls.
        self._called: list[tuple[str, Text]] = []

    def write(self, line: str, instruction: Instruction | None = None, indent: int = 1) -> None:
        """Add a line."""
        self._parts[-1].append((" " * indent + line, instruction))

    def divide(self) -> None:
        """Go on in a function of the same head, for Python to compile by itself."""
        if len(self._parts[-1]) > 1:
            self._parts.append([(self._head, None)])

    def calling(self, head: str, indent: int) -> Text:
        """A function to be written, of the same names, that a line calls with what it takes."""
        called = Text(head, self.poll, self.loops)
        called.names = self.names
        takes, name = head[head.index("(") : -1], f"part{len(self._called)}"
        self._called.append((name, called))
        self.write(f"{name}{takes}", indent=indent)
        return called

    def bind(self, value: Any, name: str = "") -> str:
        """The name of an object."""
        name = name or f"k{len(self.names)}"
        self.names.setdefault(name, value)
        return name

    @property
    def lines(self) -> list[Line]:
        """The text so far, and the instruction of each line."""
        own = [line for lines in self._parts for line in lines]
        return [*own, *[line for _, called in self._called for line in called.lines]]

    def function(self, name: str) -> Callable[..., Any]:
        """The finished function, where it is a single one."""
        (function,) = self.functions(name)
        return function

    def functions(self, name: str) -> list[Callable[..., Any]]:
        """The finished functions of all parts, in order."""
        names = {**self.names}  # others than the functions', which would be circles
        for called_by, called in self._called:
            called.names = names
            self.names[called_by] = called.function("part")
        files = self.names.setdefault(_LINES, {})
        made: list[Callable[..., Any]] = []
        for lines in self._parts:
            file = f"<tape {len(files)}>"
            files[file] = [None, *[instruction for _, instruction in lines]]
            self.poll()
            exec(compile("\n".join([line for line, _ in lines]), file, "exec"), self.names)
            made.append(self.names.pop(name))  # which refers to them: a circle
        return made


def failing(error: BaseException) -> Instruction | None:
    """The innermost instruction of generated functions during which ``error`` was raised."""
    found, trace = None, error.__traceback__
    while trace is not None:
        files = trace.tb_frame.f_globals.get(_LINES)
        if files is not None:
            found = files[trace.tb_frame.f_code.co_filename][trace.tb_lineno] or found
        trace = trace.tb_next
    return found
