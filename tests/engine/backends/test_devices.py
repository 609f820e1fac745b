"""A failure of the device ends a replay: nothing computes the answer in another way."""

import numpy as np
import pytest
from gradwire_engine import Engine
from gradwire_engine.answer import Leaf
from gradwire_engine.backends.devices import (
    DeviceFailure,
    GpuLost,
    GpuUnavailable,
    OutOfGpuMemory,
)
from gradwire_engine.backends.walk.backend import NumpyBackend
from gradwire_engine.backends.walk.executable import WalkExecutable
from gradwire_engine.polling import no_deadline
from numpy.testing import assert_array_equal

from tests.engine.conftest import called

LOOP = "y = x\nfor i in range(200):\n  y = sin(y) * c + y\nsum(y)"
PLAIN = "sum(sin(x) * c)"


class Failing(NumpyBackend):
    """Its executables fail, except for exact ones, which a GPU's backend computes on the host."""

    def __init__(self, failures: list[Exception]) -> None:
        super().__init__()
        #: The failures to come; after these replays succeed.
        self.failures = failures

    def apart(self, whose=""):
        return Failing(self.failures)

    def compile(self, tape, poll, *, exact=False, threads=1):
        return Executable(self, tape, poll, self._loops, exact=exact)


class Executable(WalkExecutable):
    """Fails while its backend does."""

    def __init__(self, backend, *arguments, **named):
        super().__init__(*arguments, **named)
        self.backend = backend

    def replay(self, inputs, poll):
        if self.backend.failures and not self.exact:
            raise self.backend.failures.pop(0)
        return super().replay(inputs, poll)


def call_of(engine, program, resident=None):
    """A call of a program."""
    x, c = Leaf(np.linspace(0, 1, 5), resident=resident), Leaf(np.asarray(2.0))
    return called(engine, program, {"x": x, "c": c}, "gradient")


@pytest.mark.parametrize("program", [LOOP, PLAIN])
@pytest.mark.parametrize("failure", [GpuLost("a"), OutOfGpuMemory("b"), GpuUnavailable("c")])
def test_a_failure_of_the_device_passes_through(program, failure):
    engine = Engine(backend=Failing([failure]))
    call = call_of(engine, program)
    with pytest.raises(DeviceFailure) as raised:
        call.replay(no_deadline)
    assert raised.value is failure
    assert call.compiled
    expected = call_of(Engine(), program).replay(no_deadline)
    found = call_of(engine, program).replay(no_deadline)
    assert_array_equal(found.gradients["x"], expected.gradients["x"])


def test_what_residents_give_is_computed_once_the_device_works_again():
    backend = Failing([])
    engine = Engine(backend=backend)
    call_of(engine, PLAIN, "a digest").replay(no_deadline)
    backend.failures.append(OutOfGpuMemory("for now"))
    with pytest.raises(OutOfGpuMemory):
        call_of(engine, PLAIN, "a digest").replay(no_deadline)
    call = call_of(engine, PLAIN, "a digest")
    call.replay(no_deadline)
    replays = call._executable(call.entry.paths[0])
    assert replays.kept
    assert (call.flops, call.hosted) == (replays.flops, ())
    assert call.input_bytes == 8
