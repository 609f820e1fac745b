"""Sessions of TensorFlow 1: they hold settings of a GPU's memory, and run nothing."""

from __future__ import annotations

from typing import Any, Self


class _Settings:
    """Settings by name, of which those that are not set are false."""

    _names: frozenset[str] = frozenset()

    def __init__(self, **kwargs: Any) -> None:
        for name, value in kwargs.items():
            if name not in self._names:
                raise ValueError(f"{type(self).__name__} has no setting {name!r}")
            setattr(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._names:
            raise AttributeError(f"{type(self).__name__} has no setting {name!r}")
        super().__setattr__(name, value)

    def __getattr__(self, name: str) -> Any:
        if name not in self._names:
            raise AttributeError(f"{type(self).__name__} has no setting {name!r}")
        return False


class GPUOptions(_Settings):
    """How a GPU's memory is used: there is no GPU."""

    _names = frozenset({
        "allocator_type", "allow_growth", "deferred_deletion_bytes", "force_gpu_compatible",
        "per_process_gpu_memory_fraction", "visible_device_list",
    })  # fmt: skip


class ConfigProto(_Settings):
    """Settings of a session: where and by how many threads it would compute."""

    _names = frozenset({
        "allow_soft_placement", "gpu_options", "inter_op_parallelism_threads",
        "intra_op_parallelism_threads", "isolate_session_state", "log_device_placement",
        "operation_timeout_in_ms", "use_per_session_threads",
    })  # fmt: skip

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"gpu_options": GPUOptions(), **kwargs})


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
        raise RuntimeError(
            "The Session graph is empty. Add operations to the graph before calling run()."
        )

    def close(self) -> None:
        """End it."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class InteractiveSession(Session):
    """A session that would be the default one."""
