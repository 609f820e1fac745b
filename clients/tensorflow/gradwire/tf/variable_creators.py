"""``tf.variable_creator_scope``: functions of the user's own that make variables."""

from __future__ import annotations

import contextlib
import functools
import inspect
import threading
from collections.abc import Callable, Iterator
from typing import Any

from gradwire.tf import restoring

Creator = Callable[..., Any]


class _Active(threading.local):
    """The creators of the scopes that this thread is in, the innermost last."""

    def __init__(self) -> None:
        self.creators: list[Creator] = []


_active = _Active()


@contextlib.contextmanager
def variable_creator_scope(variable_creator: Creator) -> Iterator[None]:
    """A context in which ``variable_creator(next_creator, **kwargs)`` makes each new variable.

    The creator of the innermost scope is called first; its ``next_creator`` is that of the scope
    around it, in the end ``tf.Variable`` itself. What it returns is the variable.
    """
    _active.creators.append(variable_creator)
    try:
        yield
    finally:
        _active.creators.remove(variable_creator)


class Created(type):
    """The class of a class whose objects the active creators make."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        """An object, from the innermost creator.

        Raises:
            NotImplementedError: for a class of one's own, within a scope.
        """
        create: Creator = super().__call__
        if _active.creators:
            if isinstance(cls.__base__, Created):
                raise NotImplementedError(
                    f"variable_creator_scope does not implement {cls.__name__}"
                )
            given = inspect.signature(cls.__init__).bind(None, *args, **kwargs)  # type: ignore[misc]
            given.apply_defaults()
            args, kwargs = (), dict(list(given.arguments.items())[1:])
            for creator in _active.creators:
                create = functools.partial(creator, create)
        made = create(*args, **kwargs)
        restoring.note_made()
        return made
