"""A tape ready to replay on a GPU: launched one after the other, then as captured graphs.

Nothing waits for the device before the end but what the host computes, or a library's functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from gradwire_engine.answer import Poll
from gradwire_engine.backends.base import (
    Executable,
    Line,
    Listing,
    Replayed,
    note_place,
    noted_place,
)
from gradwire_engine.backends.devices import OutOfGpuMemory
from gradwire_engine.backends.errstate import errstate
from gradwire_engine.backends.plan import plan
from gradwire_engine.backends.reference import loops
from gradwire_engine.backends.reference.namespace import NUMPY
from gradwire_engine.backends.regroup import regrouped
from gradwire_engine.loops.loop import Loop
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.constants import Constant, Guard, Input, Item, Pack
from gradwire_engine.ops.conversion import AsType
from gradwire_engine.ops.linalg.contraction import Contract
from gradwire_engine.ops.promotion import BFLOAT16
from gradwire_engine.ops.requirements import Required
from gradwire_engine.polling import no_deadline, polled
from gradwire_engine.tape import ArrayType, DType, Instruction, Tape, Type
from gradwire_engine.traversal import dead_after

from gradwire_gpu.cupy.device import KEPT_BYTES, Staged
from gradwire_gpu.cupy.flags import Flags
from gradwire_gpu.cupy.graphs import Recordings
from gradwire_gpu.cupy.groups import GpuKernel, Library, kernels_of
from gradwire_gpu.cupy.half_products import ContractHalves
from gradwire_gpu.cupy.host import on_host
from gradwire_gpu.cupy.requirements import collected
from gradwire_gpu.cupy.segments import Segment, segments

#: Predicted seconds of a launch, of a byte in the device's memory and of an arithmetic operation.
SECONDS_PER_LAUNCH, SECONDS_PER_BYTE, SECONDS_PER_FLOP = 4e-6, 5e-13, 1e-12
#: Bytes of outputs that stay on the device, and would be copied out of a graph's memory, from
#: which on launching costs less.
_LARGE_BYTES = 1 << 24
#: From the device to the host.
Copy: TypeAlias = Callable[[Any, Poll, DType | None], Any]
_BYTES_PER_INSTRUCTION = 1000


class CupyExecutable(Executable):
    """Replays a tape on the device of ``library``; what fails is replayed by ``host``."""

    def __init__(
        self, tape: Tape, poll: Poll, library: Library, host: Executable, xp: Any, *, stay: bool
    ) -> None:
        super().__init__(tape, poll, exact=False)
        self._library, self._device = library, library.device
        self._host, self._xp, self._stay = host, xp, stay
        self._plan = plan(tape, poll)
        self._replayed: Tape | None = None
        self._flags: Flags
        #: The slots that nothing reads after each.
        self._dead: Sequence[Sequence[int]] = ()
        self._segments: list[Segment] = []
        self._recordings: Recordings
        #: The values of constants by their slots, with room for all others.
        self._constants: list[Any] = []
        #: The names of operations that the host computes.
        self.hosted: Sequence[str] = ()

    @property
    def replayed(self) -> Tape:
        """The tape with kernels, once it was replayed."""
        return self._replayed or self.tape

    @property
    def flops(self) -> int:
        """Arithmetic operations of a replay."""
        return self._plan.flops

    @property
    def peak_bytes(self) -> int:
        """Most bytes of arrays alive at once."""
        return self._plan.peak_bytes

    @property
    def seconds(self) -> float:
        """Predicted time of the next replay."""
        launches = len(self.replayed.instructions) + self._looped
        if self._replayed is not None and self._recordings:
            launched = [s.end - s.begin for s in self._segments if not s.captured]
            launches = len(self._segments) + (sum(launched) + self._looped if launched else 0)
        moved = sum([i.type.nbytes for i in self.replayed.instructions])
        return (
            launches * SECONDS_PER_LAUNCH + moved * SECONDS_PER_BYTE + self.flops * SECONDS_PER_FLOP
        )

    @property
    def nbytes(self) -> int:
        """Approximate memory that it takes on the host."""
        return _BYTES_PER_INSTRUCTION * len(self.tape.instructions) + self.constant_bytes

    def failed_at(self, error: BaseException) -> Instruction | None:
        """The instruction that raised ``error``."""
        return noted_place(error) or self._host.failed_at(error)

    def listing(self, poll: Poll) -> Listing:
        """The text of the launches, by the slots of kernels."""
        with self._device.working(poll):
            self._prepare(poll)
        made = self.replayed.instructions
        inner: dict[tuple[int, ...], Sequence[Line]] = {}
        inner |= {(k,): i.op.lines for k, i in enumerate(made) if isinstance(i.op, GpuKernel)}
        lines = [(str(i.op), i) for i in made if not isinstance(i.op, Input | Constant)]
        return Listing(lines, inner)

    # Replays

    def replay(self, inputs: Sequence[Any], poll: Poll) -> Replayed:
        """Replay on the device; on the host where values fail, as an error says there of which."""
        try:
            replayed = self._attempted(inputs, poll)
        except OutOfGpuMemory as error:
            error.forget_calls()
            if not (self._without_graphs(poll) or error.freed):
                raise
            replayed = self._attempted(inputs, poll)
        return self._host.replay(inputs, poll) if replayed is None else replayed

    def _without_graphs(self, poll: Poll) -> bool:
        """Give the memory of graphs back, and make none any more; false if there are none."""
        with self._device.working(poll):
            if self._replayed is None or not self._recordings:
                return False
            self._recordings = self._recordings.emptied()
            self._segments = [Segment(0, len(self.replayed.instructions), captured=False)]
            return True

    def _attempted(self, inputs: Sequence[Any], poll: Poll) -> Replayed | None:
        made = self.tape.instructions
        read = [inputs[made[slot].op.index] for slot in self.tape.inputs]  # type: ignore[attr-defined]
        staged = self._device.staged(read, poll)
        with self._device.working(poll):
            self._prepare(poll)
            return self._on_device(staged, poll)

    def _prepare(self, poll: Poll) -> None:
        """Find the kernels, and load them."""
        if self._replayed is not None:
            return
        device, kernels = self._device, kernels_of(self.tape, poll)
        texts = [launch.text for kernel in kernels for launch in kernel.launches]
        functions = self._library.functions(texts)
        for kernel in kernels:
            kernel.load(self._library, functions)
            poll()
        replayed = regrouped(self.tape, kernels, poll)
        made = replayed.instructions
        self.hosted = sorted({*_hosted(replayed, poll)})
        self._constants = [
            device.copied(np.asarray(op.value)) if isinstance(op, Constant) else None
            for op, _, _, _ in made
        ]
        constants = [slot for slot, value in enumerate(self._constants) if value is not None]
        guards = [slot for slot, i in enumerate(made) if isinstance(i.op, Guard)]
        requiring = [slot for slot, i in enumerate(made) if _may_require(i.op)]
        self._unchecked = _unchecked(replayed)
        through = {replayed.outputs[k]: None for k in self._unchecked} if self._stay else ()
        numbers = {k: self._xp.of_bfloat16 if _is_bits(made[k].type) else None for k in through}
        self._flags = Flags(device, kernels, guards, requiring, numbers)
        self._library.products.prepare()
        self._dead = dead_after(replayed, poll)
        self._segments = segments(replayed, self._dead, self.peak_bytes, poll)
        if self._stay and self.output_bytes > _LARGE_BYTES:
            self._segments = [Segment(0, len(made), captured=False)]
        self._recordings = Recordings(device, replayed.inputs, constants)
        self._returned = self._dtypes(self.tape.outputs)
        self._replayed = replayed

    def _on_device(self, staged: Staged, poll: Poll) -> Replayed | None:
        """The outputs; none where they are of no use."""
        if staged.arrived is not None:
            self._device.stream.wait_event(staged.arrived)
        values = [*self._constants]
        for slot, x in zip(self.replayed.inputs, staged.arrays, strict=True):
            values[slot] = x
        key = self._recordings.key(staged)
        recording = self._recordings.recording(key) if self._captures else None
        for number, segment in enumerate(self._segments):
            poll()
            if recording is not None:
                if recording.replay(segment, values):
                    continue
                launch = partial(self._launch, segment, poll=no_deadline)
                if segment.captured and recording.capture(segment, values, launch):
                    continue
                self._segments[number] = segment._replace(captured=False)
            self._launch(segment, values, poll)
        if recording is None:
            self._recordings.launched(key)
        outputs = [values[slot] for slot in self.replayed.outputs]
        return self._finished(outputs, poll, copied=recording is not None)

    @property
    def _captures(self) -> bool:
        return any(segment.captured for segment in self._segments)

    def _launch(self, segment: Segment, values: list[Any], poll: Poll) -> None:
        """Launch all of a segment, and look at no value but where the host computes."""
        made, flags, begin, end = self.replayed.instructions, self._flags, *segment[:2]
        if not begin:
            flags.clear()
        with collected() as requirements:
            for slot in polled(range(begin, end), poll):
                instruction = made[slot]
                op, args, _, _ = instruction
                operands = [values[a] for a in args]
                if isinstance(op, Guard):
                    flags.guard(slot, operands[0], op.expected)
                    values[slot] = operands[0]
                elif not isinstance(op, Input | Constant):
                    try:
                        of = made[args[0]].type if args else None
                        values[slot] = self._value(op, operands, of, poll)
                    except Exception as error:
                        note_place(error, instruction)
                        raise
                if requirements:
                    flags.require(slot, requirements)
                    requirements.clear()
                for gone in self._dead[slot]:
                    values[gone] = None
        flags.look_through(values, begin, end)

    def _value(self, op: Op, operands: Sequence[Any], of: Type | None, poll: Poll) -> Any:
        """The result of an operation, of which the first operand is of the type ``of``."""
        if isinstance(op, GpuKernel):
            flags = self._flags
            return op.launch(self._device, operands, flags.memory, flags.zeroed[op])
        if isinstance(op, AsType) and _is_bits(of) and op.dtype != BFLOAT16:
            operands = [self._xp.of_bfloat16(*operands)]
        return self._evaluated(op, operands, poll)

    def _evaluated(self, op: Op, operands: Sequence[Any], poll: Poll) -> Any:
        """The result of an operation: by CuPy, or on the host."""
        if isinstance(op, Loop):
            return loops.run(
                op, operands, poll, lambda op, *given: self._evaluated(op, given, poll)
            )
        if isinstance(op, AsType) and op.dtype == BFLOAT16:
            return self._xp.to_bfloat16(*operands)
        if on_host(op, [*map(_type, operands)]):
            given = [self._on_host(x, poll) for x in operands]
            return self._back(errstate.run(op.kernel, NUMPY, *given))
        if isinstance(op, Contract):
            return self._library.products.contract(op, *operands)
        if isinstance(op, ContractHalves):
            return self._library.products.contract_halves(op.whole, *operands)
        return self._back(op.kernel(self._xp, *operands))

    def _back(self, value: Any) -> Any:
        """A result as arrays on the device."""
        if isinstance(value, tuple | list):
            return type(value)([self._back(each) for each in value])
        if value is None or isinstance(value, self._device.cupy.ndarray):
            return value
        return self._device.copied(np.asarray(value))

    def _on_host(
        self, x: Any, poll: Poll, copy: Copy | None = None, dtype: DType | None = None
    ) -> Any:
        """An array on the host, or a list of such; a number without axes is none."""
        if isinstance(x, tuple | list):
            return [self._on_host(each, poll, copy) for each in x]
        if isinstance(x, self._device.cupy.ndarray):
            x = (copy or self._device.copy_from)(x, poll, dtype)
        return x if isinstance(x, list) or x.ndim else x[()]

    def _finished(self, outputs: list[Any], poll: Poll, *, copied: bool) -> Replayed | None:
        """Wait, look at what was found, and bring the outputs to the host, unless they stay."""
        device, flags = self._device, self._flags
        if self._stay and copied:  # the next replay writes there; nothing is waited for before
            outputs = [x.copy() if _is_array(x) else x for x in outputs]
        small = [] if self._stay else [k for k, x in enumerate(outputs) if self._is_small(x)]
        sent = [(outputs[k], self._returned[k]) for k in small]
        if flags.memory is not None:
            sent.append((flags.memory, None))
        if not sent:
            device.wait(poll)
        brought, unsure = device.copies_from(sent, poll), tuple[Any, ...]()
        if flags.memory is not None:
            found = flags.found(brought.pop())
            if found.guard is not None:
                return Replayed((), guard=found.guard)
            if found.fails:
                return None
            unsure = found.unsure
        if self._stay:
            return Replayed(tuple(outputs), unsure)
        for k, x in zip(small, brought, strict=True):
            outputs[k] = x
        pairs = zip(outputs, self._returned, strict=True)
        there = [self._on_host(x, poll, device.brought, dtype) for x, dtype in pairs]
        return Replayed(tuple(there), (*unsure, *[there[k] for k in self._unchecked]))

    def _is_small(self, x: Any) -> bool:
        return isinstance(x, self._device.cupy.ndarray) and 0 < x.nbytes < KEPT_BYTES

    def _dtypes(self, slots: Sequence[int]) -> list[DType | None]:
        """The dtypes at slots of the tape as it was given, where the device has bits for them."""
        kinds = [self.tape.instructions[slot].type for slot in slots]
        return [BFLOAT16 if _is_bits(kind) else None for kind in kinds]


def _may_require(op: Op) -> bool:
    """True if an operation's kernel may require something of values."""
    if isinstance(op, Required):
        return True
    ours = GpuKernel | Contract | ContractHalves | Guard
    return not (op.views or isinstance(op, ours | Input | Constant | Item | Pack))


def _unchecked(tape: Tape) -> list[int]:
    """The numbers of outputs that no kernel has looked through for values that are not finite."""
    made = tape.instructions
    found: list[int] = []
    for number, slot in enumerate(tape.outputs):
        op, args, kind, _ = made[slot]
        if isinstance(kind, ArrayType) and not kind.differentiable:
            continue
        of = made[args[0]].op if args else None
        if not (isinstance(of, GpuKernel) and op.index in of.checked):  # type: ignore[attr-defined]
            found.append(number)
    return found


def _hosted(tape: Tape, poll: Poll) -> Iterator[str]:
    """The names of the operations that the host computes, those in loops too."""
    made = tape.instructions
    for op, args, _, _ in polled(made, poll):
        if isinstance(op, Loop):
            yield from _hosted(op.body.tape, poll)
        elif on_host(op, [made[arg].type for arg in args]):
            yield op.name


def _is_bits(kind: Type | None) -> bool:
    """True if arrays on the device hold the bits of what is of this type."""
    return isinstance(kind, ArrayType) and kind.dtype == BFLOAT16


def _type(x: Any) -> Any:
    """The type of an array; none of what is several."""
    return ArrayType(x.dtype, x.shape) if hasattr(x, "dtype") else None


def _is_array(x: Any) -> bool:
    return hasattr(x, "copy")
