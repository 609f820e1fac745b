"""Derivatives of what a tape recorded: one request for values and derivatives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradwire.tf.calls import call
from gradwire.tf.connections import are_joined
from gradwire.tf.conversion import convert_to_tensor, filled, tensor_of, zeros_of
from gradwire.tf.fetching import (
    along,
    ask,
    fetch,
    may_stay,
    named,
    separated,
    write_with_variables,
)
from gradwire.tf.gathered import Source, find_gathers, slices
from gradwire.tf.nodes import Spec, TensorNode, active, part_of, record
from gradwire.tf.recordings import CustomGradient, Subgraph, TapeRecording
from gradwire.tf.remote import Query, nothing
from gradwire.tf.steps import again
from gradwire.tf.tensors import Tensor


def vjp(
    recording: TapeRecording,
    targets: Sequence[TensorNode],
    seeds: Sequence[Tensor | None],
    sources: Sequence[Source],
    ends: Sequence[TensorNode] = (),
) -> list[Any]:
    """The vector-Jacobian product of targets with seeds, in each source; ``None`` without one.

    Values that ``ends`` were computed from are constant.
    """
    subgraph = Subgraph(recording, targets, ends)
    find_gathers(subgraph, sources, targets)
    custom_gradients = subgraph.custom_gradients()
    if custom_gradients:
        return _across(recording, targets, seeds, sources, custom_gradients, ends)
    found = _derived("vjp", subgraph, targets, seeds, sources)
    return [
        _connected(recording, targets, source, _summed(parts, source))
        for parts, source in zip(found, sources, strict=True)
    ]


def jacobian(
    recording: TapeRecording, target: TensorNode, sources: Sequence[Source]
) -> list[Tensor | None]:
    """The derivative of each element of a target in each element of the sources."""
    subgraph = Subgraph(recording, [target])
    if subgraph.custom_gradients():
        return _row_by_row(recording, target, sources)
    found = _derived("jacobian", subgraph, [target], [None], sources)
    return [
        _connected(
            recording,
            [target],
            source,
            _added([part for part in parts if part is not None]),
            Tensor(target)._lengths,
        )
        for parts, source in zip(found, sources, strict=True)
    ]


def _connected(
    recording: TapeRecording,
    targets: Sequence[TensorNode],
    source: Source,
    gradient: Any,
    before: Callable[[], tuple[int, ...]] = tuple,
) -> Any:
    """A gradient; zeros in place of None where TensorFlow has the source on the way."""
    if gradient is not None or not are_joined(recording, targets, source.nodes):
        return gradient
    return zeros_of(Tensor(source.nodes[-1]), before())


def _derived(
    function: str,
    subgraph: Subgraph,
    targets: Sequence[TensorNode],
    seeds: Sequence[Tensor | None],
    sources: Sequence[Source],
) -> list[list[Tensor | None]]:
    """A derivative at each node of each source."""
    subgraph.make(
        [node for source in sources if not source.rows for node in source.nodes],
        whole=[node for source in sources for node in source.rows],
    )
    pairs = [
        (target, clone, seed)
        for target, seed in zip(targets, seeds, strict=True)
        if (clone := subgraph.of(target)) is not None
    ]
    asked_at = [[subgraph.of(node) for node in source.asked] for source in sources]
    flat = [node for nodes in asked_at for node in nodes if node is not None]
    if not pairs or not flat:
        return [[None] * len(nodes) for nodes in asked_at]
    variables = [
        source.variable
        for source, nodes in zip(sources, asked_at, strict=True)
        for node in nodes
        if node is not None
    ]
    made = iter(_derivatives(function, pairs, flat, variables))
    return [[None if node is None else next(made) for node in nodes] for nodes in asked_at]


@again(effect=False, derives=True)
def _derivatives(
    function: str,
    pairs: Sequence[tuple[TensorNode, TensorNode, Tensor | None]],
    flat: list[TensorNode],
    variables: list[Any],
) -> list[Tensor | None]:
    return _items(function, pairs, flat, _request(function, pairs, flat, variables))


def _request(
    function: str,
    pairs: Sequence[tuple[TensorNode, TensorNode, Tensor | None]],
    flat: list[TensorNode],
    variables: list[Any],
) -> list[Any]:
    """Send the request, and keep the values in its answer.

    ``variables`` are those whose derivatives are asked for, None for tensors'.
    """
    fetch([seed._node for _, _, seed in pairs if seed is not None])
    copies = [clone for _, clone, _ in pairs]
    written = write_with_variables([*copies, *flat])
    local, remote = separated(along(written))
    is_remote = [
        function == "vjp"
        and variable is not None
        and not variable._gradient_is_read
        and may_stay(node.spec)
        for node, variable in zip(flat, variables, strict=True)
    ]
    local_sources = [node for node, there in zip(flat, is_remote, strict=True) if not there]
    remote_sources = [node for node, there in zip(flat, is_remote, strict=True) if there]
    targets = [written.names[node] for node in copies]
    options: dict[str, Any] = {
        "target": targets[0] if function == "jacobian" else targets,
        "sources": named(written, local_sources, remote_sources),
        "outputs": named(written, local, remote),
        "promotion": "strict",
    }
    if any(seed is not None for _, _, seed in pairs):
        options["output_gradients"] = [
            None if seed is None else seed._value() for _, _, seed in pairs
        ]
    lists = [*(["gradients.1"] if remote_sources else []), *(["outputs.1"] if remote else [])]
    method = "jacobian" if function == "jacobian" else "gradient"
    readers = [
        variable._note_gradient_read
        for variable, there in zip(variables, is_remote, strict=True)
        if there
    ]
    query = Query(method, written.text, options, lists)
    answer, values = ask(written, query, [*readers, *[nothing] * len(remote)])
    gradients = answer.jacobian if function == "jacobian" else answer.gradients
    local_gradients, remote_values = iter(gradients[0]), iter(values)
    found = [next(remote_values if there else local_gradients) for there in is_remote]
    for node, value in zip([*local, *remote], [*answer.outputs[0], *remote_values], strict=True):
        node.settle(value)
    at = [answer.value] if function == "jacobian" else answer.value
    for (target, clone, _), value in zip(pairs, at, strict=True):
        clone.settle(value)
        if target.value is None:
            target.settle(value)
    return found


def _items(
    function: str,
    pairs: Sequence[tuple[TensorNode, TensorNode, Tensor | None]],
    flat: list[TensorNode],
    values: list[Any],
) -> list[Tensor | None]:
    """The derivatives as tensors, recorded by every active tape."""
    whole = record(_whole(function, pairs, flat)) if active() else None
    made: list[Tensor | None] = []
    for i, (node, value) in enumerate(zip(flat, values, strict=True)):
        if value is None:
            made.append(None)
            continue
        dtype = node.dtype
        if whole is None:
            made.append(tensor_of(value, dtype))
            continue
        item = record(part_of(whole, i, Spec(dtype, np.shape(value))))
        item.settle(value)
        made.append(Tensor(item))
    return made


def _whole(
    function: str,
    pairs: Sequence[tuple[TensorNode, TensorNode, Tensor | None]],
    flat: list[TensorNode],
) -> TensorNode:
    targets = [clone for _, clone, _ in pairs]
    if function == "jacobian":
        return TensorNode(function, (targets[0], list(flat)))
    seeds = [_ones(clone) if seed is None else seed._node for _, clone, seed in pairs]
    return TensorNode(function, (targets, list(flat), seeds))


def _ones(node: TensorNode) -> TensorNode:
    tensor = Tensor(node)
    return filled(tensor._lengths(), 1, tensor.dtype)._node


def _summed(parts: list[Tensor | None], source: Source) -> Any:
    if source.rows:
        return slices(parts, source)
    return _added([part for part in parts if part is not None])


def _added(parts: list[Tensor]) -> Tensor | None:
    if not parts:
        return None
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def _across(
    recording: TapeRecording,
    targets: Sequence[TensorNode],
    seeds: Sequence[Tensor | None],
    sources: Sequence[Source],
    custom_gradients: Sequence[CustomGradient],
    ends: Sequence[TensorNode],
) -> list[Any]:
    """The same across custom gradients, from the last one back to the first."""
    found: dict[TensorNode, Tensor] = {}
    asked_for = {node for source in sources for node in source.asked}
    gathers = {node for source in sources for node in source.rows}

    def collect(of: Sequence[TensorNode], weights: Sequence[Tensor | None], upto: int) -> None:
        starts = [node for source in sources for node in source.asked]
        starts += [
            node for custom_gradient in custom_gradients[:upto] for node in custom_gradient.outputs
        ]
        starts = list(dict.fromkeys(starts))
        subgraph = Subgraph(recording, of, ends)
        points = [Source([node], node.spec, [node] if node in gathers else []) for node in starts]
        parts = _derived("vjp", subgraph, of, weights, points)
        for node, (part,) in zip(starts, parts, strict=True):
            if part is not None:
                found[node] = found[node] + part if node in found else part

    collect(targets, seeds, len(custom_gradients))
    for position in range(len(custom_gradients) - 1, -1, -1):
        custom_gradient = custom_gradients[position]
        upstream = [found.get(node) for node in custom_gradient.outputs]
        if all(part is None for part in upstream):
            continue
        gradients = custom_gradient.function(
            *(
                zeros_of(Tensor(node)) if part is None else part
                for node, part in zip(custom_gradient.outputs, upstream, strict=True)
            )
        )
        given = [
            (node, convert_to_tensor(gradient))
            for node, gradient in zip(custom_gradient.inputs, gradients, strict=True)
            if gradient is not None and (node in recording.known or node in asked_for)
        ]
        for node, gradient in given:  # a source that is not the result of an operation
            if node not in recording.recorded:
                found[node] = found[node] + gradient if node in found else gradient
        behind = [pair for pair in given if pair[0] in recording.recorded]
        if behind:
            collect([node for node, _ in behind], [part for _, part in behind], position)
    return [
        _connected(
            recording,
            targets,
            source,
            _summed([found.get(node) for node in source.asked], source),
        )
        for source in sources
    ]


def _row_by_row(
    recording: TapeRecording, target: TensorNode, sources: Sequence[Source]
) -> list[Tensor | None]:
    """A Jacobian by one gradient for each element of the target."""
    tensor = Tensor(target)
    lengths = tensor._lengths()
    count = int(np.prod(lengths, dtype=np.int64))
    rows: list[list[Any]] = []
    for i in range(count):
        seed = np.zeros(count, tensor.dtype.storage)
        seed[i] = 1
        seeded = tensor_of(seed.reshape(lengths), tensor.dtype)
        parts = vjp(recording, [target], [seeded], sources)
        rows.append([None if part is None else convert_to_tensor(part) for part in parts])
    found: list[Tensor | None] = []
    for column in zip(*rows, strict=True):
        if column[0] is None:
            found.append(None)
            continue
        shape = column[0]._lengths()
        spec = Spec(column[0].dtype, (count, *shape))
        stacked = call("np.stack", list(column), spec=spec)
        full = (*lengths, *shape)
        found.append(call("np.reshape", stacked, full, spec=Spec(spec.dtype, full)))
    return found
