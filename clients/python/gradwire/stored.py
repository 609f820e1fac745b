"""Programs and arrays that are not here, as values that calls take in their place."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar, NoReturn

import numpy as np

from gradwire.documents import Document
from gradwire.errors import UsageError
from gradwire.usage import public


class RemoteArray:
    """An array whose values are elsewhere; its shape and dtype are known."""

    __slots__ = ()

    dtype: np.dtype[Any]
    shape: tuple[int, ...]

    #: Where its values are, and how one gets them.
    where: ClassVar[str]
    hint: ClassVar[str]

    @abstractmethod
    def leaf(self) -> Mapping[str, Any]:
        """The leaf of a request that refers to it."""

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @public
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        """Refuse to be read as an array: NumPy would compute with an object of Python's."""
        name = next(iter(self.leaf().values()))
        raise UsageError(f"the values of {name[:15]}… are {self.where}", hint=self.hint)


@dataclass(frozen=True, slots=True)
class StoredTensor(Document, RemoteArray):
    """An array that the service stores; variables may have it wherever they may have an array.

    Its values are not here: ``client.tensors.get(tensor)`` fetches them.
    """

    where: ClassVar[str] = "with the service"
    hint: ClassVar[str] = "client.tensors.get(tensor) fetches them"

    #: The digest of dtype, shape and elements, so that equal arrays have equal refs; or an id of
    #: its own, if the array is part of an answer.
    ref: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    nbytes: int
    #: Extended by each use; the service may evict it earlier, if the quota is exhausted.
    expires_at: datetime = field(compare=False)

    def leaf(self) -> dict[str, str]:
        """The leaf of a request that refers to it."""
        return {"ref": self.ref}


@dataclass(frozen=True, slots=True)
class StoredProgram(Document):
    """A program that the service stores; calls take it wherever they take a program."""

    #: Equal programs have equal ids.
    id: str
    #: The name that it was registered or fetched by, else its first name, if it has any.
    name: str | None
    names: tuple[str, ...]
    #: The names that it reads before assigning them.
    variables: tuple[str, ...]
    #: The names of what it returns, nested as it returns them; ``None`` for values without one.
    outputs: Any
    #: The number of its nodes.
    nodes: int
    #: As it was first sent, a graph as text if possible; ``None`` in lists.
    text: str | None = field(default=None, compare=False)

    @property
    def reference(self) -> dict[str, str]:
        """The member ``program`` of a request that refers to it."""
        return {"ref": self.id}
