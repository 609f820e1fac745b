"""The groups of methods of both clients, as attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from gradwire.endpoints import Program, TapeOptions
from gradwire.keywords import with_keywords
from gradwire.methods import Awaiting, AwaitingListener, Blocking, BlockingListener
from gradwire.resources.programs import AsyncPrograms, Programs
from gradwire.resources.tapes import AsyncTapes, Tapes
from gradwire.resources.tensors import AsyncTensors, Tensors
from gradwire.tapes import Tape, TapeBeingMade
from gradwire.trees import Variables
from gradwire.usage import public

if TYPE_CHECKING:  # imported once a job is asked for
    from gradwire.resources.jobs import AsyncJobs, Jobs


class Groups:
    """The programs, arrays, tapes and jobs that a ``Client`` has with the service."""

    @property
    def programs(self: Blocking) -> Programs:
        """Programs: ``register``, ``list``, ``get``, ``graph``, ``delete``."""
        return Programs(self)

    @property
    def tensors(self: Blocking) -> Tensors:
        """Arrays: ``put``, ``get``, ``delete``."""
        return Tensors(self)

    @property
    def tapes(self: Blocking) -> Tapes:
        """Tapes: ``create``, ``get``, ``delete``."""
        return Tapes(self)

    @property
    def jobs(self: BlockingListener) -> Jobs:
        """Jobs: ``list``, ``get``, ``wait``, ``result``, ``events``, ``cancel``, ``delete``."""
        from gradwire.resources.jobs import Jobs  # noqa: PLC0415 - few clients have jobs

        return Jobs(self)

    @with_keywords
    @public
    def tape(
        self: Blocking,
        program: Program,
        variables: Variables | None = None,
        **options: Unpack[TapeOptions],
    ) -> Tape:
        """The short name of ``tapes.create``.

        >>> with client.tape("x**2", {"x": 3.0}) as tape:
        ...     tape.gradient().gradients
        {'x': np.float64(6.0)}
        """
        return Tapes(self).create(program, variables, **options)


class AsyncGroups:
    """The programs, arrays, tapes and jobs that an ``AsyncClient`` has with the service."""

    @property
    def programs(self: Awaiting) -> AsyncPrograms:
        """Programs: ``register``, ``list``, ``get``, ``graph``, ``delete``."""
        return AsyncPrograms(self)

    @property
    def tensors(self: Awaiting) -> AsyncTensors:
        """Arrays: ``put``, ``get``, ``delete``."""
        return AsyncTensors(self)

    @property
    def tapes(self: Awaiting) -> AsyncTapes:
        """Tapes: ``create``, ``get``, ``delete``."""
        return AsyncTapes(self)

    @property
    def jobs(self: AwaitingListener) -> AsyncJobs:
        """Jobs: ``list``, ``get``, ``wait``, ``result``, ``events``, ``cancel``, ``delete``."""
        from gradwire.resources.jobs import AsyncJobs  # noqa: PLC0415 - few clients have jobs

        return AsyncJobs(self)

    @with_keywords
    @public
    def tape(
        self: Awaiting,
        program: Program,
        variables: Variables | None = None,
        **options: Unpack[TapeOptions],
    ) -> TapeBeingMade:
        """The short name of ``tapes.create``.

        >>> async with client.tape("x**2", {"x": 3.0}) as tape:
        ...     answer = await tape.gradient()
        """
        return AsyncTapes(self).create(program, variables, **options)
