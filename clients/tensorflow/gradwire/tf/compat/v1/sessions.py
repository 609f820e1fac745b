"""Sessions of TensorFlow 1: they hold settings of a GPU's memory, and run nothing."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from gradwire.tf.arguments import Declared, Settings


class GPUOptions(Settings):
    """Options for a GPU's memory: there is no GPU."""

    _settings = dict.fromkeys((
        "allocator_type", "allow_growth", "deferred_deletion_bytes", "force_gpu_compatible",
        "per_process_gpu_memory_fraction", "visible_device_list",
    ))  # fmt: skip


class ConfigProto(Settings):
    """Settings of a session: where and by how many threads it would compute."""

    _settings: ClassVar[Declared] = {
        "allow_soft_placement": None,
        "gpu_options": GPUOptions,
        "inter_op_parallelism_threads": None,
        "intra_op_parallelism_threads": None,
        "isolate_session_state": None,
        "log_device_placement": None,
        "operation_timeout_in_ms": None,
        "use_per_session_threads": None,
    }


class Session:
    """A session, which may be made for its settings' sake."""

    def __init__(self, target: str = "", graph: Any = None, config: Any = None) -> None:
        if target or graph is not None:
            raise NotImplementedError("Session does not implement target= and graph=")
        self._config: Any = config

    def run(
        self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None
    ) -> Any:
        """Refused, as by TensorFlow where no graph was built.

        Raises:
            RuntimeError: always.
        """
        raise RuntimeError("there is no graph to run; operations run when they are called")

    def close(self) -> None:
        """End it."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class InteractiveSession(Session):
    """A session that would be the default one."""
