"""Learning rates, compared with what Keras 3.15 gave, in single precision, for the same."""

from typing import Any

import pytest
from gradwire_engine.errors import InputError
from gradwire_solvers.schedules import schedule_of

from tests.engine.solvers.conftest import pointer_to

STEPS = (0, 1, 3, 4, 10, 11, 19, 20, 21, 40, 41, 100)
DECAY: dict[str, Any] = {"initial_learning_rate": 0.5, "decay_steps": 20}
FALLING = {"schedule": "exponential", **DECAY, "decay_rate": 0.9}
CYCLE = {"end_learning_rate": 0.01, "power": 2, "cycle": True}
RECORDED: list[tuple[dict[str, Any], str]] = [
    (
        FALLING,
        "0.5 0.4973729 0.4921601 0.4895742 0.4743416 0.4718494 0.4523768 0.45 0.4476356 0.405 "
        "0.402872 0.295245",
    ),
    (FALLING | {"staircase": True}, "0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.45 0.45 0.405 0.405 0.295245"),
    (
        {"schedule": "cosine", **DECAY},
        "0.5 0.4969221 0.4727516 0.4522542 0.25 0.2108914 0.0030779 0 0 0 0 0",
    ),
    (
        {"schedule": "cosine", **DECAY, "alpha": 0.1},
        "0.5 0.4972299 0.4754764 0.4570288 0.275 0.2398022 0.0527701 0.05 0.05 0.05 0.05 0.05",
    ),
    (
        {"schedule": "polynomial", **DECAY},
        "0.5 0.475005 0.425015 0.40002 0.25005 0.225055 0.025095 0.0001 0.0001 0.0001 0.0001 "
        "0.0001",
    ),
    (
        {"schedule": "polynomial", **DECAY, **CYCLE},
        "0.5 0.452225 0.364025 0.3236 0.1325 0.109225 0.011225 0.01 0.1205563 0.01 0.0591361 0.01",
    ),
    (
        {"schedule": "piecewise", "boundaries": [3, 10], "values": [1, 0.5, 0.1]},
        "1 1 1 0.5 0.5 0.1 0.1 0.1 0.1 0.1 0.1 0.1",
    ),
]


@pytest.mark.parametrize(("given", "rates"), RECORDED)
def test_schedules_are_those_of_keras(given, rates):
    rate = schedule_of(given)
    assert [rate(step) for step in STEPS] == pytest.approx([*map(float, rates.split())], abs=1e-7)


def test_warming_up_rises_in_equal_steps_and_then_begins_the_schedule():
    rate = schedule_of({"schedule": "cosine", **DECAY}, warmup_steps=4)
    assert [rate(step) for step in range(5)] == pytest.approx([0.125, 0.25, 0.375, 0.5, 0.5])
    assert rate(4 + 7) == schedule_of({"schedule": "cosine", **DECAY})(7)
    assert schedule_of(0.1, 2)(5) == 0.1
    assert schedule_of({"schedule": "constant", "learning_rate": 0.3})(9) == 0.3


@pytest.mark.parametrize(
    ("given", "pointer", "words"),
    [
        ({"schedule": "linear"}, "/schedule", "schedule must be"),
        ({}, "/schedule", "schedule must be"),
        ({"schedule": "cosine", "decay_steps": 3}, "", "needs initial_learning_rate"),
        ({"schedule": "cosine", **DECAY, "alfa": 0.1}, "/alfa", "no option 'alfa'"),
        ({"schedule": "cosine", **DECAY, "decay_steps": 0}, "/decay_steps", "positive"),
        ({"schedule": "piecewise", "boundaries": [1], "values": [1]}, "/values", "2 values, got 1"),
        (
            {"schedule": "piecewise", "boundaries": [2, 1], "values": [1, 1, 1]},
            "/boundaries",
            "must rise",
        ),
        ({"schedule": "piecewise", "boundaries": 3, "values": [1]}, "/boundaries", "a list of"),
    ],
)
def test_wrong_schedules_are_refused(given, pointer, words):
    with pytest.raises(InputError, match=words) as refused:
        schedule_of(given)
    assert pointer_to(refused) == f"/options/learning_rate{pointer}"
