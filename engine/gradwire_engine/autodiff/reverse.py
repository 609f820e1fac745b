"""Reverse mode: extend a tape by the cotangents of its sources.

The walk emits instructions, so what it adds is optimised, replayed and differentiated again like
anything else. Source: Griewank and Walther, Evaluating Derivatives, section 3.2.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from gradwire_engine.autodiff import loops
from gradwire_engine.autodiff.last_passes import within_passes
from gradwire_engine.autodiff.limits import LENGTHS, Limits, equal_lengths
from gradwire_engine.autodiff.rule_cache import RuleCache
from gradwire_engine.autodiff.where_masks import Mask, branch_masks, operand_mask
from gradwire_engine.errors import DerivativeError
from gradwire_engine.loops.loop import Loop
from gradwire_engine.loops.stacks import AddStacks
from gradwire_engine.ops.base import FUNCTIONS, PRIMITIVES, Cotangents, Op
from gradwire_engine.ops.builder import Builder, Var
from gradwire_engine.ops.constants import Constant, Item, UnrecordedPath
from gradwire_engine.ops.halves import as_half, in_single, is_half
from gradwire_engine.ops.linalg.spectral import OfVectors
from gradwire_engine.ops.pointwise.arithmetic import Add
from gradwire_engine.ops.pointwise.selection import Where
from gradwire_engine.ops.rules import ByFormula
from gradwire_engine.polling import polled
from gradwire_engine.tape import ArrayType, TupleType, is_stack

_ADD = Add()


def pullback(
    b: Builder,
    targets: Sequence[Var],
    seeds: Sequence[Var],
    sources: Sequence[Var],
    *,
    limits: Limits | None = None,
) -> list[Var | None]:
    """Cotangents of ``sources`` for the cotangents ``seeds`` of ``targets``; None without a path.

    ``x_bar = Σ_t J_t(x)ᵀ seed_t``, each of its source's shape and dtype; at singular points
    with ``limits``, by default its own.

    Raises: ``DerivativeError``, where a part of one is not known; ``UnrecordedPath``, where a path
    leads through passes of a loop that are not on the tape.
    """
    if not sources or not targets:
        return [None] * len(sources)
    for region in b.regions:
        region.note(targets, sources)
    slots = [target.slot for target in targets]
    if any(within_passes(b.instructions, source.slot, slots) for source in sources):
        raise UnrecordedPath
    last = max(t.slot for t in targets)
    active = dependents(b, sources, last)
    walk = _Walk(b, active, limits or Limits(b, pullback, targets, sources, active))
    if any(type(b.instructions[source.slot].op) in LENGTHS for source in sources):
        walk.equals = {}  # each has a cotangent of its own
    for target, seed in zip(targets, seeds, strict=True):
        if walk.waits(target):
            walk.accumulate(target, unbroadcast(seed, target.type), None)
    origin = b.origin
    for slot in polled(range(last, min(s.slot for s in sources) - 1, -1), b.poll):
        if slot in walk.cotangents:
            walk.step(slot)
    b.origin = origin
    for slot in walk.holding:
        _refuse_partial(b, slot, [source for source in sources if source.slot in walk.cotangents])
    return [walk.cotangents.get(source.slot) for source in sources]


def _refuse_partial(b: Builder, slot: int, sources: Sequence[Var]) -> None:
    """Refuse cotangents that lack what flows through an operand which a rule holds constant."""
    op, args, _, origin = b.instructions[slot]
    for source in sources:
        reached = dependents(b, [source], slot)
        if any(reached[arg] for arg in args[:-1]):
            b.origin = origin
            message = f"{op.name} has no derivative in an operand that depends on the source"
            raise DerivativeError(message, hint="stop_gradient holds the operand constant")


def dependents(b: Builder, sources: Sequence[Var], last: int) -> bytearray:
    """Mark the slots up to ``last`` that depend differentiably on a source."""
    active = bytearray(last + 1)
    first = min(source.slot for source in sources)
    for source in sources:
        if source.slot <= last and source.type.differentiable:
            active[source.slot] = 1
    made = polled(b.instructions[first : last + 1], b.poll)
    for slot, (op, args, _, _) in enumerate(made, first):
        if op.differentiable and not active[slot]:
            for arg in args:
                if active[arg]:
                    active[slot] = 1
                    break
    return active


class _Walk:
    """Cotangents gathered so far, by slot; items of a tuple's slot are gathered by index."""

    def __init__(self, b: Builder, active: bytearray, limits: Limits) -> None:
        self.b = b
        self.limits = limits
        self.active = active
        self.cotangents: dict[int, Var] = {}
        self.items: dict[int, dict[int, Var]] = {}
        self.masks: dict[int, Mask] = {}
        self.rules = RuleCache(b)
        #: Slots whose rules hold operands constant that are not.
        self.holding: list[int] = []
        #: The first of equal lengths by the slots of the others, once one is met.
        self.equals: dict[int, int] | None = None

    def step(self, slot: int) -> None:
        """Hand the cotangent of ``slot`` on to its operands."""
        b = self.b
        op, args, kind, origin = b.instructions[slot]
        if not op.differentiable or not any(map(self.active.__getitem__, args)):
            return
        b.origin = origin if origin < 0 else ~origin
        z_bar, mask = self.cotangents[slot], self.masks.get(slot)
        if type(op) in LENGTHS:
            if self.equals is None:
                self.equals = equal_lengths(b.instructions, slot)
            if slot in self.equals:  # the cotangent of one length is smooth, not those of parts
                self.accumulate(b.vars[self.equals[slot]], z_bar, mask)
                return
        if isinstance(op, Item):
            self.gather(op.index, args[0], z_bar, mask)
            return
        variables = b.vars
        key: Hashable = None
        if len(args) < 3 and mask is None and op.elementwise and type(op) is not Where:
            x, y, waits = args[0], args[-1], self.active
            of_x, of_y = variables[x].type, variables[y].type
            alike = kind is of_x is of_y is z_bar.type
            types = kind if alike else (z_bar.type, kind, of_x, of_y)
            literal = -1
            if not (waits[x] and waits[y]):
                other = y if waits[x] else x
                if type(b.instructions[other].op) is Constant:
                    literal = other  # which a rule's own constant may be, too
            key = op, types, waits[x], waits[y], x == y, literal
            rule = self.rules.known.get(key)
            if rule is not None:
                slots = rule.again(b, z_bar.slot, slot, args)
                for i, number in rule.bars:
                    self.accumulate(variables[args[i]], variables[slots[number]], None)
                return
        z, operands = variables[slot], [variables[a] for a in args]
        start = len(variables)
        if op.holds(kind):
            self.holding.append(slot)
        bars: Cotangents
        if isinstance(kind, TupleType):
            reached = tuple([self.items[slot].get(i) for i in range(len(kind.items))])
            if isinstance(op, Loop):
                bars = loops.cotangents(pullback, op, reached, z, operands)
            elif isinstance(op, OfVectors):
                bars = op.by_quotients(reached, z, operands[0], self.limits.quotient(slot))
            else:
                bars = op.vjp(reached, z, *operands)  # type: ignore[arg-type]
        else:
            seen = z_bar, z, operands
            if any(map(is_half, (z, *operands))) and type(op).in_single is Op.in_single:
                single = [in_single(x) for x in operands]  # a rule rounds once, too
                seen = in_single(z_bar), op(*single), single
            bars = self.ruled(op, operands, *seen)
            if isinstance(op, ByFormula):
                bars = self.limits.added(slot, z_bar, bars)
        masks: Sequence[Mask] = (None,) * len(args)
        if isinstance(op, Where):
            masks = branch_masks(operands, mask)
        elif mask is not None:
            bars, masks = operand_mask(op, mask, bars, z, operands)
        wanted = [
            as_half(unbroadcast(bar, x.type), x) if bar is not None and self.waits(x) else None
            for x, bar in zip(operands, bars, strict=True)
        ]
        literal_bar = type(b.instructions[z_bar.slot].op) is Constant
        if key is not None and z_bar.slot > slot and not literal_bar:  # else it may be an operand
            self.rules.learn(key, start, (z_bar.slot, slot, *args), wanted)
        for operand, bar, passed in zip(operands, wanted, masks, strict=True):
            if bar is not None:
                self.accumulate(operand, bar, passed)

    def ruled(
        self, op: Op, given: Sequence[Var], z_bar: Var, z: Var, operands: Sequence[Var]
    ) -> Cotangents:
        """The cotangents of the ``given`` operands, those asked for, by an operation's rule."""
        if not op.by_operand:
            return op.vjp(z_bar, z, *operands)
        return [
            op.cotangent(i, z_bar, z, *operands) if self.waits(x) else None
            for i, x in enumerate(given)
        ]

    def waits(self, var: Var) -> bool:
        """True if a cotangent of ``var`` is wanted: it depends on a source."""
        return bool(self.active[var.slot]) and var.type.differentiable

    def gather(self, index: int, slot: int, bar: Var, mask: Mask) -> None:
        """Keep the cotangent of item ``index`` of a tuple, whose rule needs those of all."""
        items = self.items.setdefault(slot, {})
        items[index] = _sum(items[index], bar) if index in items else bar
        self.pass_on(slot, None if mask is None else FUNCTIONS["any"].record(self.b, mask))
        self.cotangents[slot] = bar  # marks the tuple as reached

    def accumulate(self, var: Var, bar: Var, mask: Mask) -> None:
        """Add a contribution to the cotangent of ``var``, which waits for it."""
        slot, cotangents = var.slot, self.cotangents
        if mask is not None or slot in self.masks:
            self.pass_on(slot, mask)
        cotangents[slot] = _sum(cotangents[slot], bar) if slot in cotangents else bar

    def pass_on(self, slot: int, mask: Mask) -> None:
        """Widen the mask of ``slot``, before the contribution that ``mask`` belongs to is added."""
        if slot not in self.cotangents:
            if mask is not None:
                self.masks[slot] = mask
            return
        held = self.masks.pop(slot, None)
        if held is not None and mask is not None:
            self.masks[slot] = PRIMITIVES["logical_or"]()(held, mask)


def _sum(x_bar: Var, y_bar: Var) -> Var:
    """Two contributions to one cotangent."""
    kind = x_bar.type
    if kind is y_bar.type and type(kind) is ArrayType:  # as most are
        return x_bar.builder.again(_ADD, (x_bar.slot, y_bar.slot), kind)
    return AddStacks()(x_bar, y_bar) if is_stack(x_bar.type) else x_bar + y_bar


def unbroadcast(bar: Var, kind: ArrayType) -> Var:
    """Sum ``bar`` over the axes along which an operand of type ``kind`` was repeated."""
    shape, wanted = bar.type.shape, kind.shape
    if shape == wanted:
        return bar
    extra = len(shape) - len(wanted)
    axes = tuple(range(max(extra, 0))) + tuple(
        axis + extra
        for axis, length in enumerate(wanted)
        if length == 1 and axis + extra >= 0 and shape[axis + extra] != 1
    )
    if axes:
        bar = PRIMITIVES["sum"](axes)(bar)
    if bar.type.size == kind.size:
        return bar if bar.type.shape == wanted else PRIMITIVES["reshape"](wanted)(bar)
    return bar.builder.broadcast(bar, wanted)


def gradient(b: Builder, targets: Sequence[Var], sources: Sequence[Var]) -> list[Var | None]:
    """Gradients of the sum of all elements of ``targets``."""
    seeds = [b.full(1, ArrayType(t.type.dtype, t.type.shape)) for t in targets]
    return pullback(b, targets, seeds, sources)
