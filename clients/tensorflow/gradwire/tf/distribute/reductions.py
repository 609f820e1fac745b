"""Reductions of several replicas' values to one: of one replica, its value is the result."""

from __future__ import annotations

import enum
from typing import Any

__all__ = ["HierarchicalCopyAllReduce", "NcclAllReduce", "ReduceOp", "ReductionToOneDevice"]


class ReduceOp(enum.Enum):
    """The reduction of replicas' values to one."""

    SUM = "SUM"
    MEAN = "MEAN"

    @classmethod
    def of(cls, value: Any) -> ReduceOp:
        """One by itself or by its name."""
        return value if isinstance(value, cls) else cls(str(value).upper())


class CrossDeviceOps:
    """Communication among devices: there is one device."""


class HierarchicalCopyAllReduce(CrossDeviceOps):
    """By copies in two stages: there is one device."""

    def __init__(self, num_packs: int = 1) -> None:
        self.num_packs: int = num_packs


class NcclAllReduce(CrossDeviceOps):
    """By NVIDIA's library: there is one device."""

    def __init__(self, num_packs: int = 1) -> None:
        self.num_packs: int = num_packs


class ReductionToOneDevice(CrossDeviceOps):
    """On one device: there is one device."""

    def __init__(self, reduce_to_device: Any = None, accumulation_fn: Any = None) -> None:
        if accumulation_fn is not None:
            raise NotImplementedError("ReductionToOneDevice does not implement accumulation_fn=")
        self.reduce_to_device: Any = reduce_to_device
