"""Groups of methods that belong to one kind of resource, such as ``client.programs``."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, Generic, TypeVar

from gradwire.call import Conversation
from gradwire.errors import UsageError
from gradwire.methods import Awaiting, Blocking

C = TypeVar("C", Blocking, Awaiting)
T = TypeVar("T")


class Resource(Generic[C]):
    """Methods that a client sends, in a group of their own."""

    def __init__(self, client: C) -> None:
        self._client: C = client

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._client!r})"


class BlockingResource(Resource[Blocking]):
    """The methods of a ``Client``."""

    def run(self, asked: Conversation[T]) -> T:
        """Run a call with the client."""
        return self._client.run(asked)


class AwaitingResource(Resource[Awaiting]):
    """The methods of an ``AsyncClient``."""

    def run(self, asked: Conversation[T]) -> Coroutine[Any, Any, T]:
        """Run a call with the client."""
        return self._client.run(asked)


def checked(reference: Any, expected: str) -> str:
    """The name or id of a resource, if it is one."""
    if not isinstance(reference, str) or not reference:
        raise UsageError(f"expected {expected}, got {reference!r}")
    return reference
