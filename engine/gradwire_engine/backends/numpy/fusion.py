"""Instructions on large arrays as kernels that NumPy computes block by block.

Between two instructions a large array travels to memory and back; a block of it stays in the
processor's cache. What nothing outside a kernel reads is never made as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cached_property, partial
from math import prod
from typing import Any

import numpy as np

from gradwire_engine.answer import Poll
from gradwire_engine.backends.base import FusedGroup, Line
from gradwire_engine.backends.numpy import sweeps
from gradwire_engine.backends.numpy.buffers import POOL
from gradwire_engine.backends.numpy.sweeps import JOINS
from gradwire_engine.backends.numpy.text import Text
from gradwire_engine.backends.regroup import regrouped
from gradwire_engine.kernels.build import KernelBuilder
from gradwire_engine.kernels.form import Reduce, Within, dtype_of, nests_of
from gradwire_engine.kernels.maps import is_map, is_view
from gradwire_engine.kernels.partition import Part, parts
from gradwire_engine.kernels.roots import is_reduction
from gradwire_engine.kernels.scalar import has_expression
from gradwire_engine.kernels.views import Views
from gradwire_engine.kernels.writes import index_slots
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.conversion import AsType
from gradwire_engine.ops.linalg.contraction import Contract
from gradwire_engine.ops.reductions.reductions import Reduction
from gradwire_engine.polling import polled, unhurried
from gradwire_engine.tape import ArrayType, Tape, Type

#: Smaller arrays are left alone: calling takes longer than moving them.
SMALLEST_BYTES = 1 << 16
#: Kernels pay that spare at least as many bytes, and by what share of those that they move: less is
#: in the cache anyway, or takes no longer than what blocks cost.
LEAST_SPARED, LEAST_SHARE = 1 << 22, 1.0


class SweptKernel(FusedGroup):
    """A function for the instructions of a ``part`` of ``tape``; no program can name it.

    Its blocks are computed by as many ``threads``, that of the caller among them. Of the results
    among ``outputs``, of the numbers ``checked``, the squares are added up block by block.
    """

    name = "swept"

    def __init__(
        self, tape: Tape, views: Views, part: Part, outputs: Collection[int], threads: int
    ) -> None:
        self.slots, self.results = part
        made = tape.instructions
        self.instructions = [made[slot] for slot in part.slots]
        checked = [s for s in part.results if s in outputs and made[s].type.dtype.kind == "f"]  # type: ignore[union-attr]
        builder = KernelBuilder(made, views, part.slots, part.results, checked, by_arrays=True)
        self.form = builder.kernel()
        self.operands = [operand.slot for operand in builder.memory.operands]
        self.checked = frozenset([part.results.index(slot) for slot in builder.checked])
        self.each = [
            op.flops(kind, *[made[a].type for a in args])  # type: ignore[arg-type]
            for op, args, kind, _ in self.instructions
        ]
        self._threads = threads

    def __str__(self) -> str:
        return f"swept[{len(self.slots)} instructions, {len(self.form.nests)} nests]"

    @property
    def is_arrays(self) -> bool:
        """True if no element is chosen among pieces."""
        nests = nests_of(self.form.nests)
        return not any(isinstance(node, Within) for nest in nests for node in nest.nodes)

    @property
    def nbytes(self) -> int:
        """Bytes beside the results: of what nests store for each other, and of the buffers."""
        form, results = self.form, {place.buffer for place in self.form.results}
        own = [form.buffers[b] for b in {*range(form.operands, len(form.buffers))} - results]
        stored: int = sum(
            [prod(buffer.shape, start=dtype_of(buffer.char).itemsize) for buffer in own]
        )
        return stored + self._written[1] * self._threads

    @property
    def lines(self) -> Sequence[Line]:
        """The function's text."""
        return self._written[0].lines

    @cached_property
    def passes(self) -> Callable[..., tuple[Any, ...]]:
        """From the poll and operands to results, and a number that is finite if they are."""
        return self._written[0].function("swept")

    @cached_property
    def _written(self) -> tuple[Text, int]:
        """The text, and the bytes of the buffers of a block."""
        form, nests = self.form, [*nests_of(self.form.nests)]
        names = [f"b{number}" for number in range(len(form.buffers))]
        text = Text(f"def swept(poll, {', '.join(names[: form.operands])}):")
        text.write("squares = []")
        for name in names[: form.operands]:
            text.write(f"{name} = {text.bind(_flat, 'flat')}({name})")
        for number in range(form.operands, len(form.buffers)):
            buffer = form.buffers[number]
            shape, dtype = (prod(buffer.shape),), text.bind(dtype_of(buffer.char))
            text.write(f"b{number} = {text.bind(POOL.empty, 'empty')}({shape}, {dtype})")
        reduced = {
            (root.buffer, root.at.offset): (JOINS[root.kind], number)
            for number, nest in enumerate(nests)
            for root in nest.roots
            if isinstance(root, Reduce) and root.kind in JOINS
        }
        text.write(f"parts = {{{''.join([f'{place}: [], ' for place in reduced])}}}")
        most = 0
        for number, nest in enumerate(nests):
            if not nest.lengths or prod(nest.lengths) <= sweeps.FEW_STEPS:
                walk = text.bind(partial(sweeps.walked, nest, form.numbers))
                text.write(f"{walk}(({''.join([f'{name}, ' for name in names])}), parts, squares)")
            else:
                sweep = sweeps.Sweep(text, nest, number, form.numbers)
                sweep.write(self._threads)
                most = max(most, sweep.nbytes)
            for (of, offset), (join, last) in reduced.items():
                if last == number:
                    up = text.bind(join.reduce, f"{join.__name__}_up")
                    text.write(f"b{of}[{offset}] = {up}(parts[{of}, {offset}])")
        kinds = self.infer().items  # type: ignore[union-attr]
        given = [
            f"b{of}.reshape({kind.shape}), " if kind.shape else f"b{of}[{element}], "
            for (of, element), kind in zip(form.results, kinds, strict=True)
        ]
        total = f"{text.bind(sum, 'sum')}(squares), " if self.checked else ""
        text.write(f"return ({''.join(given)}{total})")
        return text, most


def fuse(tape: Tape, poll: Poll = unhurried, threads: int = 1, *, returned: bool = True) -> Tape:
    """An equivalent tape in which each kernel is one instruction, for as many threads.

    If its outputs are ``returned``, they are checked to be finite.
    """
    if not any(i.type.nbytes >= SMALLEST_BYTES for i in polled(tape.instructions, poll)):
        return tape
    views = Views(tape.instructions, poll)
    checked = tape.outputs if returned else ()
    kernels: list[SweptKernel] = []
    for part in parts(tape, views, poll, is_swept, loops=False):
        if _pays(tape, views, part):
            kernel = SweptKernel(tape, views, part, checked, threads)
            kernels += [kernel] if kernel.is_arrays else []
            poll()
    return regrouped(tape, kernels, poll) if kernels else tape


def is_swept(op: Op, kind: Type, types: Sequence[Type]) -> bool:
    """True if NumPy computes an instruction in kernels: on a large array, by its elements.

    What reduces rows, or multiplies matrices, gains nothing.
    """
    arrays = [each for each in (kind, *types) if isinstance(each, ArrayType) and each.size]
    if len(arrays) <= len(types) or max(each.nbytes for each in arrays) < SMALLEST_BYTES:
        return False
    if is_view(op):
        return False
    result, *operands = arrays
    if isinstance(op, Contract):
        left, right, kept = op.labels
        alike = left == right and not kept
        return (alike or {*left, *right} == {*kept}) and is_reduction(op, result, operands)
    if isinstance(op, Reduction):
        return not result.shape and is_reduction(op, result, operands)
    if isinstance(op, AsType):
        return has_expression(op, kind, types)
    if op.elementwise:
        return not (op.parameters or op.views)
    return not index_slots(op, range(len(types))) and is_map(op, [each.shape for each in operands])


def _pays(tape: Tape, views: Views, part: Part) -> bool:
    """True if it spares as much as it moves: to make large results as a whole, and to read them."""
    made, within = tape.instructions, {*part.slots}
    bases = [views.bases[arg] for slot in part.slots for arg in made[slot].args]
    moved = {*part.results, *[base for base in bases if base not in within]}
    spared = sum([made[slot].type.nbytes for slot in within.difference(moved)])
    share = LEAST_SHARE * sum([made[slot].type.nbytes for slot in moved])
    return bool(spared) and spared >= max(share, LEAST_SPARED)


def _flat(x: Any) -> Any:
    """The elements in row-major order."""
    return np.ascontiguousarray(x).reshape(-1)
