"""Operations that keep finite what another has just lost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

import numpy as np

from gradwire_engine.diagnose.nonfinite import NonfiniteResult
from gradwire_engine.ops.constants import Constant, Source
from gradwire_engine.tape import Tape

#: Most instructions between an operation and the one that it is combined with.
_STEPS = 3


class _Better(NamedTuple):
    """A hint about ``op``, if it is computed from all of ``before``, and all of ``after`` from it.

    Beside operations' names, ``square`` is a product of a value with itself, ``0/0`` what made NaN
    of finite operands, ``0*inf`` what made it of infinite ones.
    """

    op: str
    before: str
    after: str
    hint: str


_NORM = "norm(x) is the root of a sum of squares, and has the gradient 0 at 0"
_SOFTMAX = "log_softmax(x) is finite where softmax(x) has become 0"
_SOFTPLUS = "softplus(x) is log(1 + exp(x)), and does not overflow"
_BETTER = (
    _Better("sqrt", "square sum", "", _NORM),
    _Better("power", "square sum", "", _NORM),
    _Better("sqrt", "square add", "", "hypot(x, y) has the gradient 0, 0 at 0, 0"),
    _Better("log", "softmax", "", _SOFTMAX),
    _Better("log", "divide exp sum", "", _SOFTMAX),
    _Better("log", "", "multiply 0*inf", "xlogy(x, y) is x * log(y), and 0 where x is 0"),
    _Better("divide", "0/0", "", "divide_no_nan(x, y) is x / y, and 0 where y is 0"),
    _Better("exp", "", "sum log", "logsumexp(x) does not overflow"),
    _Better("exp", "", "add log", _SOFTPLUS),
    _Better("exp", "", "log1p", _SOFTPLUS),
    _Better("exp", "", "sum divide", "softmax(x) does not overflow"),
)


def stable_alternative(tape: Tape, slot: int, found: Mapping[int, NonfiniteResult]) -> str | None:
    """The alternative for the operation at ``slot``, or for the one whose derivative it is."""
    instructions = tape.instructions
    readers: dict[int, list[int]] = {}
    primal = slot
    for other, (op, args, _, origin) in enumerate(instructions):
        if origin >= 0:
            for arg in args:
                readers.setdefault(arg, []).append(other)
        if origin == ~instructions[slot].origin >= 0 and not isinstance(op, Source):
            primal = other
    before = _features(tape, primal, lambda s: instructions[s].args, found)
    after = _features(tape, primal, lambda s: readers.get(s, ()), found)
    for better in _BETTER:
        if (
            better.op == instructions[primal].op.name
            and before.issuperset(better.before.split())
            and after.issuperset(better.after.split())
        ):
            return better.hint
    return None


def _features(
    tape: Tape,
    slot: int,
    step: Callable[[int], Iterable[int]],
    found: Mapping[int, NonfiniteResult],
) -> set[str]:
    """The instructions within some steps."""
    features: set[str] = set()
    reached = level = {slot}
    for _ in range(_STEPS + 1):
        for s in level:
            features.add(tape.instructions[s].op.name)
            if _squares(tape, s):
                features.add("square")
            result = found.get(s)
            if result and result.undefined and not any(found[a].undefined for a in result.given):
                features.add("0*inf" if result.given else "0/0")
        level = {other for s in level for other in step(s)} - reached
        reached = reached | level
    return features


def _squares(tape: Tape, slot: int) -> bool:
    """True if a slot is a product of a value with itself."""
    op, args, _, _ = tape.instructions[slot]
    if op.name == "power":
        exponent = tape.instructions[args[1]].op
        return isinstance(exponent, Constant) and np.array_equal(exponent.value, 2)
    return op.name == "multiply" and args[0] == args[1]
