"""GradBench's twelve programs through the engine: on the device, and on one core of the host."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from time import monotonic
from typing import Any

import numpy as np
from gradbench.tools.gradwire.run import NAMES, program, variables
from gradbench.workloads import workloads
from gradwire_engine import Engine, Leaf, Query, native
from gradwire_engine.backends.base import Backend

from gpu.cases import Case, Run
from gpu.devices import Device
from gpu.tools import LIMITS

#: A call that takes longer is given up.
_MOST_SECONDS = 15.0


def twelve(device: Device, scale: float, quick: bool) -> Iterator[Case]:
    """The last function of each evaluation, a derivative, of its largest default input."""
    for name in NAMES:
        every = [*workloads(name)]
        workload = every[int((len(every) - 1) * min(scale, 0.5 if quick else 1.0))]
        text = program(name, workload.functions[-1])
        given = variables(workload.given)

        def on_device(text: str = text, given: Any = given) -> Run:
            leaves = _leaves(given, device.xp.asarray)
            return _run(device, device.backend(stay=True), text, leaves)

        def on_one_core(text: str = text, given: Any = given) -> Run:
            return _run(device, native.native_backend(), text, _leaves(given, np.asarray))

        def expected(text: str = text, given: Any = given) -> Sequence[Any]:
            return _run(device, None, text, _leaves(given, np.asarray))()

        yield Case(
            f"GradBench {name} {workload.name}: {workload.functions[-1]}",
            {"gradwire": on_device, "gradwire on one core": on_one_core},
            expected,
            1e-6,
        )


def _run(device: Device, backend: Backend | None, text: str, leaves: Any) -> Run:
    engine = Engine(LIMITS, backend=backend)
    parsed, query = engine.parse(text), Query("evaluate")

    def run() -> Sequence[Any]:
        answer = engine.call(parsed, leaves, query).replay(_deadline())
        device.synchronize()
        return [*_flat(answer.value)]

    return run


def _deadline() -> Callable[[], None]:
    end = monotonic() + _MOST_SECONDS

    def poll() -> None:
        if monotonic() > end:
            raise TimeoutError(f"not done after {_MOST_SECONDS:g} s")

    return poll


def _leaves(nested: Mapping[str, Any], place: Callable[[Any], Any]) -> dict[str, Any]:
    """The variables as leaves; single numbers, counts and indices stay on the host."""

    def leaf(value: Any) -> Leaf:
        array = np.asarray(value)
        return Leaf(place(array) if array.ndim and array.dtype.kind == "f" else array)

    return {
        name: _leaves(value, place) if isinstance(value, Mapping) else leaf(value)
        for name, value in nested.items()
    }


def _flat(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        for name in sorted(value):
            yield from _flat(value[name])
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _flat(each)
    elif value is not None:
        yield value
