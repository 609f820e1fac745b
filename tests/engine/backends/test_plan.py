"""Predictions of replays."""

import numpy as np
import pytest
from gradwire_engine.backends.walk.executable import WalkExecutable
from gradwire_engine.check import Recorded
from gradwire_engine.ops.arrays.indexing import GetItem
from gradwire_engine.ops.arrays.shape import reshape, transpose
from gradwire_engine.ops.arrays.slicing import Slice

from tests.engine.memory import taken

ROWS = 50
X = np.ones((40, 1000))


@pytest.mark.parametrize(
    ("part", "arrays"),
    [
        (Slice((0, 0), (1, 2)), ROWS),
        (lambda y: Slice((0, 0), (1, 2))(reshape(Slice((0, 0), (1, 1000))(y), (500, 2))), ROWS),
        (lambda y: Slice((0, 0), (2, 3))(transpose(y, (1, 0))), ROWS),
        (GetItem((0, 0)), 2),
    ],
    ids=["part", "part of a part", "part of all", "number"],
)
def test_a_view_keeps_what_it_is_of(part, arrays):
    def recording(b, x):
        return [part(x * float(i)) for i in range(2, ROWS + 2)]

    recorded = Recorded(recording, [X])
    executable = WalkExecutable(recorded.b.tape(recorded.outputs), exact=True)
    measured = taken(executable, [X])
    assert measured == pytest.approx(arrays * X.nbytes, rel=0.1, abs=X.nbytes)
    assert executable.peak_bytes == pytest.approx(measured, rel=0.2)


def test_inputs_stay():
    recorded = Recorded(lambda b, x: [((x * 2.0) * 3.0) * 4.0], [X])
    executable = WalkExecutable(recorded.b.tape(recorded.outputs), exact=True)
    assert executable.peak_bytes >= 2 * X.nbytes
    assert taken(executable, [X]) <= 1.1 * executable.peak_bytes
