"""Checks that no attack takes the service or its memory from other clients."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from itertools import cycle
from pathlib import Path
from typing import NamedTuple, TypeAlias

from gradwire_service.problems import KINDS, MAX_BODY_BYTES, MEDIA_TYPE

from tests.fleet import asks
from tests.fleet.attacks.attack import ANSWERED, MEBIBYTE, Attack
from tests.fleet.connections import Answer, answer
from tests.fleet.fleets import Replica
from tests.fleet.load import Connection, percentile
from tests.fleet.sampler import FAILED, sampling

Tell: TypeAlias = Callable[[str, object], None]

#: The memory that may remain in use after all attacks.
KEPT_BYTES = 100 * MEBIBYTE
#: The mapped memory that is not a process's own: a body, and libraries.
SHARED_BYTES = 64 * MEBIBYTE
#: The size of the arrays of which another tenant needs about five at once, after each family.
LARGE_NUMBERS = 4_000_000
_LOOK_SECONDS = 0.05


class Target(NamedTuple):
    """Replicas, and the port through which they are reached."""

    replicas: Sequence[Replica]
    port: int

    @property
    def is_alone(self) -> bool:
        """True if there is no proxy in front of the replica."""
        return self.port == self.replicas[0].port


class Judge:
    """Attacks a target, and records every failure.

    If it is not ``strict``, the machine may be busy with other work, and attacks of all families
    follow each other, each of which leaves a little memory in use.
    """

    def __init__(self, target: Target, *, strict: bool) -> None:
        self.target = target
        self._strict = strict
        self.failures: list[str] = []
        self.outcomes = Counter[str]()
        self._others = Connection(target.port)
        self._ordinary = cycle(
            [
                asks.smooth(10, 1, tenant="other"),
                asks.smooth(5_000, 2, tenant="other"),
                asks.slow(5),
            ]
        )
        self._pids = [one.pid for one in target.replicas]
        self._held = [0] * len(self._pids)
        #: The longest times of other tenants and of attacks, and the peak memory of a process.
        self.others_seconds = self.late_seconds = 0.0
        self.most_bytes = 0

    async def warm(self) -> None:
        """Make all processes answer requests, then record their memory."""
        for _ in range(60 * len(self._pids)):
            await self._others.ask(next(self._ordinary))
        await asyncio.sleep(1)
        self._held = [_held_bytes(one) for one in self.target.replicas]

    def close(self) -> None:
        """Close the connection."""
        self._others.close()

    @asynccontextmanager
    async def watching(self, tell: Tell) -> AsyncIterator[None]:
        """Check that attacks within the context kill no process and leave no memory in use."""
        self.failures.clear()
        self.outcomes.clear()
        self.others_seconds = self.late_seconds = 0.0
        self.most_bytes = 0
        replicas = self.target.replicas
        killed = [one.cgroup.killed if one.cgroup else 0 for one in replicas]
        heard = await self._heard()
        watch = asyncio.create_task(self._watch_processes())
        async with sampling("/healthz", [one.port for one in replicas]) as samples:
            yield
        watch.cancel()
        for share in (0.99, 1.0):
            health, idle = (percentile(share, seconds) for seconds in samples)
            text = f"{share:.0%} in {1e3 * health:.1f} ms, of an idle process {1e3 * idle:.1f} ms"
            tell("health", f"{text} ({len(samples.served)})")
        self._hold(FAILED not in samples.served, "a health check was not answered")
        self._hold(await self._heard() == heard, "a request within another was heard")
        for one, pid, before, most in zip(replicas, self._pids, self._held, killed, strict=True):
            self._hold(_pid(one) == pid, f"{one.name} died")
            kept = KEPT_BYTES if self._strict else 2 * KEPT_BYTES
            after = await self._settled(one, before + kept)
            tell("memory", f"{one.name}: {before >> 20}, then {after >> 20} MiB: {_told(one)}")
            if one.cgroup is not None:
                # If memory runs out, the kernel kills a worker process, which fails one request.
                tell("killed by the kernel", f"{one.cgroup.killed - most} of {one.name}")
        await self._ask_for_much()
        tell("outcomes", dict(self.outcomes))
        tell("others", f"at most {1e3 * self.others_seconds:.0f} ms")
        tell("attacks", f"at most {self.late_seconds:+.2f} s after their time")
        tell("a process", f"at most {self.most_bytes >> 20} MiB")
        assert not self.failures, "\n".join(self.failures)

    async def attack(self, attack: Attack) -> None:
        """Attack once, with requests of another tenant during and after the attack."""
        attacking = asyncio.create_task(self.strike(attack))
        await asyncio.sleep(_LOOK_SECONDS)
        await self._ask_as_another(f"during {attack.name}")
        await attacking
        await self._ask_as_another(f"after {attack.name}")

    async def strike(self, attack: Attack) -> None:
        """Attack once, and check each response."""
        requests = attack.requests()
        pieces = next(requests)
        while True:
            found = await answer(self.target.port, pieces, attack.pause, attack.leaves_after)
            outcome, wrong = _judged(found, attack, is_alone=self.target.is_alone)
            self.outcomes[outcome] += 1
            self._hold(not wrong, f"{attack.name}: {wrong}")
            self.late_seconds = max(self.late_seconds, found.seconds - attack.seconds)
            try:
                pieces = requests.send(found)
            except StopIteration:
                return

    async def _ask_as_another(self, when: str) -> None:
        found = await self._others.ask(next(self._ordinary))
        self.others_seconds = max(self.others_seconds, found.seconds)
        self._hold(found.right, f"another's {found.ask} was {found.outcome} {when}")

    async def _ask_for_much(self) -> None:
        """Check that after attacks another tenant can still make a large request."""
        self._others.close()  # the service may have closed it as idle
        found = await self._others.ask(asks.large(LARGE_NUMBERS))
        self._hold(found.right, f"another's large request was {found.outcome}: {found.body!r}")

    def _hold(self, held: bool, otherwise: str) -> None:
        if not held:
            self.failures.append(otherwise)

    async def _heard(self) -> float:
        """The number of hidden requests that the service processed."""
        asked = [
            await one.metric("gradwire_requests_total", route="/v1/limits")
            for one in self.target.replicas
        ]
        return sum(asked)

    async def _settled(self, one: Replica, most_bytes: int) -> int:
        """Its memory, as soon as it is small enough."""
        while (held := _held_bytes(one)) > most_bytes:  # noqa: ASYNC110
            await asyncio.sleep(_LOOK_SECONDS)
        return held

    async def _watch_processes(self) -> None:
        """Check continuously that no process exceeds its limit."""
        told = set[int]()
        while True:
            for one in self.target.replicas:
                for pid in one.family():
                    with suppress(OSError):
                        taken, limit = _memory(pid)
                        self.most_bytes = max(self.most_bytes, taken)
                        if limit is not None and taken > limit + SHARED_BYTES and pid not in told:
                            told.add(pid)
                            self._hold(False, f"a process took {taken >> 20} of {limit >> 20} MiB")
            await asyncio.sleep(_LOOK_SECONDS)


def _judged(found: Answer, attack: Attack, *, is_alone: bool) -> tuple[str, str]:
    """The outcome of a request, and the reason if that is a failure."""
    if not found.number and attack.leaves_after is not None:
        return "left", ""
    if found.number != 1:
        return "unanswered", f"{found.number} answers"
    headers = found.headers
    length = headers.get("content-length")
    if attack.leaves_after is None and length is not None and int(length) != found.body_bytes:
        return "cut", f"{found.body_bytes} of {length} bytes"
    codes = attack.codes if is_alone else attack.behind_nginx
    if found.status < 300:
        return ANSWERED, "was answered" if codes and ANSWERED not in codes else ""
    if headers.get("content-type") != MEDIA_TYPE or found.body_bytes >= MAX_BODY_BYTES:
        return "untyped", f"{found.status} {bytes(found.received[:300])!r}"
    code = found.document["code"]
    if found.status != KINDS[code].status or headers.get("connection") != "close":
        return code, f"{found.status} {headers}"
    if code == "internal_error" or (codes is not None and code not in codes):
        return code, str(found.document)
    return code, ""


def _pid(one: Replica) -> int | None:
    """The id of the serving process, if it exists."""
    try:
        return one.pid
    except (OSError, ValueError):
        return None


def _held_bytes(one: Replica) -> int:
    assert one.cgroup is not None
    return one.cgroup.held_bytes


def _told(one: Replica) -> str:
    """The private memory of each process, and the anonymous files, as text."""
    told: list[str] = []
    for pid in one.family():
        with suppress(OSError):
            rollup = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
            own = sum(int(line.split()[1]) for line in rollup if line.startswith("Private_"))
            told.append(f"{own >> 10}")
    assert one.cgroup is not None
    return f"{' '.join(told)}, shared {one.cgroup.shared_bytes >> 20}"


def _memory(pid: int) -> tuple[int, int | None]:
    """The peak resident memory of a process, and its limit, if any."""
    of = Path(f"/proc/{pid}")
    limit = next(
        line.split()[3]
        for line in (of / "limits").read_text().splitlines()
        if line.startswith("Max data size")
    )
    lines = dict(line.split(":", 1) for line in (of / "status").read_text().splitlines())
    if "VmHWM" not in lines:  # the process has ended
        return 0, None
    most, files = (int(lines[name].split()[0]) << 10 for name in ("VmHWM", "RssFile"))
    return most, None if limit == "unlimited" else int(limit) + files
