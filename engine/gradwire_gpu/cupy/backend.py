"""The backend that computes on an NVIDIA GPU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gradwire_engine.answer import Poll
from gradwire_engine.backends.base import Executable, Replayed
from gradwire_engine.backends.devices import MatmulPrecision
from gradwire_engine.backends.reference.backend import COSTS, EXACT_IDENTITIES
from gradwire_engine.backends.walk.backend import NUMPY_BACKEND, NumpyBackend
from gradwire_engine.backends.walk.executable import WalkExecutable
from gradwire_engine.optimize.target import rules
from gradwire_engine.polling import no_deadline
from gradwire_engine.tape import Tape

from gradwire_gpu.cupy.costs import measured
from gradwire_gpu.cupy.device import Device
from gradwire_gpu.cupy.executable import CupyExecutable
from gradwire_gpu.cupy.groups import Library
from gradwire_gpu.cupy.namespace import namespace
from gradwire_gpu.cupy.products import WORKSPACE_BYTES, Products
from gradwire_gpu.cupy.rules import RULES
from gradwire_gpu.nvptx.compiler import Compile, compile_here


class CupyBackend(NumpyBackend):
    """CuPy, and code of our own for what it would compute element by element.

    Exact replays, and those whose values fail, are NumPy's. Of the GPU's memory at most
    ``memory_bytes`` are taken; ``compile_texts`` makes PTX of a tenant's texts. Contractions round
    factors of single precision to ``matmul_precision``. Outputs ``stay`` on the device as CuPy's
    arrays if that is asked for, and inputs may be such.
    Raises: ``GpuUnavailable``.
    """

    name = "cupy"
    rules = rules(EXACT_IDENTITIES, RULES)
    costs = COSTS._replace(element=0.05)

    def __init__(
        self,
        memory_bytes: int | None = None,
        compile_texts: Compile | None = None,
        *,
        matmul_precision: MatmulPrecision = "float32",
        stay: bool = False,
    ) -> None:
        super().__init__()
        self.device = Device(memory_bytes)
        self._compile, self._stay = compile_texts or compile_here, stay
        self._xp = namespace()
        self._library = Library(self.device, self._compile, Products(self.device, matmul_precision))

    def apart(self, whose: str = "") -> CupyBackend:
        """A tenant's backend on the same device, with functions of its own."""
        other = object.__new__(type(self))
        NumpyBackend.__init__(other)
        other.device, other._compile, other._stay, other._xp = (
            *(self.device, self._compile, self._stay, self._xp),
        )
        other._library = Library(self.device, self._compile, self._library.products, whose)
        return other

    def describe(self) -> tuple[Any, ...]:
        """The fields of ``gpu.GpuDevice``."""
        device = self.device
        return (
            device.name,
            device.total_bytes,
            device.free_bytes,
            "{}.{}".format(*device.capability),
            self._library.products.precision,
        )

    def crossover(self, clock: Callable[[], float]) -> tuple[Any, ...]:
        """Measure what the device costs, in the order of the fields of ``gpu.Crossover``."""
        device = self.device

        def to(x: Any) -> Any:
            with device.working(no_deadline):
                copy = device.copied(x)
                device.wait(no_deadline)
                return copy

        def back(x: Any) -> Any:
            with device.working(no_deadline):
                return device.copy_from(x, no_deadline)

        room_bytes = device.memory_bytes - WORKSPACE_BYTES
        return measured(self, NUMPY_BACKEND, (to, back), room_bytes, clock)

    def compile(
        self, tape: Tape, poll: Poll, *, exact: bool = False, threads: int = 1
    ) -> Executable:
        """Make ready; exact ones are NumPy's alone."""
        host = HostExecutable(self.device, tape, poll, self._loops, exact=exact)
        if exact:
            return host
        return CupyExecutable(tape, poll, self._library, host, self._xp, stay=self._stay)


class HostExecutable(WalkExecutable):
    """Replays by NumPy, also of arrays that are on the device."""

    def __init__(self, device: Device, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._device = device

    def replay(self, inputs: Sequence[Any], poll: Poll) -> Replayed:
        """Compute the outputs on the host."""
        device, made = self._device, self.tape.instructions
        read = [(made[s].op.index, made[s].type) for s in self.tape.inputs]  # type: ignore[attr-defined]
        there = {k: kind for k, kind in read if isinstance(inputs[k], device.cupy.ndarray)}
        if there:
            with device.working(poll):
                sent = [(inputs[k], kind.dtype) for k, kind in there.items()]  # type: ignore[union-attr]
                brought = device.copies_from(sent, poll)
            inputs = [*inputs]
            for k, x in zip(there, brought, strict=True):
                inputs[k] = x
        return super().replay(inputs, poll)
