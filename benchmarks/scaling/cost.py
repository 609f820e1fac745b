"""What a million gradients cost: CPU time, bytes and money, from the measured times."""

from __future__ import annotations

from scaling.scenarios import markdown, number
from scaling.times import Measured, load

#: Money for an hour of a core, in dollars. A parameter: no provider's price.
PRICE = 0.04
_MILLION = 1_000_000


def report(price: float = PRICE) -> list[str]:
    """Two tables: a later call by workload, and a first, a second and a later call of each."""
    workloads = load().workloads
    costs = [[name, *_costs(one, price)] for name, one in workloads.items()]
    stages = [
        [
            name,
            *[_us(stage.mean) for stage in one.stages.values()],
            *[f"{nbytes:,}" for nbytes in (one.program_bytes, *one.kept_bytes)],
        ]
        for name, one in workloads.items()
    ]
    head = "workload, CPU of a request in µs, of a gradient in µs, core-hours, $"
    stage = "workload, first, second, later, bytes of the program, after one request, after two"
    sent = "GB received, GB sent"
    return [
        markdown([*head.split(", "), *sent.split(", ")], costs),
        markdown(stage.split(", "), stages),
    ]


def core_hours(one: Measured, gradients: int = _MILLION) -> float:
    """Core-hours of the service for so many gradients by programs that it knows."""
    return gradients / one.examples * one.stages["later"].mean / 3600


def _costs(one: Measured, price: float) -> list[str]:
    seconds, hours = one.stages["later"].mean, core_hours(one)
    requests = _MILLION / one.examples
    sizes = [number(1e-9 * requests * size) for size in (one.request_bytes, one.answer_bytes)]
    each = 1e6 * seconds / one.examples
    return [_us(seconds), number(each), f"{hours:.2g}", f"{price * hours:.2g}", *sizes]


def _us(seconds: float) -> str:
    return f"{1e6 * seconds:,.0f}"
