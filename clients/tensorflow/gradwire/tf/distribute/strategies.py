"""Strategies of one replica: what it computes is the result."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Self

from gradwire.tf import nest
from gradwire.tf.arguments import only
from gradwire.tf.conversion import convert_to_tensor
from gradwire.tf.data import Dataset
from gradwire.tf.distribute.reductions import CrossDeviceOps, ReduceOp
from gradwire.tf.operations.reductions import reduce_mean, reduce_sum

__all__ = [
    "InputContext", "MirroredStrategy", "OneDeviceStrategy", "ReplicaContext", "Strategy",
    "get_replica_context", "get_strategy", "has_strategy", "in_cross_replica_context",
]  # fmt: skip


class _Entered(threading.local):
    """The strategy whose scope this thread is in, and whether a replica runs."""

    def __init__(self) -> None:
        self.strategy: Strategy | None = None
        self.in_replica: bool = False


_entered = _Entered()


class Strategy:
    """Variables and computations of one replica.

    >>> strategy = tf.distribute.MirroredStrategy()
    >>> with strategy.scope():
    ...     w = tf.Variable(2.0)
    >>> strategy.reduce("SUM", strategy.run(lambda x: w * x, (3.0,)), axis=None)
    <tf.Tensor: shape=(), dtype=float32, numpy=6.0>
    """

    @property
    def num_replicas_in_sync(self) -> int:
        """The number of replicas: one."""
        return 1

    @property
    def cluster_resolver(self) -> None:
        """None: there is one machine."""

    @contextlib.contextmanager
    def scope(self) -> Iterator[Self]:
        """A context in which this is the strategy.

        Raises:
            RuntimeError: within the scope of another one.
        """
        before = _entered.strategy, _entered.in_replica
        if before[0] not in (None, self):
            raise RuntimeError(
                f"Mixing different tf.distribute.Strategy objects: {before[0]} is not {self}"
            )
        _entered.strategy, _entered.in_replica = self, False
        try:
            yield self
        finally:
            _entered.strategy, _entered.in_replica = before

    def run(
        self,
        fn: Callable[..., Any],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
        options: Any = None,
    ) -> Any:
        """The result of a function in the replica."""
        only("Strategy.run", options=(options, None))
        with self.scope():
            _entered.in_replica = True
            return fn(*args, **(kwargs or {}))

    def reduce(self, reduce_op: Any, value: Any, axis: int | None) -> Any:
        """The replica's value, or its sum or mean along an axis."""
        op = ReduceOp.of(reduce_op)

        def reduced(tensor: Any) -> Any:
            if axis is None:
                return convert_to_tensor(tensor)
            along = reduce_sum if op is ReduceOp.SUM else reduce_mean
            return along(tensor, axis)

        return nest.map_structure(reduced, value)

    def gather(self, value: Any, axis: int) -> Any:
        """The replica's value, which others would be joined to along an axis."""
        only("Strategy.gather", axis=(axis >= 0, True))
        return convert_to_tensor(value)

    def experimental_local_results(self, value: Any) -> tuple[Any, ...]:
        """The values of all replicas."""
        return (value,)

    def experimental_distribute_dataset(self, dataset: Dataset, options: Any = None) -> Dataset:
        """The data set itself, of which the replica has all elements."""
        only("Strategy.experimental_distribute_dataset", options=(options, None))
        return dataset

    def distribute_datasets_from_function(
        self, dataset_fn: Callable[[InputContext], Dataset], options: Any = None
    ) -> Dataset:
        """The data set that a function makes for the replica."""
        only("Strategy.distribute_datasets_from_function", options=(options, None))
        return dataset_fn(InputContext())

    experimental_distribute_datasets_from_function = distribute_datasets_from_function

    def group(self, value: Any, name: str | None = None) -> None:
        """None: what was called is computed."""


class MirroredStrategy(Strategy):
    """Copies on all GPUs of a machine: there is one device, and no copy."""

    def __init__(self, devices: Any = None, cross_device_ops: CrossDeviceOps | None = None) -> None:
        count = 1 if devices is None else max(len(devices), 1)
        only("MirroredStrategy", devices=(count, 1))
        self._cross_device_ops: CrossDeviceOps | None = cross_device_ops


class OneDeviceStrategy(Strategy):
    """All on one device."""

    def __init__(self, device: Any) -> None:
        self._device: Any = device


class ReplicaContext:
    """A replica's context: its number, and the number of replicas."""

    def __init__(self, strategy: Strategy, replica_id_in_sync_group: int) -> None:
        self._strategy: Strategy = strategy
        self._replica: int = replica_id_in_sync_group

    @property
    def strategy(self) -> Strategy:
        """The strategy that it is a replica of."""
        return self._strategy

    @property
    def replica_id_in_sync_group(self) -> int:
        """Its number: 0."""
        return self._replica

    @property
    def num_replicas_in_sync(self) -> int:
        """The number of replicas: one."""
        return 1

    def all_reduce(self, reduce_op: Any, value: Any, options: Any = None) -> Any:
        """The sum or mean over the replicas: the value."""
        only("all_reduce", options=(options, None))
        ReduceOp.of(reduce_op)
        return nest.map_structure(convert_to_tensor, value)

    def all_gather(self, value: Any, axis: int, options: Any = None) -> Any:
        """The values of all replicas, joined along an axis: the value."""
        only("all_gather", options=(options, None), axis=(axis >= 0, True))
        return nest.map_structure(convert_to_tensor, value)

    def merge_call(
        self,
        merge_fn: Callable[..., Any],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """The result of a function of the strategy and the replicas' values."""
        before = _entered.in_replica
        _entered.in_replica = False
        try:
            return merge_fn(self._strategy, *args, **(kwargs or {}))
        finally:
            _entered.in_replica = before


class InputContext:
    """The part of the input that a data set is made for."""

    def __init__(
        self,
        num_input_pipelines: int = 1,
        input_pipeline_id: int = 0,
        num_replicas_in_sync: int = 1,
    ) -> None:
        self.num_input_pipelines: int = num_input_pipelines
        self.input_pipeline_id: int = input_pipeline_id
        self.num_replicas_in_sync: int = num_replicas_in_sync

    def get_per_replica_batch_size(self, global_batch_size: int) -> int:
        """The number of examples of a batch for each replica.

        Raises:
            ValueError: the batch cannot be divided.
        """
        if global_batch_size % self.num_replicas_in_sync:
            raise ValueError(
                f"{self.num_replicas_in_sync} replicas cannot share a `global_batch_size` of "
                f"{global_batch_size} evenly"
            )
        return global_batch_size // self.num_replicas_in_sync


_DEFAULT = Strategy()


def get_strategy() -> Strategy:
    """The strategy whose scope is entered, by default one of one replica."""
    return _entered.strategy or _DEFAULT


def has_strategy() -> bool:
    """True if a scope is entered."""
    return _entered.strategy not in (None, _DEFAULT)


def get_replica_context() -> ReplicaContext | None:
    """The replica's context; None in a scope outside of ``run``."""
    return None if in_cross_replica_context() else ReplicaContext(get_strategy(), 0)


def in_cross_replica_context() -> bool:
    """True in a scope while no replica runs."""
    return has_strategy() and not _entered.in_replica
