"""What every layer is: weights that are made when the first input is seen, and a call."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import gradwire.tf as tf
from gradwire.tf.arguments import only
from gradwire.tf.keras import initializers, regularizers
from gradwire.tf.keras.names import snake_case, unique_name
from gradwire.tf.keras.symbolic import KerasTensor, is_symbolic
from gradwire.tf.keras.weights import Weight
from gradwire.tf.seeds import SEEDS


class Layer:
    """A function with weights.

    Subclasses make these in ``__init__`` or ``build(input_shape)`` by ``add_weight``, and compute
    in ``call(inputs)``. Layers that are attributes, in lists and dictionaries too, belong to it.
    """

    #: Axes that an input has at least, and at most.
    _min_ndim: int | None = None
    _ndim: int | None = None
    #: Whether the weights that depend on the input's shape have been made.
    built: bool
    _weights: list[Any]
    _tracked: list[Layer]
    _penalties: list[tuple[Any, Any]]
    _losses: list[Any]

    def __init__(
        self,
        *,
        trainable: bool = True,
        dtype: Any = None,
        name: str | None = None,
        activity_regularizer: Any = None,
        autocast: bool = True,
        **kwargs: Any,
    ) -> None:
        only("Layer", autocast=(autocast, True))
        unknown = kwargs.keys() - {"input_shape", "input_dim", "batch_input_shape"}
        if unknown:
            raise ValueError(
                "Unrecognized keyword arguments passed to "
                f"{type(self).__name__}: { {key: kwargs[key] for key in sorted(unknown)} }"
            )
        self._ready()
        self._trainable = bool(trainable)
        self._dtype = tf.as_dtype(getattr(dtype, "name", dtype) or "float32")
        self.name: str = unique_name(snake_case(type(self).__name__)) if name is None else name
        self.activity_regularizer: Any = regularizers.get(activity_regularizer)
        self._input_shape = _given_shape(kwargs)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        build = cls.__dict__.get("build")
        if build is not None:
            cls.build = _marking(build)  # type: ignore[method-assign]  # whoever calls it

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
        for layer in _layers_in(value):
            if not any(layer is known for known in self._tracked):
                self._tracked.append(layer)
        if isinstance(value, tf.Variable) and not any(value is w for w in self._weights):
            self._weights.append(value)
        object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} name={self.name}, built={self.built}>"

    def add_weight(
        self,
        shape: Sequence[int] | None = None,
        initializer: Any = None,
        dtype: Any = None,
        trainable: bool = True,
        regularizer: Any = None,
        constraint: Any = None,
        name: str | None = None,
        autocast: bool = True,
        aggregation: str = "none",
        overwrite_with_gradient: bool = False,
    ) -> tf.Variable:
        """A new weight of this layer; ``aggregation`` is for devices, of which there is one."""
        only(
            "Layer.add_weight",
            autocast=(autocast, True),
            overwrite_with_gradient=(overwrite_with_gradient, False),
        )
        self._ready()
        kind = tf.as_dtype(dtype) if dtype is not None else self._dtype
        made = initializers.get(initializer or ("glorot_uniform" if kind.is_floating else "zeros"))
        lengths = () if shape is None else tuple(int(length) for length in _as_list(shape))
        with SEEDS.eagerly():
            value = made(lengths, dtype=kind) if made is not None else tf.zeros(lengths, kind)
        weight = Weight(
            tf.cast(value, kind),
            trainable=trainable,
            name=name or "variable",
            constraint=constraint,
            path=f"{self.name}/{name or 'variable'}",
        )
        self._weights.append(weight)
        penalty = regularizers.get(regularizer)
        if penalty is not None:
            self._penalties.append((penalty, weight))
        return weight

    def add_loss(self, loss: Any) -> None:
        """Add what the last call is to be penalised by."""
        self._losses.extend(loss if isinstance(loss, (list, tuple)) else [loss])

    def build(self, input_shape: Any) -> None:
        """Make the weights that depend on the input's shape."""

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """What the layer computes."""
        raise NotImplementedError(f"Layer {type(self).__name__} does not have a `call()` method.")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Build the layer if it is not yet, and compute; of symbolic inputs, symbolic outputs."""
        if is_symbolic((args, kwargs)):
            return KerasTensor.of_call(self, args, kwargs)
        inputs = tuple(self._converted(arg) for arg in args)
        self._check(inputs)
        if not self.built:
            self.build(_shapes(inputs[0]) if inputs else None)
            object.__setattr__(self, "built", True)
        self._losses.clear()
        if not self._takes("training"):
            kwargs.pop("training", None)
        value = self.call(*inputs, **kwargs)
        if self.activity_regularizer is not None:
            self.add_loss([self._penalty_of(part) for part in _tensors_in(value)])
        return value

    def _penalty_of(self, output: Any) -> Any:
        """The penalty of an output, divided by the number of its examples."""
        penalty = self.activity_regularizer(output)
        return penalty / float(output.shape[0]) if len(output.shape) else penalty

    def _takes(self, name: str) -> bool:
        parameters = inspect.signature(self.call).parameters
        return name in parameters or any(
            parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()
        )

    def _converted(self, value: Any) -> Any:
        """An input as tensors, floats in the layer's own dtype."""

        def leaf(part: Any) -> Any:
            if not hasattr(part, "__array__") and not isinstance(part, (int, float, list)):
                return part
            tensor = part if isinstance(part, tf.Tensor) else tf.convert_to_tensor(part)
            if tensor.dtype.is_floating and tensor.dtype != self._dtype:
                return tf.cast(tensor, self._dtype)
            return tensor

        if isinstance(value, (list, tuple)) and any(hasattr(part, "shape") for part in value):
            return [leaf(part) for part in value]
        return (
            {key: leaf(part) for key, part in value.items()}
            if isinstance(value, dict)
            else leaf(value)
        )

    def _check(self, inputs: tuple[Any, ...]) -> None:
        if not inputs or not hasattr(inputs[0], "shape"):
            return
        shape = tuple(inputs[0].shape)
        expected = None
        if self._min_ndim is not None and len(shape) < self._min_ndim:
            expected = f"min_ndim={self._min_ndim}"
        elif self._ndim is not None and len(shape) != self._ndim:
            expected = f"ndim={self._ndim}"
        if expected is not None:
            raise ValueError(
                f"Input 0 with name 'None' of layer '{self.name}' is incompatible with the layer: "
                f"expected {expected}, found ndim={len(shape)}. Full shape received: {shape}"
            )

    # Weights

    @property
    def trainable(self) -> bool:
        """Whether the weights are trained; set for all layers within."""
        return self._trainable

    @trainable.setter
    def trainable(self, value: bool) -> None:
        object.__setattr__(self, "_trainable", bool(value))
        for layer in self._tracked:
            layer.trainable = value

    @property
    def dtype(self) -> Any:
        """The name of the weights' dtype."""
        return self._dtype.name

    compute_dtype = dtype
    variable_dtype = dtype

    @property
    def weights(self) -> list[Any]:
        """All weights: its own, and those of the layers within."""
        return _unique([*self._weights, *(w for layer in self._tracked for w in layer.weights)])

    variables = weights

    @property
    def trainable_weights(self) -> list[Any]:
        """The weights that are trained."""
        if not self._trainable:
            return []
        own = [weight for weight in self._weights if weight.trainable]
        return _unique([*own, *(w for layer in self._tracked for w in layer.trainable_weights)])

    trainable_variables = trainable_weights

    @property
    def non_trainable_weights(self) -> list[Any]:
        """The weights that are not trained."""
        trained = {id(weight) for weight in self.trainable_weights}
        return [weight for weight in self.weights if id(weight) not in trained]

    non_trainable_variables = non_trainable_weights

    @property
    def losses(self) -> list[Any]:
        """Penalties of the weights, and those of the last call."""
        own = [penalty(weight) for penalty, weight in self._penalties if weight.trainable]
        inner = [loss for layer in self._tracked for loss in layer.losses]
        return [*self._losses, *inner, *own]

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
                f"You called `set_weights(weights)` on layer '{self.name}' with a weight list of "
                f"length {len(weights)}, but the layer was expecting {len(self.weights)} weights."
            )
        for weight, value in zip(self.weights, weights, strict=True):
            weight.assign(tf.cast(tf.convert_to_tensor(value), weight.dtype))

    def count_params(self) -> int:
        """How many elements the weights have."""
        return sum(math.prod(weight.shape) for weight in self.weights)

    def _flat(self) -> Iterator[Layer]:
        for layer in self._tracked:
            yield layer
            yield from layer._flat()


class Lambda(Layer):
    """Any function of tensors as a layer."""

    def __init__(self, function: Callable[..., Any], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.function: Callable[..., Any] = function

    def call(self, inputs: Any) -> Any:
        return self.function(inputs)


def _marking(build: Callable[..., None]) -> Callable[..., None]:
    """A build method after which the layer is built, by whomever it was called."""

    @functools.wraps(build)
    def marked(self: Layer, *args: Any, **kwargs: Any) -> None:
        build(self, *args, **kwargs)
        object.__setattr__(self, "built", True)

    return marked


def _layers_in(value: Any) -> Iterator[Layer]:
    if isinstance(value, Layer):
        yield value
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from _layers_in(part)
    elif isinstance(value, dict):
        for part in value.values():
            yield from _layers_in(part)


def _given_shape(kwargs: dict[str, Any]) -> tuple[Any, ...] | None:
    """The shape of examples that a first layer in a Sequential was given."""
    if kwargs.get("input_dim") is not None:
        return (int(kwargs["input_dim"]),)
    if kwargs.get("batch_input_shape") is not None:
        return tuple(kwargs["batch_input_shape"])[1:]
    shape = kwargs.get("input_shape")
    return None if shape is None else tuple(_as_list(shape))


def _tensors_in(value: Any) -> list[Any]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [tensor for part in value for tensor in _tensors_in(part)]
    return [value] if isinstance(value, tf.Tensor) else []


def _unique(weights: list[Any]) -> list[Any]:
    seen: set[int] = set()
    return [w for w in weights if not (id(w) in seen or seen.add(id(w)))]  # type: ignore[func-returns-value]


def _shapes(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_shapes(part) for part in value]
    if isinstance(value, dict):
        return {key: _shapes(part) for key, part in value.items()}
    return tuple(value.shape) if hasattr(value, "shape") else None


def _as_list(shape: Any) -> list[Any]:
    return [shape] if isinstance(shape, int) else list(shape)
