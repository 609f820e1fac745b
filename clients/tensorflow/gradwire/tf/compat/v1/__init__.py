"""``tf.compat.v1``: what programs that run eagerly still use of TensorFlow 1.

Names that are the same in ``tf`` are those. Graphs, placeholders and collections are not
there.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from operator import attrgetter
from types import ModuleType
from typing import Any

import gradwire.tf as tf
from gradwire.tf import absent
from gradwire.tf.compat.v1 import data as data
from gradwire.tf.compat.v1 import gfile as gfile
from gradwire.tf.compat.v1 import image as image
from gradwire.tf.compat.v1 import logging as logging
from gradwire.tf.compat.v1 import losses as losses
from gradwire.tf.compat.v1 import train as train
from gradwire.tf.compat.v1.sessions import ConfigProto as ConfigProto
from gradwire.tf.compat.v1.sessions import GPUOptions as GPUOptions
from gradwire.tf.compat.v1.sessions import InteractiveSession as InteractiveSession
from gradwire.tf.compat.v1.sessions import Session as Session

executing_eagerly: Callable[..., Any] = tf.executing_eagerly
set_random_seed: Callable[..., Any] = tf.random.set_seed
random_normal: Callable[..., Any] = tf.random.normal
random_uniform: Callable[..., Any] = tf.random.uniform
truncated_normal: Callable[..., Any] = tf.random.truncated_normal


def enable_eager_execution(
    config: Any = None, device_policy: Any = None, execution_mode: Any = None
) -> None:
    """Run operations when they are called, which is always so here."""


def enable_v2_behavior() -> None:
    """Behave as TensorFlow 2, which is always so here."""


enable_control_flow_v2 = enable_v2_behavior
enable_resource_variables = enable_v2_behavior
enable_tensor_equality = enable_v2_behavior
enable_v2_tensorshape = enable_v2_behavior


def executing_eagerly_outside_functions() -> bool:
    """True: there are no graphs."""
    return True


def resource_variables_enabled() -> bool:
    """True: variables are TensorFlow 2's."""
    return True


def global_variables_initializer() -> None:
    """None: variables have their values from the beginning."""


local_variables_initializer = global_variables_initializer


def tables_initializer(name: str = "init_all_tables") -> None:
    """None: there are no tables."""


def assign(
    ref: Any,
    value: Any,
    validate_shape: bool | None = None,
    use_locking: bool | None = None,
    name: str | None = None,
) -> Any:
    """Give a variable another value."""
    return ref.assign(value, name=name)


def assign_add(
    ref: Any, value: Any, use_locking: bool | None = None, name: str | None = None
) -> Any:
    """Add to a variable."""
    return ref.assign_add(value)


def assign_sub(
    ref: Any, value: Any, use_locking: bool | None = None, name: str | None = None
) -> Any:
    """Subtract from a variable."""
    return ref.assign_sub(value)


def to_float(x: Any, name: str = "ToFloat") -> Any:
    """The numbers as float32."""
    return tf.cast(x, tf.float32)


def to_double(x: Any, name: str = "ToDouble") -> Any:
    """The numbers as float64."""
    return tf.cast(x, tf.float64)


def to_int32(x: Any, name: str = "ToInt32") -> Any:
    """The numbers as int32."""
    return tf.cast(x, tf.int32)


def to_int64(x: Any, name: str = "ToInt64") -> Any:
    """The numbers as int64."""
    return tf.cast(x, tf.int64)


def _add_same(module: ModuleType, place: str) -> bool:
    """Add the names that have one in TensorFlow 2, where it is there: whether any is."""
    found = {}
    for name, other in absent.same_names_of(place).items():
        with contextlib.suppress(AttributeError):
            found[name] = attrgetter(other)(tf)
    for name, value in found.items():
        vars(module).setdefault(name, value)
    return found != {}


def _add_modules() -> None:
    for place in absent.tensorflow_names():
        if not place.startswith("compat.v1."):
            continue
        parent, _, name = place.removeprefix("compat.v1").rpartition(".")
        holder: Any = sys.modules.get(f"{__name__}{parent}")
        if holder is None:
            continue
        module = vars(holder).get(name)
        if module is None:
            module = ModuleType(f"{__name__}{parent}.{name}", f"``tf.{place}``.")
        if _add_same(module, place) or name in vars(holder):
            sys.modules.setdefault(module.__name__, module)
            setattr(holder, name, module)


_add_same(sys.modules[__name__], "compat.v1")
_add_modules()
