"""Every error the engine raises: what, instead of what, where, and what to do about it.

EngineError
├── ProgramError              the program cannot be read
│   ├── ProgramSyntaxError        not the language's grammar
│   ├── UnknownOperation          no function of that name
│   ├── UnknownName               no variable or intermediate of that name
│   └── InvalidProgram            cycles, duplicate ids, misplaced parts
├── ArgumentError             an operation cannot take what it was given
│   ├── BadArgument
│   ├── ShapeMismatch
│   └── DtypeMismatch
├── DerivativeError           a part of the derivative is not known
├── ShardingError             the answer is not the sum of what shards of rows give
├── InputError                a value sent with the request is unusable
├── DomainError               the mathematics has no answer (a singular matrix)
├── LimitExceeded
│   ├── OverBudget                predicted bytes, operations or instructions
│   └── DeadlineExceeded
└── InternalError             our bug
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """A place in what the client sent.

    ``line`` and ``column`` (both from 1) locate source text, ``pointer`` (RFC 6901) a graph's node
    or another field of the request.
    """

    op: str | None = None
    id: str | None = None
    line: int | None = None
    column: int | None = None
    pointer: str | None = None


class EngineError(Exception):
    """An error with its place and a hint; the message never repeats the client's data at length."""

    def __init__(self, message: str, *, at: Place | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.at = at
        self.hint = hint


class ProgramError(EngineError):
    """The program cannot be read."""


class ProgramSyntaxError(ProgramError):
    """The source text is not in the language."""


class UnknownOperation(ProgramError):
    """A function that does not exist was called."""


class UnknownName(ProgramError):
    """A name that is neither a variable nor an intermediate was used."""


class InvalidProgram(ProgramError):
    """The program is well formed but invalid: a cycle, a duplicate id, a misplaced part."""


class ArgumentError(EngineError):
    """An operation cannot take the operands or parameters it was given."""


class BadArgument(ArgumentError):
    """A parameter has a value or kind that the operation cannot take."""


class ShapeMismatch(ArgumentError):
    """Operand shapes do not fit together."""


class DtypeMismatch(ArgumentError):
    """Operand dtypes do not fit together or cannot be taken."""


class DerivativeError(EngineError):
    """A derivative was asked for of which the operations' rules do not know a part."""


class ShardingError(EngineError):
    """A shard's part was asked for of what is not the sum of such parts."""


class InputError(EngineError):
    """A value sent with the request cannot be used."""


class DomainError(EngineError):
    """The operation has no result for these values, as an inverse of a singular matrix."""


class LimitExceeded(EngineError):
    """The request needs more than it is allowed."""


class OverBudget(LimitExceeded):
    """Predicted bytes, operations or instructions exceed the budget; nothing was allocated."""


class DeadlineExceeded(LimitExceeded):
    """The time allowed for the request has passed."""


class InternalError(EngineError):
    """A bug of the engine's own."""
