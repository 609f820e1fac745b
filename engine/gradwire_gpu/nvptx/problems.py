"""Loops whose passes are the same for many problems side by side: each is one thread's.

A thread keeps what its problem carries from pass to pass in registers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from gradwire_engine.backends.llvm.writer import MEMORY
from gradwire_engine.kernels.form import (
    EVERYWHERE,
    Add,
    Affine,
    Count,
    For,
    Kernel,
    Load,
    Nest,
    Output,
    Reduce,
    Step,
    Within,
    nests_of,
)

from gradwire_gpu.nvptx.code import GpuCode
from gradwire_gpu.nvptx.nests import GpuNestPrinter
from gradwire_gpu.nvptx.schedules import WARP, Schedule

#: Most elements of a buffer that a thread keeps, of all of them, and of work that is not shared.
_MOST_ELEMENTS, _MOST_KEPT, _MOST_REPEATED = 64, 256, 64


class Kept(NamedTuple):
    """A buffer that a thread keeps: so many elements of its own, or all where ``common``."""

    buffer: int
    elements: int
    common: bool


class Problems(NamedTuple):
    """``many`` problems of a loop, whose nests have one for each pass of their first loops."""

    many: int
    repeat: For
    kernel: Kernel
    kept: tuple[Kept, ...]

    @property
    def names(self) -> list[str]:
        """The names of the threads' own buffers."""
        return [f"%b{number}" for number in self._own.values()]

    @property
    def _own(self) -> dict[int, int]:
        """The numbers of the threads' own buffers."""
        first = 1_000_000  # no kernel has so many
        return {each.buffer: first + number for number, each in enumerate(self.kept)}

    @property
    def common(self) -> list[Kept]:
        """The buffers that are the same for all problems."""
        return [each for each in self.kept if each.common]

    def print(self, code: GpuCode, problem: str, begins: Mapping[int, int]) -> None:
        """Write the loop for one problem.

        Common buffers begin as copies of them that ``begins`` has: some threads may begin when the
        first problem's has ended, which writes what they end with.
        """
        own, p = self._own, code.p
        for each in self.kept:
            kind = MEMORY[self.kernel.buffers[each.buffer].char]
            code.entry.append(f"  %b{own[each.buffer]} = alloca [{each.elements} x {kind}]")
            from_buffer = begins.get(each.buffer, each.buffer)
            self._copy(code, each, from_buffer, own[each.buffer], problem, inward=True)
        self._steps(code, [self.repeat], problem, [])
        is_first = p.let(f"icmp eq i64 {problem}, 0")
        for each in self.kept:
            if not each.common:
                self._copy(code, each, each.buffer, own[each.buffer], problem, inward=False)
        if self.common:
            with code.when(is_first):
                for each in self.common:
                    self._copy(code, each, each.buffer, own[each.buffer], problem, inward=False)

    def _steps(self, code: GpuCode, steps: Sequence[Step], problem: str, around: list[str]) -> None:
        p = code.p
        for step in steps:
            if isinstance(step, Nest):
                self._nest(code, step, problem, around)
                continue
            assert isinstance(step, For)
            assert step.passes is not None
            passes = p.integer(step.passes)
            with code.loop(code.variable("i64", "0"), passes, "1") as turn:
                k = turn
                if step.backward:
                    k = p.let(f"sub i64 {p.let(f'sub i64 {passes}, 1')}, {turn}")
                self._steps(code, step.nests, problem, [*around, k])

    def _nest(self, code: GpuCode, nest: Nest, problem: str, around: list[str]) -> None:
        shared = _is_shared(nest)
        made = _with_own(_divided(nest, self.many) if shared else nest, self._own)
        fixed = [problem] if shared else []
        private = self._own.values()
        printer = GpuNestPrinter(code, made, Schedule(made.kept), around, fixed, private)
        printer.print("0", "1")

    def _copy(
        self, code: GpuCode, each: Kept, buffer: int, own: int, problem: str, *, inward: bool
    ) -> None:
        p, kind = code.p, MEMORY[self.kernel.buffers[each.buffer].char]
        for k in range(each.elements):
            place = str(k)
            if not each.common:
                first = p.let(f"mul i64 {problem}, {each.elements}")
                place = p.let(f"add i64 {first}, {k}")
            far = p.let(f"getelementptr {kind}, ptr %b{buffer}, i64 {place}")
            near = p.let(f"getelementptr {kind}, ptr %b{own}, i64 {k}")
            source, target = (far, near) if inward else (near, far)
            p.do(f"store {kind} {p.let(f'load {kind}, ptr {source}')}, ptr {target}")


def problems_of(kernel: Kernel, repeat: For) -> Problems | None:
    """The problems that a loop is of; none where its passes are not of many side by side."""
    if not _is_plain(repeat):
        return None
    nests = [*nests_of([repeat])]
    firsts = [nest.lengths[0] for nest in nests if _is_shared(nest)]
    count = math.gcd(*firsts)
    if count < WARP or any(not _is_shared(n) and n.steps > _MOST_REPEATED for n in nests):
        return None
    divided = [_divided(nest, count) if _is_shared(nest) else nest for nest in nests]
    kept: list[Kept] = []
    for buffer in sorted({output.buffer for nest in nests for output in nest.outputs}):
        found = _kept(kernel, buffer, count, divided)
        if found is None:
            return None
        kept += found
    if sum([each.elements for each in kept]) > _MOST_KEPT:
        return None
    common = {each.buffer for each in kept if each.common}
    written = {output.buffer for nest in nests for output in nest.outputs}
    for nest in nests:
        # what all threads compute may be from nothing that one of them has
        loads = {node.buffer for node in nest.nodes if isinstance(node, Load)}
        if not _is_shared(nest) and loads & (written - common):
            return None
    return Problems(count, repeat, kernel, tuple(kept))


def _is_plain(repeat: For) -> bool:
    """True if all passes are made, of nests and loops alone."""
    if repeat.passes is None:
        return False
    return all(
        isinstance(each, Nest) or (isinstance(each, For) and _is_plain(each))
        for each in repeat.nests
    )


def _is_shared(nest: Nest) -> bool:
    """True if its first loop is one of points, which may be problems."""
    return nest.kept > 0


def _divided(nest: Nest, count: int) -> Nest:
    """The nest with a first loop of problems, and one of what each of them has."""
    each, rest = divmod(nest.lengths[0], count)
    assert not rest
    if each == 1:
        return nest

    def apart(at: Affine) -> Affine:
        c, own = at.coefficients, nest.outer
        return at._replace(coefficients=(*c[:own], c[own] * each, *c[own:]))

    nodes = [n._replace(at=apart(n.at)) if _has_place(n) else n for n in nest.nodes]  # type: ignore[union-attr,call-arg]
    outputs = [output._replace(at=apart(output.at)) for output in nest.outputs]
    lengths = (count, each, *nest.lengths[1:])
    return nest._replace(
        lengths=lengths, kept=nest.kept + 1, nodes=tuple(nodes), outputs=tuple(outputs)
    )


def _has_place(node: object) -> bool:
    return isinstance(node, Load | Within | Count)


def _kept(kernel: Kernel, buffer: int, count: int, nests: Sequence[Nest]) -> list[Kept] | None:
    """The parts that a thread keeps of a buffer that is written: none if it only writes it.

    None if several problems have to do with one place.
    """
    uses = [*_uses(buffer, nests)]
    writes = [(nest, output) for nest, _, output in uses if output is not None]
    if all(isinstance(output, Reduce) and output.kind in EVERYWHERE for _, output in writes):
        return [] if len(writes) == len(uses) else None
    size = math.prod(kernel.buffers[buffer].shape)
    item, rest = divmod(size, count)
    if not any(_is_shared(nest) for nest, _ in writes):
        is_common = all(not any(at.coefficients) and not at.terms for _, at, _ in uses)
        return [Kept(buffer, size, common=True)] if is_common and size <= _MOST_ELEMENTS else None
    if any(not _is_shared(nest) for nest, _, _ in uses):
        return None
    if not rest and item <= _MOST_ELEMENTS and all(_is_own(n, at, item) for n, at, _ in uses):
        return [Kept(buffer, item, common=False)]
    if len(uses) > 1:
        return None  # threads are not in step: of two that store at one place, either could be last
    ((nest, output),) = writes
    return [] if not isinstance(output, Add) and _has_places(nest, output.at) else None


def _uses(buffer: int, nests: Sequence[Nest]) -> Iterator[tuple[Nest, Affine, Output | None]]:
    for nest in nests:
        for node in nest.nodes:
            if isinstance(node, Load) and node.buffer == buffer:
                yield nest, node.at, None
        for output in nest.outputs:
            if output.buffer == buffer:
                yield nest, output.at, output


def _is_own(nest: Nest, at: Affine, item: int) -> bool:
    """True if a place is among the ``item`` that the problem has, in every pass around."""
    around, own = at.coefficients[: nest.outer], at.coefficients[nest.outer :]
    if any(around) or at.terms or own[0] != item or any(c < 0 for c in own):
        return False
    reach = sum([c * (n - 1) for c, n in zip(own[1:], nest.lengths[1:], strict=True)])
    return at.offset >= 0 and at.offset + reach < item


def _has_places(nest: Nest, at: Affine) -> bool:
    """True if no two passes store at one place: those of the only loop around are far apart."""
    around = [abs(c) for c in at.coefficients[: nest.outer] if c]
    steps = zip(at.coefficients[nest.outer :], nest.lengths, strict=True)
    reach = 0
    for step, length in sorted([(abs(c), n) for c, n in steps if n > 1]):
        if step <= reach:
            return False
        reach += step * (length - 1)
    return not at.terms and len(around) == nest.outer == 1 and around[0] > reach


def _with_own(nest: Nest, own: Mapping[int, int]) -> Nest:
    """The nest that reads and writes the thread's own buffers, where the problem is no part."""

    def moved(each: Load | Output) -> Load | Output:
        if each.buffer not in own:
            return each
        coefficients = [*each.at.coefficients]
        if _is_shared(nest):
            coefficients[nest.outer] = 0
        at = each.at._replace(coefficients=tuple(coefficients))
        return each._replace(buffer=own[each.buffer], at=at)

    nodes = [moved(node) if isinstance(node, Load) else node for node in nest.nodes]
    outputs = [moved(output) for output in nest.outputs]
    return nest._replace(nodes=tuple(nodes), outputs=tuple(outputs))  # type: ignore[arg-type]
