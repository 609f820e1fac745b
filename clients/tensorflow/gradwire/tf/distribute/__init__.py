"""``tf.distribute``: strategies of one device, which compute what they are given as it is."""

from gradwire.tf.distribute.reductions import HierarchicalCopyAllReduce as HierarchicalCopyAllReduce
from gradwire.tf.distribute.reductions import NcclAllReduce as NcclAllReduce
from gradwire.tf.distribute.reductions import ReduceOp as ReduceOp
from gradwire.tf.distribute.reductions import ReductionToOneDevice as ReductionToOneDevice
from gradwire.tf.distribute.strategies import InputContext as InputContext
from gradwire.tf.distribute.strategies import MirroredStrategy as MirroredStrategy
from gradwire.tf.distribute.strategies import OneDeviceStrategy as OneDeviceStrategy
from gradwire.tf.distribute.strategies import ReplicaContext as ReplicaContext
from gradwire.tf.distribute.strategies import Strategy as Strategy
from gradwire.tf.distribute.strategies import get_replica_context as get_replica_context
from gradwire.tf.distribute.strategies import get_strategy as get_strategy
from gradwire.tf.distribute.strategies import has_strategy as has_strategy
from gradwire.tf.distribute.strategies import in_cross_replica_context as in_cross_replica_context
