"""A failure of the device ends a replay: nothing computes the answer in another way."""

import numpy as np
import pytest
from gradwire_engine import Engine
from gradwire_engine.answer import Leaf, Query
from gradwire_engine.backends.devices import DeviceFailure, GpuLost, OutOfGpuMemory
from gradwire_engine.backends.numpy.backend import NumpyBackend
from gradwire_engine.backends.numpy.executable import NumpyExecutable
from gradwire_engine.gpu import GpuUnavailable
from gradwire_engine.polling import unhurried

STEPS = [f"y{i + 1} = sin(y{i}) * c + y{i}" for i in range(40)]
ROLLED = "\n".join(["y0 = x", *STEPS, "sum(y40)"])
EXACT = "sum(x * c)"


class Failing(NumpyBackend):
    """Its executables fail, except for exact ones, which a GPU's backend computes on the host."""

    def __init__(self, failure: Exception) -> None:
        super().__init__()
        self.failure = failure

    def apart(self, whose=""):
        return Failing(self.failure)

    def compile(self, tape, poll, *, exact=False, threads=1):
        executable = NumpyExecutable(tape, poll, self._loops, exact=exact, threads=threads)
        if not exact:
            executable.replay = self._fail  # type: ignore[method-assign]
        return executable

    def _fail(self, inputs, poll):
        raise self.failure


@pytest.mark.parametrize("program", [ROLLED, EXACT])
@pytest.mark.parametrize("failure", [GpuLost("a"), OutOfGpuMemory("b"), GpuUnavailable("c")])
@pytest.mark.parametrize("resident", [None, "digest"])
def test_a_failure_of_the_device_passes_through(program, failure, resident):
    engine = Engine(backend=Failing(failure))
    x, c = np.linspace(0, 1, 5), np.asarray(2.0)
    variables = {"x": Leaf(x, resident=resident), "c": Leaf(c)}
    for _ in range(4):
        call = engine.call(engine.parse(program), variables, Query("gradient"))
        with pytest.raises(DeviceFailure) as raised:
            call.replay(unhurried)
        assert raised.value is failure
