"""Policies on dtypes: what layers compute in, and what they keep their weights in."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import gradwire.tf as tf
from gradwire.tf.keras import settings
from gradwire.tf.keras.objects import deserialize_keras_object, serialize_keras_object

__all__ = ["DTypePolicy", "FloatDTypePolicy", "deserialize", "get", "serialize"]

#: What float32 weights are computed with, by the names of mixed policies.
_MIXED = {"mixed_float16": "float16", "mixed_bfloat16": "bfloat16"}
_SCOPES = threading.local()


class DTypePolicy:
    """The dtypes that a layer computes in and keeps its weights in, by one name.

    That is a dtype, or ``"mixed_float16"`` or ``"mixed_bfloat16"``: float32 weights that are read
    in half precision. Without a name it is the global policy.
    """

    def __init__(self, name: str | None = None) -> None:
        self.name: str = settings.policy_name() if name is None else name
        if not isinstance(self.name, str):
            raise TypeError(f"`name` must be text, such as 'mixed_float16'; got {name!r}")
        try:
            self.computed: tf.DType = tf.as_dtype(_MIXED.get(self.name, self.name))
        except TypeError:
            raise ValueError(
                f"Cannot convert '{name}' to a `DTypePolicy`; possible are {', '.join(_MIXED)} and "
                "the names of dtypes"
            ) from None
        self.compute_dtype: str = self.computed.name
        self.variable_dtype: str = "float32" if self.name in _MIXED else self.compute_dtype
        self.quantization_mode: None = None

    def get_config(self) -> dict[str, Any]:
        """Its name."""
        return {"name": self.name}

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> DTypePolicy:
        """The policy of a name."""
        return cls(**config)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DTypePolicy) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f'<DTypePolicy "{self.name}">'


class FloatDTypePolicy(DTypePolicy):
    """The same by another name."""


def get(identifier: Any = None) -> DTypePolicy:
    """The policy that a name, a dtype, a configuration or a policy means; of None, the global one.

    Raises:
        NotImplementedError: for policies of quantized layers.
        ValueError: for what is no dtype.
    """
    if isinstance(identifier, DTypePolicy):
        return identifier
    if isinstance(identifier, Mapping):
        return deserialize(identifier)
    if isinstance(identifier, str) and "_from_" in identifier:
        raise NotImplementedError(f"quantized layers are not implemented: dtype={identifier!r}")
    if identifier is None or isinstance(identifier, str):
        return DTypePolicy(identifier)
    try:
        return DTypePolicy(tf.as_dtype(identifier).name)
    except TypeError:
        raise ValueError(f"`dtype` must be a dtype or a policy; got {identifier!r}") from None


def serialize(dtype_policy: DTypePolicy) -> dict[str, Any]:
    """A policy as plain values."""
    config: dict[str, Any] = serialize_keras_object(dtype_policy)
    return config


def deserialize(config: Any, custom_objects: Mapping[str, Any] | None = None) -> DTypePolicy:
    """The policy that a configuration describes."""
    policy: DTypePolicy = deserialize_keras_object({"module": "keras", **config}, custom_objects)
    return policy


def dtype_policy() -> DTypePolicy:
    """The policy of layers that are given none."""
    return DTypePolicy()


def set_dtype_policy(policy: Any) -> None:
    """Set the policy of layers that are given none, by its name or as it is."""
    settings.set_policy_name(get(policy).name)


@contextmanager
def reading_in(dtype: tf.DType | None) -> Iterator[None]:
    """Within, weights are read in this dtype, or in their own."""
    before = _SCOPES.__dict__.get("dtypes", ())
    _SCOPES.dtypes = (*before, dtype)
    try:
        yield
    finally:
        _SCOPES.dtypes = before


def is_reading() -> bool:
    """True within a layer that says in which dtype weights are read."""
    return bool(_SCOPES.__dict__.get("dtypes"))


def read_dtype() -> tf.DType | None:
    """The dtype in which weights are read here; None if that is their own."""
    dtypes: tuple[tf.DType | None, ...] = _SCOPES.__dict__.get("dtypes", ())
    return dtypes[-1] if dtypes else None
