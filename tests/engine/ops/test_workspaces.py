"""Every function with large arguments: a replay takes no more memory than was predicted."""

import numpy as np
import pytest
from gradwire_engine.answer import Array
from gradwire_engine.backends.walk.executable import WalkExecutable
from gradwire_engine.batching.batch import batch
from gradwire_engine.check import Call, Recorded

from tests.effort import some
from tests.engine.conftest import named
from tests.engine.memory import taken
from tests.engine.ops.sampled import FAMILIES, SAMPLES

#: Of the largest instruction: Python's own objects are few beside it, and it is soon computed.
_NBYTES = 1 << 18
#: What a replay may take of what was predicted.
_MOST = 1.5
#: Bounds the work where a few bytes are computed from many.
_MOST_EXAMPLES = 1 << 13
#: Operations that take a Python call for each example, which tells nothing more.
_FEW = {"logm": 1 << 8}


def many(call: Call) -> tuple[WalkExecutable, list[Array]]:
    """The call for as many examples as make its largest array a large one, and these."""
    recorded = Recorded(call.record, call.values)
    largest = max([i.type.nbytes for i in recorded.b.instructions] or [8])
    most = _FEW.get(call.function, _MOST_EXAMPLES)
    count = min(most, max(1, _NBYTES // max(8, largest)))
    values = [np.repeat(v[None], count, 0) for v in call.values]
    stacked = {x: recorded.input(v) for x, v in zip(recorded.inputs, values, strict=True)}
    together = batch(recorded.b, recorded.outputs, stacked)
    tape = recorded.b.tape(together)
    return WalkExecutable(tape, exact=True), recorded.values


@pytest.mark.thorough
@pytest.mark.parametrize("family", FAMILIES)
def test_no_more_than_was_predicted(family):
    firsts = {call.function: call for call in reversed(FAMILIES[family]) if call.values}
    for call in some(list(firsts.values()), 3):
        with named(call):
            executable, values = many(call)
            predicted = executable.peak_bytes + executable.constant_bytes
            assert taken(executable, values) <= _MOST * predicted + _NBYTES / 2


def test_what_shares_memory_says_so():
    for call in some(SAMPLES):
        recorded = Recorded(call.record, call.values)
        instructions, found = recorded.b.instructions, recorded.found
        for slot, z in found.items():
            op, args, kind, _ = instructions[slot]
            for arg in args if isinstance(z, np.ndarray) and not op.views else ():
                # Real parts are kept by what they are of, which is twice as large: let be.
                if instructions[arg].type.nbytes > 2 * kind.nbytes > 0:
                    x = found[arg]
                    assert not (isinstance(x, np.ndarray) and np.may_share_memory(x, z)), call
