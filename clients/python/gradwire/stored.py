"""Programs and tensors that the service stores, as values that calls take in their place."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NoReturn

import numpy as np

from gradwire.documents import Document
from gradwire.errors import UsageError


@dataclass(frozen=True, slots=True)
class StoredTensor(Document):
    """An array that the service stores; variables may have it wherever they may have an array.

    Its values are not here: ``client.tensors.get(tensor)`` fetches them.
    """

    #: The digest of dtype, shape and elements, so that equal arrays have equal refs; or an id of
    #: its own, if the array is part of an answer.
    ref: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    nbytes: int
    #: Extended by each use; the service may evict it earlier, if the quota is exhausted.
    expires_at: datetime = field(compare=False)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        """Refuse to be read as an array: NumPy would compute with an object of Python's."""
        raise UsageError(
            f"the values of {self.ref[:15]}… are with the service",
            hint="client.tensors.get(tensor) fetches them",
        )


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
