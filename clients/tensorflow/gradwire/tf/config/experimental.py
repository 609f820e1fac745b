"""``tf.config.experimental``: the memory and the devices of a machine without a GPU."""

from __future__ import annotations

from typing import Any

from gradwire.tf.config.devices import (
    LogicalDeviceConfiguration,
    PhysicalDevice,
    checked,
    get_logical_device_configuration,
    set_logical_device_configuration,
    settings,
)
from gradwire.tf.config.devices import get_visible_devices as get_visible_devices
from gradwire.tf.config.devices import list_logical_devices as list_logical_devices
from gradwire.tf.config.devices import list_physical_devices as list_physical_devices
from gradwire.tf.config.devices import set_visible_devices as set_visible_devices

VirtualDeviceConfiguration = LogicalDeviceConfiguration
get_virtual_device_configuration = get_logical_device_configuration
set_virtual_device_configuration = set_logical_device_configuration
_POLICIES = ("silent", "silent_for_int32", "warn", "explicit")


def get_memory_growth(device: PhysicalDevice) -> bool | None:
    """True if a GPU takes memory as it needs it.

    Raises:
        ValueError: for the CPU, as for what is no device.
    """
    raise ValueError(f"Cannot get memory growth of {checked(device).name}, which is not a GPU")


def set_memory_growth(device: PhysicalDevice, enable: bool) -> None:
    """Let a GPU take memory as it needs it.

    Raises:
        ValueError: for the CPU, as for what is no device.
    """
    name = checked(device).name
    raise ValueError(f"Cannot set memory growth to {enable} on {name}, which is not a GPU")


def get_device_details(device: PhysicalDevice) -> dict[str, Any]:
    """The details of a device: none for the CPU."""
    checked(device)
    return {}


def enable_op_determinism() -> None:
    """Have the same program give the same numbers, which is always so here."""


def enable_tensor_float_32_execution(enabled: bool) -> None:
    """Store the setting without effect: only GPUs have that format."""
    settings["tensor_float_32"] = enabled


def tensor_float_32_execution_enabled() -> bool:
    """The setting, by default true."""
    return bool(settings.get("tensor_float_32", True))


def get_device_policy() -> str:
    """The setting, by default ``silent``."""
    return str(settings.get("device_policy", "silent"))


def set_device_policy(device_policy: str | None) -> None:
    """Store the setting without effect: with one device nothing is moved."""
    if device_policy not in (None, *_POLICIES):
        raise ValueError(f"Invalid argument `device_policy`: {device_policy!r}.")
    settings["device_policy"] = device_policy or "silent"


def get_synchronous_execution() -> bool:
    """The setting, by default true."""
    return bool(settings.get("synchronous", True))


def set_synchronous_execution(enable: bool) -> None:
    """Store the setting without effect: when tensors are computed cannot be seen."""
    settings["synchronous"] = enable
