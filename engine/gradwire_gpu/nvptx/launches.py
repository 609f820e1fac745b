"""From a kernel to launches: functions for the threads of a GPU, one after the other.

A nest with much to do is a launch by itself, and so is a loop whose passes are many problems side
by side. What is small is computed with its neighbours by one block, whose threads wait for each
other between nests.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from gradwire_engine.backends.llvm.functions.forms import DOUBLES, SINGLES
from gradwire_engine.backends.llvm.functions.library import functions_text
from gradwire_engine.backends.llvm.writer import Writer
from gradwire_engine.kernels.form import (
    EVERYWHERE,
    LEAST_ARGUMENT,
    Affine,
    Buffer,
    Count,
    For,
    Kernel,
    Load,
    Nest,
    Reduce,
    Step,
    Store,
    Within,
    nests_of,
)

from gradwire_gpu.nvptx.code import GpuCode
from gradwire_gpu.nvptx.nests import GpuNestPrinter
from gradwire_gpu.nvptx.problems import Kept, Problems, problems_of
from gradwire_gpu.nvptx.schedules import (
    THREADS,
    THREADS_ALONE,
    THREADS_OF_PROBLEMS,
    Schedule,
    at_once,
    is_ordered,
    scheduled,
)
from gradwire_gpu.nvptx.single_block import SingleBlockPrinter

#: Nodes that one block computes in about the time of a launch.
_SMALL = 1 << 14
#: Nodes of a pass that are worth a launch each, and launches of all passes.
_LARGE_PASS, _MOST_PASSES = 1 << 17, 4096
#: Blocks of a launch, whose threads take further points or passes when they have done theirs.
_MOST_BLOCKS = 1 << 16
#: Lines from which on functions are called, not written where they are called.
_MOST_INLINED = 4096
_TARGET = 'target triple = "nvptx64-nvidia-cuda"\n'


class Launch(NamedTuple):
    """A function ``kernel``, and its arguments in order.

    ``counted`` ones take the number of the pass last.
    """

    text: str
    buffers: tuple[int, ...]
    integers: tuple[int, ...]
    numbers: tuple[float, ...]
    blocks: int
    threads: int
    counted: bool = False


class Passes(NamedTuple):
    """Launches that are made once for each pass."""

    launches: tuple[Launch, ...]
    passes: int
    backward: bool


#: What is done one after the other.
Order: TypeAlias = Launch | Passes


class GpuWriter(Writer):
    """Lines whose integers become arguments when they are first written."""

    def integer(self, value: int) -> str:
        """An integer: an argument, if it is not small."""
        if abs(value) < LEAST_ARGUMENT:
            return str(value)
        return f"%n{self.integers.setdefault(value, len(self.integers))}"


@dataclass
class Program:
    """The launches that compute a kernel; ``buffers`` are its own, and temporaries beside them."""

    kernel: Kernel
    buffers: list[Buffer] = field(default_factory=list)
    orders: list[Order] = field(default_factory=list)

    def own(self, shape: tuple[int, ...], char: str) -> int:
        """A temporary."""
        self.buffers.append(Buffer(shape, char))
        return len(self.buffers) - 1


def program_of(kernel: Kernel) -> Program:
    """The launches of a kernel."""
    program = Program(kernel, [*kernel.buffers])
    small: list[Step] = []

    def finish() -> None:
        if small:
            program.orders.append(_alone(program, small))
            small.clear()

    for step in kernel.nests:
        if isinstance(step, Nest) and step.steps > _SMALL and not is_ordered(step):
            finish()
            program.orders += _spread(program, step)
        elif isinstance(step, For) and (problems := problems_of(kernel, step)) is not None:
            begins = {each.buffer: _copy(program, each, small) for each in problems.common}
            finish()
            program.orders.append(_side_by_side(program, problems, begins))
        elif isinstance(step, For) and _is_worth_launches(step):
            finish()
            nests = [nest for nest in step.nests if isinstance(nest, Nest)]
            within = tuple([launch for nest in nests for launch in _spread(program, nest)])
            assert step.passes is not None
            program.orders.append(Passes(within, step.passes, step.backward))
        else:
            small.append(step)
    finish()
    return program


def _is_worth_launches(step: For) -> bool:
    plain = all(isinstance(each, Nest) and not is_ordered(each) for each in step.nests)
    if step.passes is None or not plain:
        return False
    large = step.pass_steps > _LARGE_PASS * len(step.nests)
    return large and step.passes * len(step.nests) <= _MOST_PASSES


# Kinds of launches


def _spread(program: Program, nest: Nest) -> Iterator[Launch]:
    """A nest on as many blocks as it has work for; a further one puts splits together."""
    schedule = scheduled(nest)
    if schedule.splits == 1:
        yield _launched(program, nest, schedule)
        return
    points, splits = schedule.points(nest), schedule.splits
    inner, outer = _around(nest), nest.outer
    flat = _strides(nest.lengths[: nest.kept])
    outputs, further = [], []
    for output in inner.outputs:
        if not isinstance(output, Reduce) or output.kind in EVERYWHERE:
            outputs.append(output)
            continue
        char = nest.nodes[output.value].char
        parts = program.own((points, splits), char)
        by = [c * splits for c in flat]
        rest = (0,) * (len(nest.lengths) - nest.kept)
        mine = Affine((*(0,) * outer, 1, *by, *rest), 0)
        outputs.append(output._replace(buffer=parts, at=mine))
        at = Affine((*(0,) * outer, *by, 1), 0)
        by_loop = output.at.coefficients
        own = (*by_loop[:outer], *by_loop[outer + 1 : outer + 1 + nest.kept])
        target = output.at._replace(coefficients=(*own, 0))
        load = Load(parts, at, None, char)
        both = Reduce(output.kind, output.buffer, target, 0)
        further.append(
            Nest((*nest.lengths[: nest.kept], splits), nest.kept, (load,), (both,), outer)
        )
    yield _launched(program, inner._replace(outputs=tuple(outputs)), schedule)
    for each in further:
        yield _launched(program, each, scheduled(each, alone=True))


def _around(nest: Nest) -> Nest:
    """The nest within one more loop: that of its splits."""

    def further(at: Affine) -> Affine:
        c = at.coefficients
        return at._replace(coefficients=(*c[: nest.outer], 0, *c[nest.outer :]))

    nodes = [
        node._replace(at=further(node.at)) if isinstance(node, Load | Within | Count) else node
        for node in nest.nodes
    ]
    outputs = [r._replace(at=further(r.at)) for r in nest.outputs]
    return nest._replace(nodes=tuple(nodes), outputs=tuple(outputs), outer=nest.outer + 1)


def _strides(lengths: Sequence[int]) -> list[int]:
    return [math.prod(lengths[axis + 1 :]) for axis in range(len(lengths))]


def _launched(program: Program, nest: Nest, schedule: Schedule) -> Launch:
    """A nest, or the splits of one."""
    code = _code(program, [nest], THREADS)
    p, points, passes = code.p, schedule.points(nest), schedule.passes(nest)
    counted = nest.outer > (schedule.splits > 1)
    around = ["%pass"] if counted else []
    thread, block = code.thread(), code.block()
    if schedule.group == 1:
        blocks = min(schedule.blocks(nest), _MOST_BLOCKS)
        if passes == 1 < points:  # the points are shared as passes are
            printer = GpuNestPrinter(code, nest, Schedule(0), around)
            printer.at_once = at_once(nest, points)
            blocks = -(-blocks // printer.at_once)
            printer.print_flat(block, thread, blocks)
        else:
            first = p.let(f"add i64 {p.let(f'mul i64 {block}, {THREADS}')}, {thread}")
            printer = GpuNestPrinter(code, nest, schedule, around)
            printer.print(first, p.integer(blocks * THREADS))
        return _finished(program, code, [nest], blocks, counted=counted)
    tile, begin, end = block, "0", p.integer(passes)
    if schedule.splits > 1:
        tile, split = code.divided(block, schedule.splits, schedule.blocks(nest))
        each = p.integer(-(-passes // schedule.splits))
        begin = p.let(f"mul i64 {split}, {each}")
        last = p.let(f"add i64 {begin}, {each}")
        end = p.let(f"select i1 {p.let(f'icmp slt i64 {last}, {end}')}, i64 {last}, i64 {end}")
        around = [*around, split]
    printer = GpuNestPrinter(code, nest, schedule, around)
    printer.begin, printer.end = begin, end
    printer.at_once = at_once(nest, points * passes)
    tiles = schedule.blocks(nest) // schedule.splits
    printer.print_tiles(thread, tile, p.integer(tiles))
    return _finished(program, code, [nest], schedule.blocks(nest), counted=counted)


def _copy(program: Program, kept: Kept, steps: list[Step]) -> int:
    """A temporary that holds what a buffer does after these steps, of which one more is a copy."""
    char = program.kernel.buffers[kept.buffer].char
    copy = program.own((kept.elements,), char)
    every = Affine((1,), 0)
    load, store = Load(kept.buffer, every, None, char), Store(copy, every, 0)
    steps.append(Nest((kept.elements,), 1, (load,), (store,)))
    return copy


def _side_by_side(program: Program, problems: Problems, begins: Mapping[int, int]) -> Launch:
    """A loop for many problems, each by a thread."""
    threads = THREADS_OF_PROBLEMS
    code = _code(program, [*nests_of([problems.repeat])], threads)
    p = code.p
    problem = p.let(f"add i64 {p.let(f'mul i64 {code.block()}, {threads}')}, {code.thread()}")
    with code.when(p.let(f"icmp slt i64 {problem}, {p.integer(problems.many)}")):
        problems.print(code, problem, begins)
    blocks = -(-problems.many // threads)
    return _finished(program, code, [problems.repeat], blocks, own=problems.names)


def _alone(program: Program, steps: Sequence[Step]) -> Launch:
    """Steps by one block."""
    code = _code(program, [*nests_of(steps)], THREADS_ALONE)
    SingleBlockPrinter(code).print(steps)
    return _finished(program, code, steps, 1)


# Texts


def _code(program: Program, nests: Sequence[Nest], threads: int) -> GpuCode:
    kernel = program.kernel._replace(nests=tuple(nests), local=0)
    writer = GpuWriter(kernel)
    writer.integers.clear()
    return GpuCode(writer, threads)


def _finished(
    program: Program,
    code: GpuCode,
    steps: Sequence[Step],
    blocks: int,
    *,
    counted: bool = False,
    own: Sequence[str] = (),
) -> Launch:
    """The function of what was written of ``steps``, with the arguments that it uses."""
    body = "\n".join([*code.entry, *code.p.lines])
    used = {*re.findall(r"%[bnx]\d+\b", body)} - {*own}
    written = {*_written(steps)}
    buffers = [k for k in range(len(program.buffers)) if f"%b{k}" in used]
    integers = {number: value for value, number in code.p.integers.items()}
    known = [number for number in sorted(integers) if f"%n{number}" in used]
    numbers = [k for k in range(len(program.kernel.numbers)) if f"%x{k}" in used]
    given = [
        *[f"ptr noalias {'' if k in written else 'readonly '}%b{k}" for k in buffers],
        *[f"i64 %n{k}" for k in known],
        *[f"double %x{k}" for k in numbers],
        *(["i64 %pass"] if counted else []),
    ]
    library = [
        functions_text(names, form)
        for char, form in (("d", DOUBLES), ("f", SINGLES))
        if (names := sorted({name for name, of in code.arithmetic.called if of == char}))
    ]
    declared = "\n".join(sorted(code.p.declared))
    text = (
        f"{_TARGET}{code.memory()}{declared}\n"
        f"define ptx_kernel void @kernel({', '.join(given)}) {{\nentry:\n{body}\n  ret void\n}}\n"
        f'!nvvm.annotations = !{{!0}}\n!0 = !{{ptr @kernel, !"maxntidx", i32 {code.threads}}}\n'
    )
    return Launch(
        _with_library(text, "".join(library)),
        tuple(buffers),
        tuple([integers[number] for number in known]),
        tuple([program.kernel.numbers[k] for k in numbers]),
        blocks,
        code.threads,
        counted,
    )


def _written(steps: Sequence[Step]) -> Iterator[int]:
    """The buffers that steps write."""
    for step in steps:
        if isinstance(step, Nest):
            yield from [output.buffer for output in step.outputs]
            continue
        yield from _written(step.nests)
        if isinstance(step, For) and step.status is not None:
            yield step.status


def _with_library(text: str, library: str) -> str:
    """A text with functions beside it, what both declare once."""
    known = {line for line in text.splitlines() if line.startswith("declare ")}
    lines = [line for line in library.splitlines() if line not in known]
    own = "\n".join(lines)
    if _inlined_lines(text, own) > _MOST_INLINED:
        own = re.sub(r"^(define internal .*) \{$", r"\1 noinline {", own, flags=re.MULTILINE)
    return f"{text}{own}\n"


def _inlined_lines(text: str, library: str) -> int:
    """The number of lines if functions are written where they are called."""
    functions = re.findall(
        r"^define internal .*?@(\w+)\((.*?)^\}$", library, re.MULTILINE | re.DOTALL
    )
    both = f"{text}{library}"
    return sum((both.count(f"@{name}(") - 1) * body.count("\n") for name, body in functions)
