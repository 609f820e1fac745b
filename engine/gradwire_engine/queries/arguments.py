"""The values of a query in the order of its inputs: variables, vectors, then stacks of examples."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from types import MappingProxyType
from typing import Any

from gradwire_engine.answer import Array, Leaf
from gradwire_engine.nesting import below, flatten, leaves
from gradwire_engine.ops.composites import Composite
from gradwire_engine.tape import ArrayType


class Arguments:
    """Variables, and the vectors that derivatives are multiplied by: cotangents or tangents.

    They may be one example of many: ``stacks`` are the inputs of these numbers for all of them.
    Then ``digests`` are those of all residents, by the numbers of their inputs.
    """

    #: Types of the stacks: none of one example alone.
    stacks: Mapping[int, ArrayType] = MappingProxyType({})

    def __init__(
        self,
        variables: Mapping[str, Any],
        vectors: Any,
        stacks: Mapping[int, Array] | None = None,
        digests: Mapping[int, str] | None = None,
    ) -> None:
        self.variables = variables
        #: One after the other; None stands for ones.
        self.vectors = None if vectors is None else leaves(vectors)
        self.inputs: list[Array] = []
        self._residents: dict[int, str] = {}
        types: list[Hashable] = []
        for name, given in variables.items():
            if type(given) is Leaf:
                self._add(name, given, types)
            else:
                types.append((None, name, _nesting(given)))
                for path, leaf in below(name, given):
                    self._add(path, leaf, types)
        if self.vectors:
            types += [None if v is None else (v.dtype, v.shape) for v in self.vectors]
            self.inputs += [v for v in self.vectors if v is not None]
        if stacks is not None:
            types += [(i, x.shape) for i, x in stacks.items()]
            self.inputs += stacks.values()
            self.stacks = {i: ArrayType(x.dtype, x.shape) for i, x in stacks.items()}
        #: The digests of residents, by the numbers of their inputs.
        self.digests: Mapping[int, str] = self._residents if digests is None else digests
        #: The key of recordings: types, names and nesting.
        self.signature: tuple[Hashable, ...] = tuple(types)

    def _add(self, path: str, leaf: Leaf, types: list[Hashable]) -> None:
        value, trainable, any_shape, resident = leaf
        if isinstance(value, str):
            types.append((path, value))
            return
        if resident is not None:
            self._residents[len(self.inputs)] = resident
        self.inputs.append(value)
        types.append((path, value.dtype, value.shape, trainable, any_shape))

    def path(self, number: int) -> str:
        """The path of the variable whose value or examples an input has; "" of a vector."""
        paths = [path for path, leaf in flatten(self.variables) if not isinstance(leaf.value, str)]
        sent = len(self.inputs) - len(self.stacks)
        paths += [""] * (sent - len(paths))
        return [*paths, *[paths[i] for i in self.stacks]][number]


def _nesting(value: Any) -> Any:
    """The nesting of a variable, which its leaves' paths do not show."""
    if isinstance(value, Leaf):
        return None
    if isinstance(value, Composite):
        return str(value)
    if isinstance(value, Mapping):
        return tuple([(key, _nesting(item)) for key, item in value.items()])
    return len(value), *[_nesting(item) for item in value]
