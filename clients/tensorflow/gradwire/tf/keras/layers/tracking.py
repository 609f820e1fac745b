"""The contents of layers: weights, penalties, and the layers within."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import gradwire.tf as tf
from gradwire.tf.arguments import only
from gradwire.tf.keras import dtype_policies, initializers, regularizers
from gradwire.tf.keras.dtype_policies import DTypePolicy
from gradwire.tf.keras.layers.paths import names_within
from gradwire.tf.keras.weights import Weight
from gradwire.tf.seeds import SEEDS

#: Attributes that are lists of other things, and of the layers that are known.
_WITHOUT_LAYERS = frozenset({"_weights", "_tracked", "_penalties", "_losses"})


class Owner:
    """Weights made by ``add_weight``, and layers and variables that are attributes."""

    name: str
    #: True if the weights that depend on the input's shape have been made.
    built: bool
    _policy: DTypePolicy
    _trainable: bool
    _weights: list[Any]
    _tracked: list[Any]
    _penalties: list[tuple[Any, Any]]
    _losses: list[Any]

    def _ready(self) -> None:
        """Set what tracking needs; subclasses may assign attributes before Layer.__init__."""
        if "_weights" not in self.__dict__:
            object.__setattr__(self, "_weights", [])
            object.__setattr__(self, "_tracked", [])
            object.__setattr__(self, "_penalties", [])
            object.__setattr__(self, "_losses", [])
            object.__setattr__(self, "built", False)

    def __setattr__(self, name: str, value: Any) -> None:
        self._ready()
        for layer in _layers_in([self._owned(), value]):
            if not any(layer is known for known in self._tracked):
                self._tracked.append(layer)
        if isinstance(value, Weight) and not any(value is w for w in self._weights):
            self._weights.append(value)
        object.__setattr__(self, name, value)

    def _owned(self) -> list[Any]:
        """The layers within, also those that lists and dictionaries were given later."""
        for name, value in vars(self).items():
            if isinstance(value, (list, dict)) and name not in _WITHOUT_LAYERS:
                for layer in _layers_in(value):
                    if layer is not self and not any(layer is known for known in self._tracked):
                        self._tracked.append(layer)
        return self._tracked

    def add_weight(
        self,
        shape: Sequence[int] | None = None,
        initializer: Any = None,
        dtype: Any = None,
        trainable: bool = True,
        autocast: bool = True,
        regularizer: Any = None,
        constraint: Any = None,
        aggregation: str = "none",
        overwrite_with_gradient: bool = False,
        name: str | None = None,
    ) -> tf.Variable:
        """A new weight of this layer; ``aggregation`` is for devices, of which there is one."""
        only(
            "Layer.add_weight",
            overwrite_with_gradient=(overwrite_with_gradient, False),
        )
        self._ready()
        kind = tf.as_dtype(self.variable_dtype if dtype is None else dtype)
        made = initializers.get(initializer or ("glorot_uniform" if kind.is_floating else "zeros"))
        lengths = () if shape is None else tuple(int(length) for length in as_list(shape))
        with SEEDS.eagerly():
            value = made(lengths, dtype=kind) if made is not None else tf.zeros(lengths, kind)
        weight = Weight(
            tf.cast(value, kind),
            trainable=trainable,
            name=name or "variable",
            constraint=constraint,
            autocast=autocast,
            path="/".join([*names_within(self), name or "variable"]),
        )
        self._weights.append(weight)
        penalty = regularizers.get(regularizer)
        if penalty is not None:
            self._penalties.append((penalty, weight))
        return weight

    def add_loss(self, loss: Any) -> None:
        """Add what the last call is to be penalised by."""
        self._losses.extend(loss if isinstance(loss, (list, tuple)) else [loss])

    @property
    def trainable(self) -> bool:
        """True if the weights are trained; set for all layers within."""
        return self._trainable

    @trainable.setter
    def trainable(self, value: bool) -> None:
        object.__setattr__(self, "_trainable", bool(value))
        for layer in self._owned():
            layer.trainable = value

    @property
    def dtype_policy(self) -> DTypePolicy:
        """The policy for the dtypes of computations and of weights; set by its name, too."""
        return self._policy

    @dtype_policy.setter
    def dtype_policy(self, value: Any) -> None:
        object.__setattr__(self, "_policy", dtype_policies.get(value))

    @property
    def dtype(self) -> Any:
        """The name of the weights' dtype."""
        return self.dtype_policy.variable_dtype

    variable_dtype = dtype

    @property
    def compute_dtype(self) -> Any:
        """The name of the dtype that the layer computes in."""
        return self.dtype_policy.compute_dtype

    @property
    def input_dtype(self) -> Any:
        """The name of the dtype that floating inputs are cast to."""
        return self.compute_dtype

    @property
    def weights(self) -> list[Any]:
        """All weights: its own, and those of the layers within."""
        return _unique([*self._weights, *(w for layer in self._owned() for w in layer.weights)])

    variables = weights

    @property
    def trainable_weights(self) -> list[Any]:
        """The weights that are trained."""
        if not self._trainable:
            return []
        own = [weight for weight in self._weights if weight.trainable]
        return _unique([*own, *(w for layer in self._owned() for w in layer.trainable_weights)])

    trainable_variables = trainable_weights

    @property
    def non_trainable_weights(self) -> list[Any]:
        """The weights that are not trained."""
        trained = {id(weight) for weight in self.trainable_weights}
        return [weight for weight in self.weights if id(weight) not in trained]

    non_trainable_variables = non_trainable_weights

    @property
    def losses(self) -> list[Any]:
        """Those of the last calls of all layers, then penalties of the weights that are trained."""
        layers = [self, *self._flat()]
        penalties = {id(weight): penalty for each in layers for penalty, weight in each._penalties}
        return [loss for each in layers for loss in each._losses] + [
            penalties[id(weight)](weight)
            for weight in self.trainable_weights
            if id(weight) in penalties
        ]

    @property
    def submodules(self) -> tuple[Any, ...]:
        """All layers within."""
        return tuple(self._flat())

    def get_weights(self) -> list[Any]:
        """The weights' values."""
        return [weight.numpy() for weight in self.weights]

    def set_weights(self, weights: Sequence[Any]) -> None:
        """Give the weights values."""
        if len(weights) != len(self.weights):
            raise ValueError(
                f"Layer '{self.name}' has {len(self.weights)} weights; `set_weights` got "
                f"{len(weights)}"
            )
        for weight, value in zip(self.weights, weights, strict=True):
            weight.assign(tf.cast(tf.convert_to_tensor(value), weight.dtype))

    def count_params(self) -> int:
        """The number of elements of the weights."""
        return sum(math.prod(weight.shape) for weight in self.weights)

    def _flat(self) -> Iterator[Any]:
        for layer in self._owned():
            yield layer
            yield from layer._flat()


def _layers_in(value: Any) -> Iterator[Any]:
    if isinstance(value, Owner):
        yield value
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from _layers_in(part)
    elif isinstance(value, dict):
        for part in value.values():
            yield from _layers_in(part)


def _unique(weights: list[Any]) -> list[Any]:
    seen: set[int] = set()
    return [w for w in weights if not (id(w) in seen or seen.add(id(w)))]  # type: ignore[func-returns-value]


def as_list(shape: Any) -> list[Any]:
    """The lengths of a shape, which may be one number."""
    return [shape] if isinstance(shape, int) else list(shape)
