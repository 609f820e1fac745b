"""Layers as configurations: what they were made with, as plain values."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from gradwire.tf.keras.configurable import parameters
from gradwire.tf.keras.layers.tracking import Owner
from gradwire.tf.keras.objects import (
    deserialize_keras_object,
    is_ours,
    serialize_keras_object,
)

#: The arguments of every layer, which are in each configuration.
_BASIC = ("name", "trainable", "dtype", "activity_regularizer", "autocast")


class Described(Owner):
    """The arguments of a layer, from its attributes, and for users' classes from the call."""

    activity_regularizer: Any
    #: Parameters of the class that it derives from which it does not take.
    _left_out: tuple[str, ...] = ()

    def get_config(self) -> dict[str, Any]:
        """The arguments that would make another such layer.

        Raises:
            NotImplementedError: for a class whose arguments are not plain values, and which has no
                method of its own.
        """
        config = self._basic_config()
        ours: type[Any] = next(kind for kind in type(self).__mro__ if is_ours(kind))
        own = [name for name in parameters(ours) if name not in (*_BASIC, *self._left_out)]
        config |= {name: serialize_keras_object(getattr(self, name)) for name in own}
        if type(self) is not ours and type(self).get_config is ours.get_config:
            config |= self._given_config(config)
        return config

    def _basic_config(self) -> dict[str, Any]:
        """The part of the configuration that all layers have."""
        config: dict[str, Any] = {
            "name": self.name,
            "trainable": self._trainable,
            "dtype": serialize_keras_object(self.dtype_policy),
        }
        if self.activity_regularizer is not None:
            config["activity_regularizer"] = serialize_keras_object(self.activity_regularizer)
        return config

    def _given_config(self, config: dict[str, Any]) -> dict[str, Any]:
        args, kwargs = self._given  # type: ignore[attr-defined]  # set by __new__
        bound = inspect.signature(type(self).__init__).bind(self, *args, **kwargs)
        bound.apply_defaults()
        given = dict(list(bound.arguments.items())[1:])
        for name, each in inspect.signature(type(self).__init__).parameters.items():
            if each.kind is each.VAR_KEYWORD:
                given |= given.pop(name, {})
        try:
            return {
                name: serialize_keras_object(value)
                for name, value in given.items()
                if name not in config
            }
        except NotImplementedError:
            raise NotImplementedError(
                f"{type(self).__name__} has arguments that its configuration cannot hold; give it "
                "a method `get_config` that describes them"
            ) from None

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Any:
        """A layer by such arguments."""
        # It reads its initialisers itself: in which order, decides the seeds that they draw.
        first = {name: each for name, each in config.items() if name.endswith("_initializer")}
        others = {name: each for name, each in config.items() if name not in first}
        if others.get("quantization_config") is None:  # which Keras writes of every layer
            others.pop("quantization_config", None)
        return cls(**deserialize_keras_object(others), **first)
