"""``tf.config.threading``: how many threads compute, which is a setting of the service."""

from __future__ import annotations

from gradwire.tf.config.devices import settings


def get_inter_op_parallelism_threads() -> int:
    """The setting, by default 0: the service chooses."""
    return int(settings.get("inter_op_threads", 0))


def get_intra_op_parallelism_threads() -> int:
    """The setting, by default 0: the service chooses."""
    return int(settings.get("intra_op_threads", 0))


def set_inter_op_parallelism_threads(num_threads: int) -> None:
    """Store the setting without effect."""
    settings["inter_op_threads"] = num_threads


def set_intra_op_parallelism_threads(num_threads: int) -> None:
    """Store the setting without effect."""
    settings["intra_op_threads"] = num_threads
