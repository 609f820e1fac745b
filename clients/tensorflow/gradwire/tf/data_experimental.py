"""``tf.data.experimental``: functions of datasets, most of which are methods by now."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from typing import Any

from gradwire.tf.arguments import only
from gradwire.tf.data_options import AutotuneOptions as AutotuneOptions
from gradwire.tf.data_options import DistributeOptions as DistributeOptions
from gradwire.tf.data_options import OptimizationOptions as OptimizationOptions
from gradwire.tf.data_options import ThreadingOptions as ThreadingOptions
from gradwire.tf.errors import FailedPreconditionError
from gradwire.tf.tensors import Tensor

AUTOTUNE: int = -1
INFINITE_CARDINALITY: int = -1
UNKNOWN_CARDINALITY: int = -2

Transformation = Callable[[Any], Any]


class AutoShardPolicy(enum.IntEnum):
    """The division of elements among workers: there is one worker."""

    OFF = -1
    AUTO = 0
    FILE = 1
    DATA = 2
    HINT = 3


def cardinality(dataset: Any) -> Tensor:
    """The number of elements of a dataset, -1 without end, -2 where it is not known."""
    found: Tensor = dataset.cardinality()
    return found


def assert_cardinality(expected_cardinality: Any) -> Transformation:
    """Say how many elements a dataset has, which is checked when they are read."""
    count = int(expected_cardinality)

    def checked(dataset: Any) -> Any:
        def elements() -> Any:
            seen = 0
            for seen, each in enumerate(dataset, 1):
                if seen > count >= 0:
                    break
                yield each
            if count >= 0 and seen != count:
                more = "at least " if seen > count else ""
                raise FailedPreconditionError(
                    None,
                    None,
                    f"Input dataset was expected to contain {count} elements but contained "
                    f"{more}{seen} elements.",
                )

        known = {INFINITE_CARDINALITY: float("inf"), UNKNOWN_CARDINALITY: None}
        return type(dataset)(elements, known.get(count, count))

    return checked


def bucket_by_sequence_length(
    element_length_func: Callable[..., Any],
    bucket_boundaries: Sequence[int],
    bucket_batch_sizes: Sequence[int],
    padded_shapes: Any = None,
    padding_values: Any = None,
    pad_to_bucket_boundary: bool = False,
    no_padding: bool = False,
    drop_remainder: bool = False,
) -> Transformation:
    """Batches of elements of similar length."""
    return lambda dataset: dataset.bucket_by_sequence_length(
        element_length_func,
        bucket_boundaries,
        bucket_batch_sizes,
        padded_shapes,
        padding_values,
        pad_to_bucket_boundary,
        no_padding,
        drop_remainder,
    )


def choose_from_datasets(
    datasets: Sequence[Any], choice_dataset: Any, stop_on_empty_dataset: bool = False
) -> Any:
    """The next element of the dataset that a number of ``choice_dataset`` chooses."""
    return type(datasets[0]).choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset)


def copy_to_device(target_device: str, source_device: str = "/cpu:0") -> Transformation:
    """The dataset itself: elements are in this process."""
    return lambda dataset: dataset


def prefetch_to_device(device: str, buffer_size: Any = None) -> Transformation:
    """The dataset itself: elements are in this process."""
    return lambda dataset: dataset


def enable_debug_mode() -> None:
    """Compute datasets in Python, which is always so here."""


def enumerate_dataset(start: int = 0) -> Transformation:
    """Pairs of a number and an element."""
    return lambda dataset: dataset.enumerate(start)


def get_single_element(dataset: Any) -> Any:
    """The only element."""
    return dataset.get_single_element()


def get_structure(dataset_or_iterator: Any) -> Any:
    """The shape and dtype of elements."""
    return dataset_or_iterator.element_spec


def group_by_window(
    key_func: Callable[..., Any],
    reduce_func: Callable[[Any, Any], Any],
    window_size: Any = None,
    window_size_func: Callable[[Any], Any] | None = None,
) -> Transformation:
    """The results of a function for windows of elements with the same key."""
    return lambda dataset: dataset.group_by_window(
        key_func, reduce_func, window_size, window_size_func
    )


def map_and_batch(
    map_func: Callable[..., Any],
    batch_size: Any,
    num_parallel_batches: Any = None,
    drop_remainder: bool = False,
    num_parallel_calls: Any = None,
) -> Transformation:
    """Batches of what a function gives for each element."""
    return lambda dataset: dataset.map(map_func).batch(batch_size, drop_remainder)


def parallel_interleave(
    map_func: Callable[..., Any],
    cycle_length: int,
    block_length: int = 1,
    sloppy: bool = False,
    buffer_output_elements: Any = None,
    prefetch_input_elements: Any = None,
) -> Transformation:
    """The elements of datasets that a function gives, by turns."""
    only("parallel_interleave", sloppy=(bool(sloppy), False))
    return lambda dataset: dataset.interleave(map_func, cycle_length, block_length)


def scan(initial_state: Any, scan_func: Callable[..., Any]) -> Transformation:
    """The outputs of a function from state and element to the next state and an output."""
    return lambda dataset: dataset.scan(initial_state, scan_func)


def shuffle_and_repeat(
    buffer_size: Any, count: int | None = None, seed: int | None = None
) -> Transformation:
    """The elements in random order, again and again."""
    return lambda dataset: dataset.shuffle(buffer_size, seed).repeat(count)


def take_while(predicate: Callable[..., Any]) -> Transformation:
    """The elements before the first for which a function gives false."""
    return lambda dataset: dataset.take_while(predicate)


def unbatch() -> Transformation:
    """The elements that were stacked."""
    return lambda dataset: dataset.unbatch()


def unique() -> Transformation:
    """Each element once."""
    return lambda dataset: dataset.unique()
