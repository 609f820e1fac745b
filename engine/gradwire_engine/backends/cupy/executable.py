"""A tape ready to replay on a GPU: launched one after the other, then as one captured graph.

Guards, faults and what is not finite are flags on the device, read once with the outputs. What has
no form for a GPU runs on the host, and then nothing is captured.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

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
from gradwire_engine.backends.cupy.device import Staged
from gradwire_engine.backends.cupy.groups import GpuKernel, Library, Zeroed, kernels_of
from gradwire_engine.backends.cupy.host import is_capturable, on_host
from gradwire_engine.backends.cupy.requirements import collected
from gradwire_engine.backends.devices import OutOfGpuMemory
from gradwire_engine.backends.plan import plan
from gradwire_engine.backends.quiet import quiet
from gradwire_engine.backends.reference import loops
from gradwire_engine.backends.reference.namespace import NUMPY
from gradwire_engine.backends.regroup import regrouped
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.constants import Constant, Guard, GuardFailed, Input
from gradwire_engine.ops.linalg.contraction import Contract
from gradwire_engine.ops.loops import Loop
from gradwire_engine.polling import polled
from gradwire_engine.tape import ArrayType, Instruction, Tape
from gradwire_engine.traversal import dead_after

logger = logging.getLogger("gradwire")
#: Predicted seconds of a launch, of a byte in the device's memory and of an arithmetic operation.
SECONDS_PER_LAUNCH, SECONDS_PER_BYTE, SECONDS_PER_FLOP = 4e-6, 5e-13, 1e-12
#: Bytes of outputs that stay on the device, and would be copied out of a graph's memory, from
#: which on launching costs less.
_LARGE_BYTES = 1 << 24
#: From the device to the host.
Copy: TypeAlias = Callable[[Any, Poll], Any]
#: Graphs for different places of what is on the device.
_MOST_GRAPHS = 4
_BYTES_PER_INSTRUCTION = 1000


class Work(NamedTuple):
    """What was begun: outputs, and flags, those of kernels first and then conditions, if any.

    The first conditions, so many, are ``guards``, then come those that kernels of CuPy's functions
    require, then whether outputs are finite that stay on the device.
    """

    outputs: Sequence[Any]
    flags: Any | None
    guards: int
    required: int


class Graph(NamedTuple):
    """Work that was captured, the inputs' own memory, and the pool that all of its memory is of."""

    graph: Any
    work: Work
    inputs: Sequence[Any]
    pool: Any


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
        self._kernels: dict[GpuKernel, Zeroed] = {}
        #: The device's memory for what kernels say of values; each replay begins with zeros there.
        self._flags: Any = None
        #: The slots that nothing reads after each.
        self._dead: Sequence[Sequence[int]] = ()
        self._constants: dict[int, Any] = {}
        #: The names of operations that the host computes.
        self.hosted: Sequence[str] = ()
        self._captures = True
        #: How often there were arrays at these places, and the graphs for them.
        self._seen: dict[tuple[int, ...], int] = {}
        self._graphs: dict[tuple[int, ...], Graph] = {}

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
        if self._graphs:
            launches = 1
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
            if not error.freed:
                raise
            error.forget_calls()
            replayed = self._attempted(inputs, poll)
        if replayed is None:
            given = [self._on_host(x, poll) for x in inputs]
            return self._host.replay(given, poll)
        return replayed

    def _attempted(self, inputs: Sequence[Any], poll: Poll) -> Replayed | None:
        staged = self._device.staged(inputs, poll)
        with self._device.working(poll):
            self._prepare(poll)
            return self._on_device(staged, poll)

    def _prepare(self, poll: Poll) -> None:
        """Find the kernels, and load them."""
        if self._replayed is not None:
            return
        kernels = kernels_of(self.tape, poll)
        texts = [launch.text for kernel in kernels for launch in kernel.launches]
        functions, flag_bytes = self._library.functions(texts), 0
        for kernel in kernels:
            kernel.load(self._library, functions)
            poll()
            zeroed = self._kernels[kernel] = kernel.zeroed(flag_bytes)
            flag_bytes = zeroed.end
        if flag_bytes:
            self._flags = self._device.cupy.empty(flag_bytes, np.uint8)
        replayed = regrouped(self.tape, kernels, poll)
        made = replayed.instructions
        self.hosted = sorted({*_hosted(replayed, poll)})
        self._captures = not self.hosted and all(
            isinstance(i.op, GpuKernel) or is_capturable(i.op) for i in polled(made, poll)
        )
        for slot, (op, _, _, _) in enumerate(made):
            if isinstance(op, Constant):
                self._constants[slot] = self._device.copied(np.asarray(op.value))
        if self._stay and self.output_bytes > _LARGE_BYTES:
            self._captures = False
        self._library.products.prepare()
        self._dead = dead_after(replayed, poll)
        self._replayed = replayed

    def _on_device(self, staged: Staged, poll: Poll) -> Replayed | None:
        """The outputs; none where they are of no use."""
        stream = self._device.stream
        if staged.arrived is not None:
            stream.wait_event(staged.arrived)
        pairs = [*zip(staged.arrays, staged.stay, strict=True)]
        key = tuple([x.data.ptr if stays else 0 for x, stays in pairs])
        graph = self._graphs.get(key)
        if graph is None and self._captures and self._seen.get(key):
            graph = self._captured(key, staged)
        if graph is None:
            self._remember(key)
            work = self._begun(staged.arrays, poll)
        else:
            for place, x in zip(graph.inputs, staged.arrays, strict=True):
                if place is not None:
                    place.data.copy_from_device_async(x.data, x.nbytes, stream)
            graph.graph.launch(stream)
            work = graph.work
        return self._finished(work, poll, copied=graph is not None)

    def _remember(self, key: tuple[int, ...]) -> None:
        if len(self._seen) >= 4 * _MOST_GRAPHS:
            self._seen.clear()
        self._seen[key] = self._seen.get(key, 0) + 1

    def _captured(self, key: tuple[int, ...], staged: Staged) -> Graph | None:
        """A graph of all launches; none where something cannot be captured."""
        device, cupy = self._device, self._device.cupy
        pool = cupy.cuda.MemoryPool(device.pool.malloc)
        with cupy.cuda.using_allocator(pool.malloc):
            pairs = [*zip(staged.arrays, staged.stay, strict=True)]
            own = [None if stays else cupy.empty(x.shape, x.dtype) for x, stays in pairs]
            given = [x if o is None else o for (x, _), o in zip(pairs, own, strict=True)]
            device.stream.begin_capture()
            try:
                work = self._begun(given, lambda: None)
            except Exception:
                logger.warning("launches cannot be captured; each is made anew", exc_info=True)
                work = None
            try:
                graph = device.stream.end_capture()
            except Exception:
                logger.warning("launches cannot be captured; each is made anew", exc_info=True)
                work = None
        if work is None:
            self._captures = False
            return None
        if len(self._graphs) >= _MOST_GRAPHS:
            del self._graphs[next(iter(self._graphs))]
        found = self._graphs[key] = Graph(graph, work, own, pool)
        return found

    def _begun(self, inputs: Sequence[Any], poll: Poll) -> Work:
        """Launch everything, and look at no value meanwhile but where the host computes."""
        xp, stream, flags = self._device.cupy, self._device.stream, self._flags
        if flags is not None:
            flags.data.memset_async(0, flags.nbytes, stream)
        with collected() as requirements:
            outputs, guards = self._launched(inputs, poll)
        conditions = [value == guard.expected for value, guard in guards]
        conditions += [holds for holds, _ in requirements]
        if self._stay:
            conditions += [xp.isfinite(outputs[k]).all() for k in self._unchecked]
        if conditions:
            begin = 0 if flags is None else flags.nbytes
            every = xp.empty(begin + len(conditions), np.uint8)
            if flags is not None:
                every.data.copy_from_device_async(flags.data, begin, stream)
            listed = every[begin:].view(np.bool_)
            for number, condition in enumerate(conditions):
                listed[number] = condition
            flags = every
        return Work(outputs, flags, len(guards), len(requirements))

    def _launched(
        self, inputs: Sequence[Any], poll: Poll
    ) -> tuple[Sequence[Any], Sequence[tuple[Any, Guard]]]:
        """Outputs, and the guards' operands."""
        tape = self.replayed
        values: list[Any] = []
        guards: list[tuple[Any, Guard]] = []
        for slot, instruction in enumerate(polled(tape.instructions, poll)):
            op, args, _, _ = instruction
            operands = [values[a] for a in args]
            if isinstance(op, Input):
                values.append(inputs[op.index])
            elif slot in self._constants:
                values.append(self._constants[slot])
            elif isinstance(op, Guard):
                guards.append((operands[0], op))
                values.append(operands[0])
            else:
                try:
                    values.append(self._value(op, operands, poll))
                except Exception as error:
                    note_place(error, instruction)
                    raise
            for gone in self._dead[slot]:
                values[gone] = None
        return [values[slot] for slot in tape.outputs], guards

    def _value(self, op: Op, operands: Sequence[Any], poll: Poll) -> Any:
        if isinstance(op, GpuKernel):
            return op.launch(self._device, operands, self._flags, self._kernels[op])
        return self._evaluated(op, operands, poll)

    def _evaluated(self, op: Op, operands: Sequence[Any], poll: Poll) -> Any:
        """The result of an operation: by CuPy, or on the host."""
        if isinstance(op, Loop):
            return loops.run(
                op, operands, poll, lambda op, *given: self._evaluated(op, given, poll)
            )
        if on_host(op, [*map(_type, operands)]):
            given = [self._on_host(x, poll) for x in operands]
            return self._back(quiet.run(op.kernel, NUMPY, *given))
        if isinstance(op, Contract):
            return self._library.products.contract(op, *operands)
        return self._back(op.kernel(self._xp, *operands))

    def _back(self, value: Any) -> Any:
        """A result as arrays on the device."""
        if isinstance(value, tuple | list):
            return type(value)([self._back(each) for each in value])
        if value is None or isinstance(value, self._device.cupy.ndarray):
            return value
        return self._device.copied(np.asarray(value))

    def _on_host(self, x: Any, poll: Poll, copy: Copy | None = None) -> Any:
        """An array on the host, or a list of such; a number without axes is none."""
        if isinstance(x, tuple | list):
            return [self._on_host(each, poll, copy) for each in x]
        if isinstance(x, self._device.cupy.ndarray):
            x = (copy or self._device.copy_from)(x, poll)
        return x if isinstance(x, list) or x.ndim else x[()]

    # Ends

    def _finished(self, work: Work, poll: Poll, *, copied: bool) -> Replayed | None:
        """Wait, look at the flags, and bring the outputs to the host, unless they stay."""
        device, finite = self._device, list[Any]()
        if work.flags is None:
            device.wait(poll)
        else:
            flags = device.copy_from(work.flags, poll)
            own = 0 if self._flags is None else self._flags.nbytes
            hold = flags[own:].view(np.bool_)
            known = work.guards + work.required
            if not hold[: work.guards].all():
                return Replayed((), guard=GuardFailed)
            if not hold[:known].all():
                return None
            finite.append(np.where(hold[known:], 0, np.nan))
            for kernel, at in self._kernels.items():
                failed = kernel.failed(flags, at)
                if failed is not None:
                    if issubclass(failed, GuardFailed):
                        return Replayed((), guard=failed)
                    return None
                finite.append(kernel.finite(flags, at))
        if self._stay:
            outputs = [x.copy() if copied and _is_array(x) else x for x in work.outputs]
            return Replayed(tuple(outputs), tuple(finite))
        outputs = [self._on_host(x, poll, device.brought) for x in work.outputs]
        return Replayed(tuple(outputs), (*finite, *[outputs[k] for k in self._unchecked]))

    @cached_property
    def _unchecked(self) -> list[int]:
        """The outputs that no kernel has looked through for values that are not finite."""
        made = self.replayed.instructions
        found: list[int] = []
        for number, slot in enumerate(self.replayed.outputs):
            op, args, kind, _ = made[slot]
            if isinstance(kind, ArrayType) and kind.dtype.kind not in "fc":
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


def _type(x: Any) -> Any:
    """The type of an array; none of what is several."""
    return ArrayType(x.dtype, x.shape) if hasattr(x, "dtype") else None


def _is_array(x: Any) -> bool:
    return hasattr(x, "copy")
