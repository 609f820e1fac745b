"""Holds a service under attack to what no client may take from the others."""

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
from tests.fleet.sampler import sampling

Tell: TypeAlias = Callable[[str, object], None]

#: Beyond its own time: what an attack may take.
LATE_SECONDS = 1.5
#: What somebody else's request may take meanwhile.
OTHERS_SECONDS = 1.0
HEALTH_P99_SECONDS, HEALTH_SECONDS = 0.05, 0.25
#: What may stay of all attacks.
KEPT_BYTES = 100 * MEBIBYTE
#: What a process maps without its being its own: a body, and libraries.
SHARED_BYTES = 64 * MEBIBYTE
#: Of which another tenant has some five arrays at once, after each family.
LARGE_NUMBERS = 4_000_000
#: How soon what was taken is given back.
_SETTLED_SECONDS = 10.0
_LOOK_SECONDS = 0.05


class Target(NamedTuple):
    """Replicas, and the port by which they are asked."""

    replicas: Sequence[Replica]
    port: int

    @property
    def is_alone(self) -> bool:
        """Whether there is nothing in front of it."""
        return self.port == self.replicas[0].port


class Judge:
    """Attacks a target, and keeps account of all that is not as it is to be.

    Where it is not ``strict``, the machine may have others who delay whoever wants to run, and
    attacks of all families, which each leave a little, come one after the other.
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
        #: The longest that others and attacks took, and the most that a process had.
        self.others_seconds = self.late_seconds = 0.0
        self.most_bytes = 0

    async def warm(self) -> None:
        """Have all processes answer something, and see what they hold then."""
        for _ in range(60 * len(self._pids)):
            await self._others.ask(next(self._ordinary))
        await asyncio.sleep(1)
        self._held = [_held_bytes(one) for one in self.target.replicas]

    def close(self) -> None:
        """Ask nothing more."""
        self._others.close()

    @asynccontextmanager
    async def watching(self, tell: Tell) -> AsyncIterator[None]:
        """Whatever is attacked meanwhile: nobody dies, and nothing stays."""
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
        for share, bound in ((0.99, HEALTH_P99_SECONDS), (1.0, HEALTH_SECONDS)):
            health, idle = (percentile(share, seconds) for seconds in samples)
            text = f"{share:.0%} in {1e3 * health:.1f} ms, of an idle process {1e3 * idle:.1f} ms"
            tell("health", f"{text} ({len(samples.served)})")
            self._hold(health < bound + (0 if self._strict else idle), f"health: {text}")
        self._hold(await self._heard() == heard, "a request within another was heard")
        for one, pid, before, most in zip(replicas, self._pids, self._held, killed, strict=True):
            self._hold(_pid(one) == pid, f"{one.name} died")
            kept = KEPT_BYTES if self._strict else 2 * KEPT_BYTES
            after = await self._settled(one, before + kept)
            text = f"{one.name} held {before >> 20}, and now {after >> 20} MiB: {_told(one)}"
            self._hold(after <= before + kept, text)
            tell("memory", text)
            if one.cgroup is not None:
                # Where all memory is used up: what computes, so one request.
                tell("killed by the kernel", f"{one.cgroup.killed - most} of {one.name}")
        await self._ask_for_much()
        tell("outcomes", dict(self.outcomes))
        tell("others", f"at most {1e3 * self.others_seconds:.0f} ms")
        tell("attacks", f"at most {self.late_seconds:+.2f} s after their time")
        tell("a process", f"at most {self.most_bytes >> 20} MiB")
        assert not self.failures, "\n".join(self.failures)

    async def attack(self, attack: Attack) -> None:
        """Attack once; another tenant asks meanwhile, and afterwards."""
        attacking = asyncio.create_task(self.strike(attack))
        await asyncio.sleep(_LOOK_SECONDS)
        await self._ask_as_another(f"during {attack.name}")
        await attacking
        await self._ask_as_another(f"after {attack.name}")

    async def strike(self, attack: Attack, waits_seconds: float = 0.0) -> None:
        """Attack once, and judge each answer; beside others it may have to wait for its turn.

        A long body says how long it may take only when it is read, and that is when it has begun.
        """
        requests = attack.requests()
        pieces = next(requests)
        while True:
            given = attack.seconds + waits_seconds + LATE_SECONDS
            patience = given + 10 if attack.leaves_after is None else attack.leaves_after
            found = await answer(self.target.port, pieces, attack.pause, patience)
            outcome, wrong = _judged(found, attack, is_alone=self.target.is_alone)
            self.outcomes[outcome] += 1
            self._hold(not wrong, f"{attack.name}: {wrong}")
            self.late_seconds = max(self.late_seconds, found.seconds - attack.seconds)
            self._hold(found.seconds < given, f"{attack.name}: took {found.seconds:.2f} s")
            try:
                pieces = requests.send(found)
            except StopIteration:
                return

    async def _ask_as_another(self, when: str) -> None:
        found = await self._others.ask(next(self._ordinary))
        self.others_seconds = max(self.others_seconds, found.seconds)
        self._hold(found.right, f"another's {found.ask} was {found.outcome} {when}")
        text = f"another's {found.ask} took {found.seconds:.2f} s {when}"
        self._hold(found.seconds < OTHERS_SECONDS, text)

    async def _ask_for_much(self) -> None:
        """See that what attacks leave is not missing where others need much, for a moment."""
        self._others.close()  # perhaps it was idle for longer than the service keeps it
        found = await self._others.ask(asks.large(LARGE_NUMBERS))
        self._hold(found.right, f"another's large request was {found.outcome}: {found.body!r}")

    def _hold(self, held: bool, otherwise: str) -> None:
        if not held:
            self.failures.append(otherwise)

    async def _heard(self) -> float:
        """How often was asked for what only hidden requests ask for."""
        asked = [
            await one.metric("gradwire_requests_total", route="/v1/limits")
            for one in self.target.replicas
        ]
        return sum(asked)

    async def _settled(self, one: Replica, most_bytes: int) -> int:
        """What it holds, as soon as that is little enough."""
        loop = asyncio.get_running_loop()
        end = loop.time() + _SETTLED_SECONDS
        while (held := _held_bytes(one)) > most_bytes and loop.time() < end:  # noqa: ASYNC110
            await asyncio.sleep(_LOOK_SECONDS)
        return held

    async def _watch_processes(self) -> None:
        """See that no process has more than its limit, as long as it lives."""
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
    """What became of a request, and what is wrong with that."""
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
    """Of the process that serves, if that is there."""
    try:
        return one.pid
    except (OSError, ValueError):
        return None


def _held_bytes(one: Replica) -> int:
    assert one.cgroup is not None
    return one.cgroup.held_bytes


def _told(one: Replica) -> str:
    """What of it each process has for itself, and what is in files of memory only."""
    told: list[str] = []
    for pid in one.family():
        with suppress(OSError):
            rollup = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
            own = sum(int(line.split()[1]) for line in rollup if line.startswith("Private_"))
            told.append(f"{own >> 10}")
    assert one.cgroup is not None
    return f"{' '.join(told)}, shared {one.cgroup.shared_bytes >> 20}"


def _memory(pid: int) -> tuple[int, int | None]:
    """The most that a process had resident, and what it may have: none where that is any."""
    of = Path(f"/proc/{pid}")
    limit = next(
        line.split()[3]
        for line in (of / "limits").read_text().splitlines()
        if line.startswith("Max data size")
    )
    lines = dict(line.split(":", 1) for line in (of / "status").read_text().splitlines())
    if "VmHWM" not in lines:  # it has ended
        return 0, None
    most, files = (int(lines[name].split()[0]) << 10 for name in ("VmHWM", "RssFile"))
    return most, None if limit == "unlimited" else int(limit) + files
