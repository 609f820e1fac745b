"""Checks that settings fit together, and in the memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gradwire_service.settings.memory import IDLE_BYTES, TEXT_PER_BYTE, stored_bytes
from gradwire_service.settings.units import MEBIBYTE

if TYPE_CHECKING:
    from gradwire_service.settings import Settings


def contradictions(settings: Settings) -> Iterator[str]:
    """A message for each setting that allows more than another lets through."""
    given = vars(settings)
    text_bytes = int(TEXT_PER_BYTE * settings.max_answer_bytes)
    for name, needed, most in (
        ("max_body_bytes", settings.max_body_bytes, "queue_bytes"),
        ("queue_bytes", settings.queue_bytes, "max_arriving_bytes"),
        ("max_answer_bytes", text_bytes, "max_leaving_bytes"),
    ):
        if needed > given[most]:
            yield (
                f"GRADWIRE_{name.upper()} does not fit in GRADWIRE_{most.upper()}: it needs "
                f"{needed} bytes, and there are {given[most]}"
            )


def needed_bytes(settings: Settings) -> int:
    """The memory that the service needs at most, with all its processes."""
    s = settings
    caches = s.cache_bytes + s.local_cache_bytes + s.buffer_bytes
    passing = s.queue_bytes + s.max_arriving_bytes + s.max_leaving_bytes
    processes = (s.processes + s.job_processes + 1) * s.process_bytes if s.processes else 0
    return IDLE_BYTES + caches + passing + processes + stored_bytes(vars(s))


def excess(settings: Settings) -> str | None:
    """A warning if settings need more than the memory."""
    needed = needed_bytes(settings)
    if needed <= settings.memory_bytes:
        return None
    return (
        f"the settings allow {needed // MEBIBYTE} MiB, and GRADWIRE_MEMORY_BYTES is "
        f"{settings.memory_bytes // MEBIBYTE} MiB: the system may end processes"
    )
