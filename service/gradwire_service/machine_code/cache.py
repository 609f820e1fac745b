"""Machine code of all tenants, for all workers, and how much each tenant may have compiled.

No tenant is given another's code, even if equal: its timing would reveal what others asked.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import monotonic
from typing import NamedTuple

from gradwire_engine.shared_budget import SharedBudget

from gradwire_service.lru import ByteBoundedLRU
from gradwire_service.machine_code.files import CodeFiles
from gradwire_service.settings import Settings
from gradwire_service.telemetry import Metrics

#: Bytes of an entry beside the code.
_ENTRY_BYTES = 400
#: The part of a minute's seconds that must be there again before more is compiled.
_LEAST_PART = 0.05


class Found(NamedTuple):
    """Code by its keys, as far as there is any, and for how long no more may be compiled."""

    objects: Mapping[bytes, bytes]
    wait_seconds: float


class CodeCache:
    """Object files by tenant and key. Thread-safe.

    They count towards ``budget``, which is shared with other caches. A tenant may have compiled
    ``seconds_per_minute`` of processor time, as many at once after a pause; 0 is unlimited.
    """

    def __init__(
        self,
        budget: SharedBudget,
        metrics: Metrics,
        files: CodeFiles | None = None,
        *,
        seconds_per_minute: float = 0,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._kept = ByteBoundedLRU[bytes](budget, per_owner=True)
        self._metrics = metrics
        self._files = files
        self._most_seconds = seconds_per_minute
        self._clock = clock
        self._lock = threading.Lock()
        #: The seconds that tenants have left, and when that was.
        self._left: dict[str, tuple[float, float]] = {}

    def get(self, tenant: str, keys: Sequence[bytes], *, postponable: bool = True) -> Found:
        """The code of a tenant, and if compiling is postponable, for how long it must wait."""
        found: dict[bytes, bytes] = {}
        for key in keys:
            code = self._kept.get(("code", tenant, key))
            if code is None and self._files is not None:
                code = self._files.get(tenant, key)
                if code is not None:
                    self._remember(tenant, key, code)
            if code is not None:
                found[key] = code
        missing = len({*keys}) - len(found)
        with self._lock:
            wait_seconds = self._wait_seconds(tenant) if missing and postponable else 0.0
            self._metrics.found_code(len(found), missing if wait_seconds else 0)
        return Found(found, wait_seconds)

    def put(self, tenant: str, objects: Mapping[bytes, bytes], seconds: float) -> None:
        """Keep what took so long to compile; nothing where compiling failed."""
        with self._lock:
            self._left[tenant] = self._seconds_left(tenant) - seconds, self._clock()
            self._metrics.compiled_code(len(objects), seconds)
        for key, code in objects.items():
            self._remember(tenant, key, code)
            if self._files is not None:
                self._files.put(tenant, key, code)

    def _remember(self, tenant: str, key: bytes, code: bytes) -> None:
        self._kept.put(("code", tenant, key), code, len(code) + _ENTRY_BYTES)

    def _seconds_left(self, tenant: str) -> float:
        left, since = self._left.get(tenant, (self._most_seconds, 0.0))
        return min(left + (self._clock() - since) * self._most_seconds / 60, self._most_seconds)

    def _wait_seconds(self, tenant: str) -> float:
        if not self._most_seconds or (left := self._seconds_left(tenant)) > 0:
            return 0.0
        return 60 * (_LEAST_PART - left / self._most_seconds)


def open_codes(settings: Settings, budget: SharedBudget, metrics: Metrics) -> CodeCache:
    """The cache that settings ask for."""
    files: CodeFiles | None = None
    if settings.code_cache:
        secret = settings.code_cache_key
        given = None if secret is None else secret.get_secret_value()
        files = CodeFiles(Path(settings.code_cache), settings.code_cache_bytes, given)
    per_minute = settings.compile_seconds_per_minute
    return CodeCache(budget, metrics, files, seconds_per_minute=per_minute)
