"""The base of layers: weights that are made when the first input is seen, and a call."""

from __future__ import annotations

import contextlib
import functools
import inspect
import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import gradwire.tf as tf
from gradwire.tf.keras import (
    activations,
    constraints,
    dtype_policies,
    initializers,
    regularizers,
)
from gradwire.tf.keras.configurable import configurable, option
from gradwire.tf.keras.layers.describing import Described
from gradwire.tf.keras.layers.paths import within
from gradwire.tf.keras.layers.specs import check_inputs
from gradwire.tf.keras.layers.tracking import as_list
from gradwire.tf.keras.masks import is_masked, mask_of, masks_of, set_mask
from gradwire.tf.keras.names import snake_case, unique_name
from gradwire.tf.keras.symbolic import Call, KerasTensor, is_symbolic

__all__ = ["Layer"]

#: The functions that read arguments, by the last words of the arguments' names.
_READ: dict[str, Callable[[Any], Any]] = {
    "activation": activations.get,
    "constraint": constraints.get,
    "initializer": initializers.get,
    "regularizer": regularizers.get,
}
_CALLS = threading.local()

if TYPE_CHECKING:

    @configurable
    class _Options:
        """Further arguments of the classes of layers, by name."""

        _name: Any = option(default=None, kw_only=True, alias="name")
        _is_trainable: Any = option(default=True, kw_only=True, alias="trainable")
        _kind: Any = option(default=None, kw_only=True, alias="dtype")
        _penalty: Any = option(default=None, kw_only=True, alias="activity_regularizer")
        _casts: Any = option(default=True, kw_only=True, alias="autocast")
        _first_shape: Any = option(default=None, kw_only=True, alias="input_shape")
        _first_length: Any = option(default=None, kw_only=True, alias="input_dim")
else:
    _Options = object


class Layer(Described, _Options):
    """A function with weights.

    Floating inputs are cast to the ``compute_dtype`` of the policy, and weights are read in it;
    with ``autocast=False`` neither is cast.

    Subclasses make these in ``__init__`` or ``build(input_shape)`` by ``add_weight``, and compute
    in ``call(inputs)``. Layers that are attributes, in lists and dictionaries too, belong to it.
    """

    #: The requirements of the first argument: an ``InputSpec``, or several.
    input_spec: Any = None
    #: True if a mask of the input is one of the output.
    supports_masking: bool = False

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """Keep what the layer is made with, for ``get_config``."""
        made = object.__new__(cls)
        object.__setattr__(made, "_given", (args, kwargs))
        return made

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
        unknown = kwargs.keys() - {"input_shape", "input_dim"}
        if unknown:
            raise ValueError(
                f"{type(self).__name__} has no such arguments: "
                f"{ {key: kwargs[key] for key in sorted(unknown)} }"
            )
        self._ready()
        self._trainable = bool(trainable)
        self.dtype_policy = dtype
        self.autocast: bool = autocast
        self.name: str = unique_name(snake_case(type(self).__name__)) if name is None else name
        self.activity_regularizer: Any = regularizers.get(activity_regularizer)
        self._input_shape = _given_shape(kwargs)
        if type(self).compute_mask is not Layer.compute_mask:
            self.supports_masking = True  # unless its own __init__ says otherwise

    def _option(self, name: str, value: Any) -> Any:
        """An argument as the attribute that it becomes."""
        read = _READ.get(name.rpartition("_")[2])
        return value if read is None else read(value)

    def _add(
        self,
        name: str,
        shape: Sequence[int],
        of: str | None = None,
        first: Any = None,
        autocast: bool = True,
    ) -> None:
        """Make a weight by the initializer, the regularizer and the constraint of its name."""
        of = of or name
        weight = self.add_weight(
            shape,
            first or getattr(self, f"{of}_initializer"),
            regularizer=getattr(self, f"{of}_regularizer"),
            constraint=getattr(self, f"{of}_constraint"),
            autocast=autocast,
            name=name,
        )
        setattr(self, name, weight)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        build = cls.__dict__.get("build")
        if build is not None:
            cls.build = _marking(build)  # type: ignore[method-assign]  # whoever calls it

    def __repr__(self) -> str:
        return f"<{type(self).__name__} name={self.name}, built={self.built}>"

    def build(self, input_shape: Any) -> None:
        """Make the weights that depend on the input's shape."""

    def get_build_config(self) -> dict[str, Any] | None:
        """The shape that ``build`` was called with, if it was."""
        shape = getattr(self, "_built_for", None)
        return None if shape is None else {"input_shape": shape}

    def build_from_config(self, config: Mapping[str, Any]) -> None:
        """Make the weights for a shape that another layer was built for."""
        if config.get("input_shape") is not None:
            self.build(config["input_shape"])

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """The output of the layer."""
        raise NotImplementedError(f"{type(self).__name__} must have a method `call`")

    def compute_mask(self, inputs: Any, previous_mask: Any) -> Any:
        """The mask of the output, if ``supports_masking``: that of the input."""
        del inputs  # for subclasses
        return previous_mask

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the output for that of an input, found by computing with zeros."""
        example = KerasTensor.of_shape(tuple(input_shape), self.compute_dtype)
        return self(example).shape

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Build the layer if it is not yet, and compute; of symbolic inputs, symbolic outputs.

        ``training`` is that of the layer around this one if it is not given.
        """
        if is_symbolic((args, kwargs)):
            return KerasTensor.of_call(self, args, kwargs)
        names = _names_of(self.call)
        kwargs = dict(zip(names, args, strict=False)) | kwargs if names else kwargs
        rest = [self._converted(arg) for arg in args[len(names) :]]
        kwargs = {name: self._converted(value) for name, value in kwargs.items()}
        first = kwargs[names[0]] if names and names[0] in kwargs else next(iter(rest), None)
        check_inputs(self.input_spec, first, self.name)
        with within(self):
            return self._called(names, first, kwargs, rest, len(args))

    def _called(
        self,
        names: tuple[str, ...],
        first: Any,
        kwargs: dict[str, Any],
        rest: Sequence[Any],
        positional: int,
    ) -> Any:
        """The outputs, of inputs by the names of parameters and further ones."""
        if not self.built:
            self._build_for(first, kwargs)
        if not _CALLS.__dict__.get("training"):  # no layer around this one is being called
            for layer in (self, *self._flat()):
                layer._losses.clear()
        masks = self._take_masks(names, first, kwargs)
        around: list[Any] = _CALLS.__dict__.setdefault("training", [])
        around.append(_settled_training(self, kwargs, around))
        try:
            leading = [kwargs.pop(name) for name in names[:positional]]
            with self._reading():
                value = self.call(*leading, *rest, **kwargs)
        finally:
            around.pop()
        if self.activity_regularizer is not None:
            self.add_loss([self._penalty_of(part) for part in _tensors_in(value)])
        self._give_masks(first, masks, value)
        return value

    def _reading(self) -> contextlib.AbstractContextManager[None]:
        """The dtype in which weights are read within the call."""
        policy = self.dtype_policy
        if dtype_policies.is_reading():
            casts = self.autocast and policy.computed.is_floating
            return dtype_policies.reading_in(policy.computed if casts else None)
        if policy.compute_dtype != policy.variable_dtype:
            return dtype_policies.reading_in(policy.computed)
        return contextlib.nullcontext()

    def _build_for(self, first: Any, kwargs: dict[str, Any]) -> None:
        """Build by the shape of the first input, or by all shapes that ``build`` names."""
        wanted = _names_of(self.build)
        if len(wanted) < 2:
            self.build(_shapes(first))
        else:
            shapes = {f"{name}_shape": _shapes(each) for name, each in kwargs.items()}
            self.build(**{name: shapes[name] for name in wanted if shapes.get(name) is not None})
        object.__setattr__(self, "built", True)

    def _take_masks(self, names: tuple[str, ...], first: Any, kwargs: dict[str, Any]) -> Any:
        """Fill in the arguments for masks that are not given; the mask of the first input."""
        tensors: list[str] = []
        if any(name.endswith("mask") for name in names):
            tensors = [name for name, value in kwargs.items() if _tensors_in(value)]
            tensors = [name for name in tensors if not name.endswith("mask")]
        for name in tensors:
            wanted = "mask" if len(tensors) == 1 else f"{name}_mask"
            if wanted in names and kwargs.get(wanted) is None:
                mask = masks_of(kwargs[name])
                kwargs[wanted] = mask if is_masked(mask) else None
        return masks_of(first) if kwargs.get("mask") is None else kwargs["mask"]

    def _give_masks(self, first: Any, masks: Any, value: Any) -> None:
        """Let outputs carry masks, unless the layer has set them."""
        if masks is None and type(self).compute_mask is Layer.compute_mask:
            return
        if self.supports_masking:
            parts = tf.nest.flatten(value)
            if all(mask_of(part) is not None for part in parts):
                return
            for part, mask in zip(
                parts, tf.nest.flatten(self.compute_mask(first, masks)), strict=False
            ):
                if mask is not None and mask_of(part) is None:
                    set_mask(part, mask)
        elif is_masked(masks):
            warnings.warn(
                f"{type(self).__name__} '{self.name}' drops the mask of its input, so layers "
                "after it count masked steps too; a layer keeps masks if it sets "
                "`supports_masking`.",
                stacklevel=3,
            )

    def _penalty_of(self, output: Any) -> Any:
        """The penalty of an output, divided by the number of its examples."""
        penalty = self.activity_regularizer(output)
        return penalty / float(output.shape[0]) if len(output.shape) else penalty

    def _converted(self, value: Any) -> Any:
        """An input as tensors, floats in the dtype that the layer computes in."""
        kind = self.dtype_policy.computed
        if value is None or (isinstance(value, tf.Tensor) and value.dtype == kind):
            return value
        if isinstance(value, dict):
            return {key: self._converted(part) for key, part in value.items()}
        if isinstance(value, (list, tuple)) and any(
            hasattr(part, "shape") or (isinstance(part, (list, tuple, dict)) and _tensors_in(part))
            for part in value
        ):
            return [self._converted(part) for part in value]
        plain = isinstance(value, (int, float, list)) and not isinstance(value, bool)
        if not hasattr(value, "__array__") and not plain:
            return value
        tensor = value if isinstance(value, tf.Tensor) else tf.convert_to_tensor(value)
        if not self.autocast or not tensor.dtype.is_floating or tensor.dtype == kind:
            return tensor
        cast = tf.cast(tensor, kind)
        set_mask(cast, mask_of(tensor))
        return cast

    # The graph of symbolic calls

    @property
    def input(self) -> Any:
        """The symbolic input of the first call."""
        return self._first_call("input").first

    @property
    def output(self) -> Any:
        """The symbolic output of the first call."""
        return self._first_call("output").outputs

    def _first_call(self, what: str) -> Call:
        for call in getattr(self, "_calls", ()):
            return call  # type: ignore[no-any-return]
        raise AttributeError(
            f"Layer '{self.name}' gets its {what} from its first symbolic call; none was made"
        )


@functools.cache
def _parameters(function: Callable[..., Any], skipped: int) -> Mapping[str, inspect.Parameter]:
    return dict(list(inspect.signature(function).parameters.items())[skipped:])


@functools.cache
def _names(function: Callable[..., Any], skipped: int) -> tuple[str, ...]:
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    found = _parameters(function, skipped)
    return tuple([name for name, each in found.items() if each.kind is kind])


def _parameters_of(method: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    """The parameters of a bound method or a function, but for ``self``."""
    function = getattr(method, "__func__", None)
    return _parameters(method, 0) if function is None else _parameters(function, 1)


def _names_of(method: Callable[..., Any]) -> tuple[str, ...]:
    """The names of the parameters that may be given by position."""
    function = getattr(method, "__func__", None)
    return _names(method, 0) if function is None else _names(function, 1)


def _settled_training(layer: Layer, kwargs: dict[str, Any], around: Sequence[Any]) -> Any:
    """Settle ``training``: what is given, that of the layer around, or the call's own default."""
    named = _parameters_of(layer.call)
    given = "training" in kwargs
    value = kwargs.pop("training", None)
    if not given and around:
        value = around[-1]
    if value is None and "training" in named:
        default = named["training"].default
        value = None if default is inspect.Parameter.empty else default
    if "training" in named:
        kwargs["training"] = value
    return value


def _marking(build: Callable[..., None]) -> Callable[..., None]:
    """A build method after which the layer is built, by whomever it was called."""

    @functools.wraps(build)
    def marked(self: Layer, *args: Any, **kwargs: Any) -> None:
        with within(self):
            build(self, *args, **kwargs)
        object.__setattr__(self, "built", True)
        shape = args[0] if args else next(iter(kwargs.values()), None)
        object.__setattr__(self, "_built_for", shape)

    return marked


def _given_shape(kwargs: dict[str, Any]) -> tuple[Any, ...] | None:
    """The shape of examples that a first layer in a Sequential was given."""
    if kwargs.get("input_dim") is not None:
        return (int(kwargs["input_dim"]),)
    shape = kwargs.get("input_shape")
    return None if shape is None else tuple(as_list(shape))


def _tensors_in(value: Any) -> list[Any]:
    return [part for part in tf.nest.flatten(value) if isinstance(part, tf.Tensor)]


def _shapes(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_shapes(part) for part in value]
    if isinstance(value, dict):
        return {key: _shapes(part) for key, part in value.items()}
    return tuple(value.shape) if hasattr(value, "shape") else None
