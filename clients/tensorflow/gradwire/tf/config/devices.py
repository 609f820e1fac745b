"""The one device that there is, and what may be set of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from gradwire.tf.arguments import only

__all__ = [
    "LogicalDevice", "LogicalDeviceConfiguration", "PhysicalDevice",
    "get_logical_device_configuration", "get_soft_device_placement", "get_visible_devices",
    "list_logical_devices", "list_physical_devices", "set_logical_device_configuration",
    "set_soft_device_placement", "set_visible_devices",
]  # fmt: skip

#: Settings by name, kept to be read again; nothing here changes what is computed.
settings: dict[str, Any] = {}


class PhysicalDevice(NamedTuple):
    """A device of the machine."""

    name: str
    device_type: str


class LogicalDevice(NamedTuple):
    """A device as operations are placed on it."""

    name: str
    device_type: str


class LogicalDeviceConfiguration(NamedTuple):
    """The configuration of a part of a device."""

    memory_limit: float | None = None
    experimental_priority: int | None = None
    experimental_device_ordinal: int | None = None


def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The machine's devices, or those of one type."""
    return [PhysicalDevice("/physical_device:CPU:0", "CPU")] if device_type in (None, "CPU") else []


def list_logical_devices(device_type: str | None = None) -> list[LogicalDevice]:
    """The devices for operations, or those of one type."""
    return [LogicalDevice("/device:CPU:0", "CPU")] if device_type in (None, "CPU") else []


def get_visible_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices that are used, or those of one type."""
    return list_physical_devices(device_type)


def set_visible_devices(devices: Any, device_type: str | None = None) -> None:
    """Choose among the devices of a type: of the CPUs the one, of others none.

    Raises:
        ValueError: a device that there is not.
        NotImplementedError: no CPU.
    """
    given = list(devices) if type(devices) in (list, tuple) else None
    for device in [devices] if given is None else given:
        checked(device)
    if given == [] and device_type in (None, "CPU"):
        raise NotImplementedError("set_visible_devices does not implement a machine without a CPU")


def get_logical_device_configuration(device: Any) -> list[LogicalDeviceConfiguration] | None:
    """The parts that a device was made of, None where nothing was set."""
    checked(device)
    found: list[LogicalDeviceConfiguration] | None = settings.get("logical_devices")
    return found


def set_logical_device_configuration(
    device: Any, logical_devices: Sequence[LogicalDeviceConfiguration] | None
) -> None:
    """Make one logical device of the CPU: several are not implemented."""
    checked(device)
    if logical_devices is not None:
        only("set_logical_device_configuration", logical_devices=(len(logical_devices), 1))
    settings["logical_devices"] = None if logical_devices is None else list(logical_devices)


def get_soft_device_placement() -> bool:
    """True if operations may be placed on other devices than the one that was named."""
    return bool(settings.get("soft_device_placement", True))


def set_soft_device_placement(enabled: bool) -> None:
    """Store the setting without effect: a ``tf.device`` is never looked for."""
    settings["soft_device_placement"] = enabled


def checked(device: Any) -> PhysicalDevice:
    """A device that there is.

    Raises:
        ValueError: there is no such device.
    """
    if device not in list_physical_devices():
        raise ValueError(f"Unrecognized device: {device!r}")
    return PhysicalDevice(*device)
