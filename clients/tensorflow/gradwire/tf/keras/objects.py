"""Keras's objects as configurations of plain values, in Keras's form, and made again from them."""

from __future__ import annotations

import base64
import contextlib
import inspect
import marshal
import types
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any, TypeVar

import numpy as np

import gradwire.tf as tf
from gradwire.tf.keras.configurable import parameters
from gradwire.tf.keras.names import snake_case

__all__ = [
    "CustomObjectScope", "custom_object_scope", "deserialize_keras_object", "get_custom_objects",
    "get_registered_name", "get_registered_object", "register_keras_serializable",
    "serialize_keras_object",
]  # fmt: skip

T = TypeVar("T")
_OURS = "gradwire.tf.keras."
#: Keras's module of what is in a module of ours, where that is not of the same name.
_PUBLIC = {
    "functional": "keras.src.models.functional",
    "dtype_policies": "keras",
    "models": "keras",
    "schedules": "keras.optimizers.schedules",
    "sequential": "keras",
    "symbolic": "keras.src.ops.numpy",
}
_HINT = (
    "Import its module first; your own classes and functions also need "
    "`@keras.saving.register_keras_serializable()`."
)
#: The objects that users registered, by their names with packages, and the names of these.
_REGISTERED: dict[str, Any] = {}
_NAMES: dict[Any, str] = {}
_SCOPES: list[Mapping[str, Any]] = []
#: True for each call around that runs code.
_UNSAFE: list[bool] = []


def register_keras_serializable(
    package: str = "Custom", name: str | None = None
) -> Callable[[T], T]:
    """A decorator of classes and functions that configurations may name."""

    def registered(item: T) -> T:
        full = f"{package}>{name or getattr(item, '__name__', '')}"
        if inspect.isclass(item) and not hasattr(item, "get_config"):
            raise ValueError(f"{item} needs a method get_config to be registered")
        _REGISTERED[full], _NAMES[item] = item, full
        return item

    return registered


def get_custom_objects() -> dict[str, Any]:
    """The registered objects, by name; what is added to them counts."""
    return _REGISTERED


def get_registered_name(obj: Any) -> str:
    """The name that an object is registered by, or its own."""
    return _NAMES.get(obj, getattr(obj, "__name__", ""))


def get_registered_object(name: str, custom_objects: Any = None, module_objects: Any = None) -> Any:
    """The object of a name in scopes, registrations and mappings that are given, or None."""
    for known in (*reversed(_SCOPES), _REGISTERED, custom_objects or {}, module_objects or {}):
        if name in known:
            return known[name]
    return None


@contextlib.contextmanager
def custom_object_scope(custom_objects: Mapping[str, Any] | None) -> Iterator[None]:
    """Within, configurations may name these objects."""
    _SCOPES.append(custom_objects or {})
    try:
        yield
    finally:
        _SCOPES.pop()


CustomObjectScope = custom_object_scope


def is_ours(kind: type) -> bool:
    """True if a class is one of Keras's, and not a user's."""
    return kind.__module__.startswith(_OURS)


def config_by_attributes(obj: Any) -> dict[str, Any]:
    """The arguments that would make an object of one of Keras's classes, from its attributes."""
    kind = next(each for each in type(obj).__mro__ if is_ours(each))
    return {name: serialize_keras_object(getattr(obj, name)) for name in parameters(kind)}


class Configured:
    """An object that is made again from its attributes, which have its parameters' names."""

    def get_config(self) -> dict[str, Any]:
        """The arguments that would make another."""
        return config_by_attributes(self)

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Any:
        """Another, by such arguments."""
        return cls(**deserialize_keras_object(dict(config)))


def serialize_keras_object(obj: Any) -> Any:
    """An object as plain values: ``{"module", "class_name", "config", "registered_name"}``.

    Raises:
        NotImplementedError: for lambda functions, and what has no ``get_config``.
    """
    if obj is None or isinstance(obj, (bool, int, float, str)):
        return obj
    if isinstance(obj, (list, tuple)):
        return type(obj)([serialize_keras_object(part) for part in obj])
    if isinstance(obj, Mapping):
        return {key: serialize_keras_object(part) for key, part in obj.items()}
    if isinstance(obj, np.generic):
        return obj.item()
    if isinstance(obj, np.ndarray) or hasattr(obj, "numpy"):
        array = np.asarray(obj)
        return {
            "class_name": "__numpy__" if isinstance(obj, np.ndarray) else "__tensor__",
            "config": {"value": array.tolist(), "dtype": array.dtype.name},
        }
    if isinstance(obj, tf.DType):
        return obj.name
    if isinstance(obj, types.FunctionType):
        return _function_config(obj)
    kind = type(obj)
    if not (hasattr(obj, "get_config") or is_ours(kind)):
        raise NotImplementedError(
            f"a configuration of {obj!r} is not possible: {kind.__name__} has no get_config()"
        )
    place = _place(kind)
    config = {
        "module": place,
        "class_name": getattr(obj, "_class_name", kind.__name__),
        "config": serialize_keras_object(
            obj.get_config() if hasattr(obj, "get_config") else config_by_attributes(obj)
        ),
        "registered_name": None if place else get_registered_name(kind),
    }
    for extra in ("build_config", "compile_config"):
        found = getattr(obj, f"get_{extra}", lambda: None)()
        if found:
            config[extra] = serialize_keras_object(found)
    return config


def _function_config(function: Any) -> Any:
    if function.__module__ == f"{_OURS}activations":
        return function.__name__
    if function.__name__ == "<lambda>":
        raise NotImplementedError(
            "a configuration of a lambda function is not possible; a function that is registered "
            "by keras.utils.register_keras_serializable() is"
        )
    place = _place(function)
    return {
        "module": place or "builtins",
        "class_name": "function",
        "config": function.__name__,
        "registered_name": function.__name__ if place else get_registered_name(function),
    }


def _place(item: Any) -> str | None:
    """Keras's public module of a class or a function, or None for those of users."""
    if not item.__module__.startswith(_OURS):
        return None
    module = item.__module__.removeprefix(_OURS).split(".")[0]
    if item.__name__ == "Functional":
        module = "functional"
    return _PUBLIC.get(module, f"keras.{module}")


def deserialize_keras_object(
    config: Any, custom_objects: Mapping[str, Any] | None = None, safe_mode: bool = True
) -> Any:
    """The values of a configuration: objects where it has Keras's form, nested ones too.

    Raises:
        TypeError: for a class or a function that is not found.
        ValueError: for lambda functions, which are Python's code, unless ``safe_mode=False``.
    """
    with custom_object_scope(custom_objects), _mode(safe_mode):
        return _deserialized(config)


@contextlib.contextmanager
def _mode(safe: bool) -> Iterator[None]:
    """Within, code is run if it was asked for: here, or around."""
    _UNSAFE.append(not safe)
    try:
        yield
    finally:
        _UNSAFE.pop()


def _lambda(config: Mapping[str, Any]) -> Any:
    """A lambda function of its code, as Keras has it: marshalled, in base64."""
    if not any(_UNSAFE):
        raise ValueError(
            "a lambda function in a file is Python's code, which may do anything; it is loaded "
            "with `safe_mode=False`, if you trust the file"
        )
    try:
        code = marshal.loads(base64.b64decode(config["code"]))  # noqa: S302 - it was asked for
    except (ValueError, EOFError, TypeError):
        raise NotImplementedError(
            "the code of a lambda function in the file is that of another version of Python"
        ) from None
    closure = tuple([types.CellType(value) for value in config.get("closure") or ()])
    defaults = tuple(config.get("defaults") or ()) or None
    names = {"tf": tf, "keras": tf.keras, "K": tf.keras.backend, "np": np}
    return types.FunctionType(code, names, "<lambda>", defaults, closure or None)


def _deserialized(config: Any) -> Any:
    if isinstance(config, (list, tuple)):
        return type(config)([_deserialized(part) for part in config])
    if not isinstance(config, Mapping):
        return config
    if "class_name" not in config or "config" not in config:
        return {key: _deserialized(part) for key, part in config.items()}
    name, inner = config["class_name"], config["config"]
    if name in ("__numpy__", "__tensor__"):
        array = np.asarray(inner["value"], inner["dtype"])
        return array if name == "__numpy__" else tf.constant(array)
    if name == "__lambda__":
        return _lambda(inner)
    found = _located(config)
    if name == "function":
        return found
    if hasattr(found, "from_config"):
        made = found.from_config(inner)
    else:
        made = found(**_deserialized(inner))
    shape = (config.get("build_config") or {}).get("input_shape")
    if shape is not None and not getattr(made, "built", True):
        made.build_from_config(config["build_config"])
    return made


def _located(config: Mapping[str, Any]) -> Any:
    name = config["class_name"]
    wanted = config["config"] if name == "function" else name
    for key in (config.get("registered_name"), wanted):
        found = get_registered_object(key) if key else None
        if found is not None:
            return found
    place = config.get("module") or ""
    if place.startswith("keras"):
        ours = {public: module for module, public in _PUBLIC.items() if public != "keras"}
        module = ours.get(place, place.removeprefix("keras").removeprefix("."))
        if place.startswith("keras.src.ops"):
            return import_module(f"{_OURS}symbolic").Operation.of_class(wanted)
        module = "models" if place.startswith("keras.src.models") else module
        with contextlib.suppress(ImportError):
            found = getattr(import_module(f"{_OURS}{module}".rstrip(".")), wanted, None)
            if found is not None:
                return found
    kind = "function" if name == "function" else "class"
    raise TypeError(f"there is no {kind} '{wanted}'. {_HINT} Its config: {config}")


def resolved(identifier: Any, what: str, known: Mapping[str, Any]) -> Any:
    """The object of an identifier: a configuration, a class, a name of a class, or itself.

    Raises:
        ValueError: for a name that is not known.
    """
    if isinstance(identifier, Mapping):
        return deserialize_keras_object(identifier)
    if isinstance(identifier, type):
        return identifier()
    if identifier is None or callable(identifier):
        return identifier
    for name in (str(identifier).lower(), snake_case(str(identifier))):
        if name in known:
            return known[name]()
    raise ValueError(f"Could not interpret {what} identifier: {identifier}")
