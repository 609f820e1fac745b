"""Errors of functions while they are recorded: the user's own, and those of recording.

Libraries that are given recorded arrays fail in ways of their own: by endless recursion, by
``TypeError``, by an error in C. The traceback says which function was called.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from traceback import walk_tb
from types import FrameType, ModuleType

from gradwire import hints
from gradwire.errors import GradwireError, NotTraceable, UsageError
from gradwire.tracing.substitutes import reads_recorded
from gradwire.tracing.terms import Place
from gradwire.tracing.tracer import Tracer
from gradwire.tracing.traces import LIBRARIES

_OURS = LIBRARIES[0]
#: Frames that are looked into; recursion without end has a thousand.
_LOOKED_INTO = 30


def explained(error: Exception) -> Exception:
    """The error to raise for one that a function has raised while it was recorded."""
    frames = [(frame, line) for frame, line in walk_tb(error.__traceback__)][1:]
    if isinstance(error.__cause__, NotTraceable):  # which says more than NumPy or C does
        error = error.__cause__
    place, below = _below_user(frames)
    theirs = [each for each in frames if not _is_ours(each[0])]
    known = hints.instead_of(_called(frame for frame, _ in frames))
    name, hint = known or ("", hints.RECORDED)
    if isinstance(error, NotTraceable) and known is not None and name not in error.problem:
        return NotTraceable(f"{name} cannot be recorded", place=place, hint=hint)
    if isinstance(error, GradwireError):
        return error
    libraries = [frame for frame in below if not _is_ours(frame)]
    said = f"{type(error).__name__}: {error}"[:300]
    if libraries and any(
        reads_recorded(list(frame.f_locals.values()), 3) for frame in libraries[:_LOOKED_INTO]
    ):
        package = name or _package(libraries[0])
        if package != "numpy":
            problem = f"{package} cannot be recorded: it raised {said}"
            return NotTraceable(problem, place=place, hint=hint)
    if isinstance(error, (TypeError, AttributeError)) and Tracer.__name__ in f"{error}":
        # A function in C leaves no frame: its module is named by the one that called it.
        _, hint = known or hints.instead_of(_modules(theirs[-1:])) or ("", hint)
        problem = f"a recorded array cannot be used here: {error}"
        return NotTraceable(problem, place=place, hint=hint)
    if below and _is_ours(below[0]):
        return UsageError(f"{error}" or said, place=place)
    return error


def _called(frames: Iterable[FrameType]) -> Iterator[str]:
    """The functions of libraries that are being called, the outermost first, by their names."""
    for frame in islice(frames, _LOOKED_INTO):
        if not _is_ours(frame):
            yield f"{_module(frame)}.{frame.f_code.co_name}"
        elif (original := frame.f_locals.get("original")) is not None:  # what has a substitute
            yield f"{original.__module__}.{original.__name__}"


def _modules(frames: Iterable[tuple[FrameType, int]]) -> Iterator[str]:
    """The modules that the code of frames reads."""
    for frame, _ in frames:
        known = [frame.f_globals.get(name) for name in frame.f_code.co_names]
        for value in (*frame.f_locals.values(), *known):
            if isinstance(value, ModuleType):
                yield value.__name__


def _below_user(frames: Sequence[tuple[FrameType, int]]) -> tuple[Place | None, list[FrameType]]:
    """The line of the user's own code that was reached last, and the frames below it.

    What is recorded is the user's own, and so is all of its package.
    """
    home = next((_package(frame) for frame, _ in frames if not _is_ours(frame)), None)
    place, below = None, list[FrameType]()
    for frame, line in frames:
        name = frame.f_code.co_filename
        file = frame.f_globals.get("__file__") or name  # Cython's own names are of other folders
        if _package(frame) == home or not file.startswith((*LIBRARIES, "<frozen")):
            place, below = Place(name, line, frame.f_code.co_name), []
        else:
            below.append(frame)
    return place, below


def _is_ours(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith(_OURS)


def _module(frame: FrameType) -> str:
    name: str = frame.f_globals.get("__name__", "")
    return name


def _package(frame: FrameType) -> str:
    return _module(frame).partition(".")[0]
