"""The phases of a first call are measured."""

import first_call
from programs import rosenbrock


def test_every_phase_takes_time():
    spent = first_call.first_call(rosenbrock(3))
    assert list(spent) == list(first_call.PHASES)
    assert all(seconds > 0 for seconds in spent.values())
