"""What goes wrong while a kernel runs: a GPU reports none of it, or ends the process.

Fault
├── OutOfBounds         an access outside its allocation
├── Misaligned          an access at an address that is no multiple of its alignment
├── WrongAddressSpace   an access by a pointer into another address space, or a write to constants
├── Race                two threads touch an element, one writes it, and nothing orders them
├── Aliasing            arguments overlap of which the kernel says that they do not
├── Divergence          a barrier or a shuffle that not all of its threads execute together
├── Undefined           an operation whose result LLVM does not define, such as a division by zero
└── Endless             more steps than were allowed
"""

from __future__ import annotations


class Fault(Exception):
    """What a thread did, and the instruction that did it."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.instruction: str | None = None

    def __str__(self) -> str:
        return f"{self.args[0]}: {self.instruction or 'before the first instruction'}"


class OutOfBounds(Fault):
    """An access outside its allocation."""


class Misaligned(Fault):
    """An access at an address that is no multiple of its alignment."""


class WrongAddressSpace(Fault):
    """An access by a pointer into another address space, or a write to constants."""


class Race(Fault):
    """Two threads touch an element, one writes it, and nothing orders them."""


class Aliasing(Fault):
    """Arguments overlap of which the kernel says that they do not."""


class Divergence(Fault):
    """A barrier or a shuffle that not all of its threads execute together."""


class Undefined(Fault):
    """An operation whose result LLVM does not define."""


class Endless(Fault):
    """More steps than were allowed."""
