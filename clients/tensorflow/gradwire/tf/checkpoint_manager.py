"""``tf.train.CheckpointManager``."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gradwire.tf.checkpoint_files import State, get_checkpoint_state
from gradwire.tf.checkpoints import Checkpoint, CheckpointOptions
from gradwire.tf.gfile import local


class CheckpointManager:
    """Saves checkpoints by number, and removes all but the last ``max_to_keep``."""

    def __init__(
        self,
        checkpoint: Checkpoint,
        directory: Any,
        max_to_keep: int | None,
        keep_checkpoint_every_n_hours: float | None = None,
        checkpoint_name: str = "ckpt",
        step_counter: Any = None,
        checkpoint_interval: int | None = None,
        init_fn: Callable[[], None] | None = None,
        last_checkpoint_step: int | None = None,
    ) -> None:
        if max_to_keep is not None and max_to_keep <= 0:
            raise ValueError(
                f"`max_to_keep` must be at least 1, or None to keep all; got {max_to_keep}"
            )
        if checkpoint_interval is not None and step_counter is None:
            raise ValueError(
                "`checkpoint_interval` is a number of steps; pass `step_counter` to count them"
            )
        self._checkpoint: Checkpoint = checkpoint
        self._directory: str = local(directory)
        self._max_to_keep: int | None = max_to_keep
        self._hours: float | None = keep_checkpoint_every_n_hours
        self._prefix: str = f"{self._directory}/{checkpoint_name}"
        self._step_counter: Any = step_counter
        self._interval: int | None = checkpoint_interval
        self._init_fn: Callable[[], None] | None = init_fn
        self._last_step: int | None = last_checkpoint_step
        state = get_checkpoint_state(directory)
        self._preserved: float = time.time() if state is None else state.last_preserved_timestamp
        #: The checkpoints that may be removed, the oldest first, with the times of their saving.
        self._kept: dict[str, float] = {}
        self.latest_checkpoint: str | None = None
        if state is not None:
            self.latest_checkpoint = state.model_checkpoint_path
            times = state.all_model_checkpoint_timestamps
            self._kept = dict(zip(state.all_model_checkpoint_paths, times, strict=False))

    @property
    def directory(self) -> str:
        """The folder."""
        return self._directory

    @property
    def checkpoint(self) -> Checkpoint:
        """The checkpoint that is saved."""
        return self._checkpoint

    @property
    def checkpoint_interval(self) -> int | None:
        """The number of steps between two checkpoints."""
        return self._interval

    @property
    def checkpoints(self) -> list[str]:
        """The paths of those that are kept, the oldest first."""
        return list(self._kept)

    def save(
        self,
        checkpoint_number: Any = None,
        check_interval: bool = True,
        options: CheckpointOptions | None = None,
    ) -> str | None:
        """Write the variables; None if the interval is not over."""
        if self._interval is not None:
            step = int(self._step_counter)
            early = self._last_step is not None and step - self._last_step < self._interval
            if check_interval and early:
                return None
            self._last_step = step
        self._checkpoint._counted = True
        counter = self._checkpoint.save_counter
        counter.assign_add(1)
        number = int(counter) if checkpoint_number is None else int(checkpoint_number)
        path = self._checkpoint.write(f"{self._prefix}-{number}", options)
        self._kept.pop(path, None)
        self._kept[path] = time.time()
        self.latest_checkpoint = path
        self._sweep()
        times = list(self._kept.values())
        State(path, self.checkpoints, times, self._preserved).write(Path(self._directory))
        return path

    def restore_or_initialize(self) -> str | None:
        """Restore the latest checkpoint and return its path; without one, call ``init_fn``."""
        if self.latest_checkpoint is not None:
            self._checkpoint.restore(self.latest_checkpoint)
            if self._interval is not None:
                self._last_step = int(self._step_counter)
            return self.latest_checkpoint
        if self._init_fn is not None:
            self._init_fn()
        return None

    def sync(self) -> None:
        """Nothing: what was saved is written."""

    def _sweep(self) -> None:
        if self._max_to_keep is None:
            return
        while len(self._kept) > self._max_to_keep:
            path, at = next(iter(self._kept.items()))
            del self._kept[path]
            if self._hours is not None and at - self._hours * 3600 >= self._preserved:
                self._preserved = at
                continue
            Path(f"{path}.npz").unlink(missing_ok=True)
