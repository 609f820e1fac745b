"""The order of layers in a graph of symbolic values: by their distance from the outputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradwire.tf.keras.symbolic import Call, KerasTensor, calls_before


def operations_in_order(
    inputs: Sequence[KerasTensor], outputs: Sequence[KerasTensor], calls: Sequence[Call]
) -> list[Any]:
    """Layers and operations between inputs and outputs, the farthest from the outputs first.

    The distance of a call is one more than that of any call that needs it; a layer that is called
    several times has its greatest. Equals come in the order in which a walk from the outputs back
    meets them.
    """
    places: dict[int, int] = {}
    _walk(outputs, {id(part) for part in inputs if part.call.inputs}, places)
    depths: dict[int, int] = {}
    of_operation: dict[int, int] = {}
    for call in reversed(calls):
        key = id(call.operation)
        depth = max(depths.get(id(call), 0), of_operation.get(key, 0))
        of_operation[key] = depths[id(call)] = depth
        for part in call.inputs:
            depths[id(part.call)] = max(depth + 1, depths.get(id(part.call), 0))
    operations = {id(call.operation): call.operation for call in calls}
    for part in inputs:  # those that no output needs
        if not part.call.inputs and id(part.call.operation) not in operations:
            operations[id(part.call.operation)] = part.call.operation
            of_operation[id(part.call.operation)] = 0
            places[id(part.call.operation)] = -1
    order = sorted(operations, key=lambda key: (-of_operation[key], places[key]))
    return [operations[key] for key in order]


def connected(inputs: Sequence[KerasTensor], outputs: Sequence[KerasTensor]) -> list[Call]:
    """The calls from inputs to outputs, in an order in which they can be made.

    Raises:
        ValueError: for outputs that other inputs lead to, and names that are not unique.
    """
    calls = calls_before(outputs, [part for part in inputs if part.call.inputs])
    known = {id(part) for part in inputs}
    for call in calls:
        if not call.inputs and id(call.outputs) not in known:
            raise ValueError(
                f"the outputs depend on '{call.operation.name}', which is not among `inputs`"
            )
    names = [name for name, _ in {(c.operation.name, id(c.operation)) for c in calls}]
    for name in names:
        if names.count(name) != 1:
            raise ValueError(
                f'{names.count(name)} operations are named "{name}"; give each its own `name`'
            )
    return calls


def _walk(parts: Sequence[KerasTensor], seen: set[int], places: dict[int, int]) -> None:
    for part in parts:
        if id(part) in seen or id(part.call) in seen:
            continue
        seen.add(id(part.call))
        places.setdefault(id(part.call.operation), len(places))
        _walk(part.call.inputs, seen, places)
