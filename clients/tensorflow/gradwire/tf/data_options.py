"""``tf.data.Options``: how datasets are computed, which changes none of their elements."""

from __future__ import annotations

from typing import ClassVar

from gradwire.tf.arguments import Declared, Settings


class AutotuneOptions(Settings):
    """Options for computing in parallel: datasets are computed as they are read."""

    _settings = dict.fromkeys((
        "autotune_algorithm", "cpu_budget", "enabled", "initial_parallelism", "min_parallelism",
        "ram_budget",
    ))  # fmt: skip


class DistributeOptions(Settings):
    """The division of elements among workers: there is one."""

    _settings = dict.fromkeys(("auto_shard_policy", "num_devices"))


class OptimizationOptions(Settings):
    """Options for fusing steps: none are fused."""

    _settings = dict.fromkeys((
        "apply_default_optimizations", "filter_fusion", "filter_parallelization",
        "inject_prefetch", "map_and_batch_fusion", "map_and_filter_fusion", "map_fusion",
        "map_parallelization", "noop_elimination", "parallel_batch", "seq_interleave_prefetch",
        "shuffle_and_repeat_fusion",
    ))  # fmt: skip


class ThreadingOptions(Settings):
    """The number of threads: one."""

    _settings = dict.fromkeys(("max_intra_op_parallelism", "private_threadpool_size"))


class Options(Settings):
    """Options for computing datasets, which change none of their elements."""

    _settings: ClassVar[Declared] = {
        "autotune": AutotuneOptions,
        "dataset_name": None,
        "deterministic": None,
        "experimental_deterministic": None,
        "experimental_distribute": DistributeOptions,
        "experimental_external_state_policy": None,
        "experimental_optimization": OptimizationOptions,
        "experimental_slack": None,
        "experimental_symbolic_checkpoint": None,
        "experimental_threading": ThreadingOptions,
        "experimental_warm_start": None,
        "framework_type": None,
        "threading": ThreadingOptions,
    }
