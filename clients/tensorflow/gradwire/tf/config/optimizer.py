"""``tf.config.optimizer``: how graphs are optimised, which the service does in its own way."""

from __future__ import annotations

from typing import Any

from gradwire.tf.arguments import only
from gradwire.tf.config.devices import settings

#: Options that make TensorFlow compute in half precision.
_HALF_PRECISION = (
    "auto_mixed_precision",
    "auto_mixed_precision_mkl",
    "auto_mixed_precision_onednn_bfloat16",
)


def get_jit() -> str:
    """The setting, by default an empty text."""
    return str(settings.get("jit", ""))


def set_jit(enabled: bool | str) -> None:
    """Store the setting without effect: the service compiles what comes again."""
    settings["jit"] = (
        ("autoclustering" if enabled else "") if isinstance(enabled, bool) else enabled
    )


def get_experimental_options() -> dict[str, Any]:
    """The options that were set, and TensorFlow's defaults."""
    defaults: dict[str, Any] = {"disable_model_pruning": False, "disable_meta_optimizer": False}
    return {**defaults, **settings.get("optimizer_options", {})}


def set_experimental_options(options: dict[str, Any]) -> None:
    """Keep options that change no result; half precision is not implemented."""
    for name in _HALF_PRECISION:
        only("set_experimental_options", **{name: (bool(options.get(name, False)), False)})
    settings["optimizer_options"] = settings.get("optimizer_options", {}) | options
