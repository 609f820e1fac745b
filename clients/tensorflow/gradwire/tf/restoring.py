"""Values of checkpoints for variables that are made later, assigned when these are first used."""

from __future__ import annotations

from collections.abc import Callable

#: Restorations that have not found all of their variables; each assigns to those that there are.
_waiting: list[Callable[[], None]] = []
#: True if a variable was made since they ran last.
_made: bool = False


def wait(restoration: Callable[[], None]) -> None:
    """Have a restoration run before variables that are made from now on are used."""
    _waiting.append(restoration)


def forget(restoration: Callable[[], None]) -> None:
    """Do not run it any more."""
    if restoration in _waiting:
        _waiting.remove(restoration)


def note_made() -> None:
    """A variable was made."""
    global _made  # noqa: PLW0603 - read before each use of a variable
    _made = bool(_waiting)


def settle() -> None:
    """Give variables that were made what checkpoints have for them."""
    global _made  # noqa: PLW0603 - read before each use of a variable
    if _made:
        _made = False
        for restoration in _waiting.copy():  # which take themselves off when they are done
            try:
                restoration()
            except Exception:  # which is raised once
                forget(restoration)
                raise
