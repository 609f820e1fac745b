from functools import partial, wraps

import gradwire
import pytest

SCALE = 2.0


def scaled(x):
    return SCALE * x


def through_another(x):
    return scaled(x) + 1.0


def decorated(f):
    @wraps(f)
    def wrapper(x):
        return f(x)

    return wrapper


class Model:
    def __init__(self, power):
        self.power = power

    def value(self, x):
        return x**self.power


@pytest.mark.parametrize(
    "f", [scaled, through_another, decorated(through_another)], ids=["itself", "called", "wrapped"]
)
def test_changed_globals_are_noticed_also_in_called_functions(f, client, monkeypatch):
    slope = gradwire.grad(f, client=client)
    assert slope(1.0) == 2.0
    monkeypatch.setitem(scaled.__globals__, "SCALE", 5.0)
    assert slope(1.0) == 5.0


def test_a_replaced_helper_function_is_noticed(client, monkeypatch):
    slope = gradwire.grad(through_another, client=client)
    assert slope(1.0) == 2.0
    monkeypatch.setitem(through_another.__globals__, "scaled", lambda x: x**3)
    assert slope(2.0) == 12.0


def test_methods_and_partial_functions_can_be_recorded(client):
    assert gradwire.grad(Model(3).value, client=client)(2.0) == 12.0
    assert gradwire.grad(partial(lambda k, x: k * x, 4.0), client=client)(2.0) == 4.0


def test_equal_numbers_cause_no_new_recording(client, monkeypatch):
    recorded = []

    def f(x):
        recorded.append(x)
        return scaled(x)

    slope = gradwire.grad(f, client=client)
    slope(1.0)
    monkeypatch.setitem(scaled.__globals__, "SCALE", float("2.0"))
    slope(3.0)
    assert len(recorded) == 1
