"""``tf.distribute``: strategies of one device, which compute what they are given as it is."""

from gradwire.tf.distribute.reductions import (
    HierarchicalCopyAllReduce,
    NcclAllReduce,
    ReduceOp,
    ReductionToOneDevice,
)
from gradwire.tf.distribute.strategies import (
    InputContext,
    MirroredStrategy,
    OneDeviceStrategy,
    ReplicaContext,
    Strategy,
    get_replica_context,
    get_strategy,
    has_strategy,
    in_cross_replica_context,
)

__all__ = [
    "HierarchicalCopyAllReduce",
    "InputContext",
    "MirroredStrategy",
    "NcclAllReduce",
    "OneDeviceStrategy",
    "ReduceOp",
    "ReductionToOneDevice",
    "ReplicaContext",
    "Strategy",
    "get_replica_context",
    "get_strategy",
    "has_strategy",
    "in_cross_replica_context",
]
