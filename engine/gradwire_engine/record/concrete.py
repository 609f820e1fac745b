"""Values while recording: evaluate what a decision needs, and guard the tape with it."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gradwire_engine.answer import Array
from gradwire_engine.backends.base import Backend
from gradwire_engine.batching.retrace import BatchTrace
from gradwire_engine.errors import BadArgument, DeadlineExceeded, EngineError, OverBudget
from gradwire_engine.loops.loop import Loop, MustUnroll
from gradwire_engine.ops.base import PRIMITIVES
from gradwire_engine.ops.builder import Builder, Var
from gradwire_engine.ops.constants import Guard, Input, Item
from gradwire_engine.sharding import decided_by_rows


class Concrete:
    """Evaluates slots of the tape under construction, each at most once, only where asked.

    An input of None has rows of which a shard is asked: nothing may be decided by them.
    """

    def __init__(
        self,
        b: Builder,
        backend: Backend,
        inputs: Sequence[Array | None],
    ) -> None:
        self._b = b
        self._backend = backend
        self._inputs = inputs
        self._values: dict[int, Any] = {}
        self._integers: dict[int, Array | None] = {}
        self._bytes = 0
        #: The examples of the mapped functions that are being recorded, the innermost last.
        self.levels: list[BatchTrace] = []

    def restart(self, values: dict[int, Any]) -> None:
        """Know these values by their slots, and no inputs or others."""
        self._inputs, self._values, self._integers, self._bytes = (), values, {}, 0

    def know(self, var: Var, value: Array) -> None:
        """Take the value of an input that is no variable's."""
        self._values[var.slot] = value

    def value(self, var: Var) -> Any:
        """The value of ``var`` for the present inputs."""
        needed, items = set[int](), defaultdict[int, list[int]](list)
        pending = [var.slot]
        while pending:
            slot = pending.pop()
            if slot not in needed and slot not in self._values:
                needed.add(slot)
                op, args, _, _ = self._b.instructions[slot]
                pending.extend(args)
                if isinstance(op, Item):
                    items[args[0]].append(op.index)
                    made = self._values.get(args[0])
                    if made is not None and made[op.index] is None:
                        del self._values[args[0]]
        with np.errstate(all="ignore"):
            for slot in sorted(needed):
                op, args, kind, _ = self._b.instructions[slot]
                if isinstance(op, Loop):  # what each pass began with may be much
                    op = replace(
                        op, wanted=frozenset((*range(op.carries), op.trip_count, *items[slot]))
                    )
                self._bytes += kind.nbytes
                if self._bytes > self._b.limits.total_bytes:
                    raise OverBudget(f"deciding this takes more than {self._bytes} bytes")
                self._b.poll()
                operands = [self._values[a] for a in args]
                if isinstance(op, Input):
                    if self._inputs[op.index] is None:
                        raise decided_by_rows()
                    operands = [self._inputs[op.index]]
                try:
                    self._values[slot] = self._backend.evaluate(op, self._b.poll, *operands)
                except (ArithmeticError, LookupError, ValueError) as error:
                    raise self._backend.explain(op, error) or error from None
        value = self._values[var.slot]
        for opened in self._b.regions[:1]:  # what is recorded there now has other slots later
            for slot in [slot for slot in needed if slot >= opened.start]:
                del self._values[slot]
        return value

    def truth(self, var: Var) -> bool:
        """Decide on ``var``, and let the tape hold only while the decision does."""
        if var.type.size != 1:
            hint = "use & | ~ for elementwise logic, where(c, a, b) to choose, any or all to reduce"
            raise BadArgument(f"a decision needs one element, got {var.type}", hint=hint)
        if var.dtype.kind != "b":
            var = PRIMITIVES["not_equal"]()(var, self._b.scalar(0, var.dtype))
        opened = self._b.regions[-1] if self._b.regions else None
        if opened is not None and opened.explores and not opened.holds(var) and not self.levels:
            decision: bool = opened.decide(var)
            opened.explored.add(Guard(decision)(var).slot)
            return decision
        return bool(self._decided(var))

    def holds(self, flag: Var) -> bool:
        """True if a flag is up, of any example; not where values are unknown, as in a loop."""
        if self._b.regions:
            return False
        every = self.everywhere(flag)
        if every.ndim:
            every = PRIMITIVES["any"](tuple(range(every.ndim)))(every)
        before = self._bytes
        try:
            up = bool(self.value(every))
        except DeadlineExceeded:  # whoever asks goes on elsewhere
            raise
        except EngineError:
            self._bytes = before
            return False
        Guard(up)(every)
        return up

    def integer(self, var: Var) -> int:
        """An integer that sets a shape, an axis, a bound or a count: static from here on."""
        if any(opened.holds(var) for opened in self._b.regions):
            raise MustUnroll("an integer of a pass is needed")
        return int(self._decided(var))

    def differs(self, var: Var) -> bool:
        """True if the examples of the mapped functions decide differently by ``var``."""
        if not self.levels or any(opened.holds(var) for opened in self._b.regions):
            return False
        every = self.everywhere(var)
        if every is var:
            return False
        values = np.asarray(self.value(every))
        return bool(values.size) and bool((values != values.flat[0]).any())

    def integers(self, var: Var) -> Array | None:
        """Integers that say what depends on what: static, or None where mapped examples differ."""
        if var.slot not in self._integers:
            self._integers[var.slot] = self._agreed(var)
        return self._integers[var.slot]

    def _agreed(self, var: Var) -> Array | None:
        every = self.everywhere(var)
        count = math.prod(every.shape[: every.ndim - var.ndim])
        examples = np.asarray(self.value(every)).reshape(count, *var.shape)
        if not count or (examples != examples[0]).any():
            return None
        same = every.equals(self._b.constant(examples[0]))
        Guard(True)(PRIMITIVES["all"](tuple(range(every.ndim)))(same))
        return np.asarray(examples[0])

    def everywhere(self, var: Var) -> Var:
        """``var`` of all examples of the mapped functions that are being recorded."""
        for level in reversed(self.levels):
            var = level.find(var) or var
        return var

    def _decided(self, var: Var) -> Any:
        """The value of ``var``, guarded: within mapped functions the same for all examples.

        In a loop's body one of the values that it may have: each is recorded as a path of its own.
        """
        if any(opened.holds(var) for opened in self._b.regions):
            inner = self._b.regions[-1]
            if self.levels and self.levels[-1].first > inner.start:
                raise MustUnroll("examples may decide differently in each pass")
            decision = inner.decide(var)
            Guard(decision)(var)
            return decision
        every = self.everywhere(var)
        values = np.asarray(self.value(every))
        if every is var:
            Guard(values.item())(var)
            return values.item()
        if (values != values.flat[:1]).any():
            hint = (
                "where(c, a, b) and cond(c, f, g) choose for each example; a loop decides for each"
            )
            raise BadArgument("the examples that vmap maps over decide differently here", hint=hint)
        # Without examples any decision holds for all of them.
        decision = values.flat[0].item() if values.size else values.dtype.type().item()
        Guard(True)(PRIMITIVES["all"](tuple(range(every.ndim)))(every.equals(decision)))
        return decision
