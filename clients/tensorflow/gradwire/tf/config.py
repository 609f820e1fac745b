"""``tf.config``: what programs set and ask of the machine: there is one CPU, behind the service."""

from __future__ import annotations

from typing import Any, NamedTuple

from gradwire.tf.functions import functions_run_eagerly, run_functions_eagerly

__all__ = [
    "LogicalDevice",
    "PhysicalDevice",
    "experimental_functions_run_eagerly",
    "experimental_run_functions_eagerly",
    "functions_run_eagerly",
    "get_soft_device_placement",
    "get_visible_devices",
    "list_logical_devices",
    "list_physical_devices",
    "run_functions_eagerly",
    "set_soft_device_placement",
    "set_visible_devices",
]


class PhysicalDevice(NamedTuple):
    """A device of the machine."""

    name: str
    device_type: str


class LogicalDevice(NamedTuple):
    """A device as operations are placed on it."""

    name: str
    device_type: str


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
    """Accepted: where the service computes is set there."""


def get_soft_device_placement() -> bool:
    """Whether operations may be placed elsewhere: always."""
    return True


def set_soft_device_placement(enabled: bool) -> None:
    """Accepted: operations are always placed where they can be."""


experimental_run_functions_eagerly = run_functions_eagerly
experimental_functions_run_eagerly = functions_run_eagerly
