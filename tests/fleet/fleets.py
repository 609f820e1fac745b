"""Real server processes, alone or as a fleet behind nginx with the shipped configuration."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, ClassVar

import httpx
from prometheus_client.parser import text_string_to_metric_families

from tests.fleet.cgroups import Cgroup, cgroup
from tests.fleet.chaos import Chaos
from tests.fleet.forks import forked
from tests.fleet.nginx import NGINX, configure
from tests.fleet.processes import Process, Program, child_of, free_port

__all__ = ["NGINX", "Fleet", "Nginx", "Replica", "client_of", "fleet", "replica"]

#: The default settings of every server: it waits as long as a busy machine takes.
SETTINGS = {
    "GRADWIRE_LOG_LEVEL": "warning",
    "GRADWIRE_DRAIN_SECONDS": "0",
    "GRADWIRE_WATCHDOG_SECONDS": "600",
    "GRADWIRE_DEFAULT_TIMEOUT_MS": "600000",
    "GRADWIRE_MAX_TIMEOUT_MS": "3600000",
    "GRADWIRE_QUEUE_SECONDS": "600",
    "GRADWIRE_HEADER_TIMEOUT_SECONDS": "600",
    "GRADWIRE_BODY_TIMEOUT_SECONDS": "600",
    "GRADWIRE_SEND_TIMEOUT_SECONDS": "600",
    "GRADWIRE_STORE_CONNECT_SECONDS": "10",
    "GRADWIRE_STORE_TIMEOUT_SECONDS": "10",
}
#: The shipped times, for tests of what happens after them.
SHIPPED: dict[str, Any] = {
    "default_timeout_ms": 10_000,
    "max_timeout_ms": 60_000,
    "queue_seconds": 5,
    "header_timeout_seconds": 10,
    "body_timeout_seconds": 10,
    "send_timeout_seconds": 30,
}
#: The times after which nginx gives a replica up, and theirs here.
_PATIENCE = {
    "proxy_connect_timeout": "600s",
    "proxy_send_timeout": "600s",
    "proxy_read_timeout": "3600s",
    "proxy_next_upstream_timeout": "3600s",
}


class Replica(Program):
    """A server process: forked from one that has imported the service, or ``apart`` from all."""

    command: ClassVar[Sequence[str]] = ("gradwire_service", "serve")

    def __init__(
        self,
        name: str,
        folder: Path,
        settings: Mapping[str, str] | None = None,
        cgroup: Cgroup | None = None,
        *,
        apart: bool = False,
    ) -> None:
        port = free_port()
        self._is_apart = apart or cgroup is not None or sys.platform != "linux"
        command = [sys.executable, "-m", *self.command, "--port", str(port)]
        super().__init__(name, command, port, folder, {**SETTINGS, **(settings or {})}, cgroup)
        self._is_watched = self._environment.get("GRADWIRE_PROCESSES") != "0"

    @property
    def pid(self) -> int:
        """The process id of the serving process.

        The process that was started is its watchdog, if there are worker processes.
        """
        return child_of(self.process.pid) if self._is_watched else self.process.pid

    def _begun(self, environment: Mapping[str, str]) -> Process:
        if self._is_apart:
            return super()._begun(environment)
        _, *arguments = self.command
        return forked([*arguments, "--port", str(self.port)], environment, self._log)

    @property
    def workers(self) -> list[int]:
        """The processes that compute, and those that start them."""
        return [pid for pid in self.family() if pid not in (self.process.pid, self.pid)]

    def change(self, **settings: object) -> None:
        """Change settings from the next start on."""
        self._environment = {**self._environment, **_variables(settings)}

    async def answers(self) -> bool:
        return await super().answers() and (await self.get("/readyz")).status_code == 200

    async def get(self, path: str) -> httpx.Response:
        """Send a request directly to the server, without a proxy."""
        async with self.client() as client:
            return await client.get(path)

    async def metric(self, name: str, **labels: str) -> float:
        """The sum of the samples with this name and at least these labels."""
        found = text_string_to_metric_families((await self.get("/metrics")).text)
        return sum(
            sample.value
            for family in found
            for sample in family.samples
            if sample.name == name and labels.items() <= sample.labels.items()
        )

    async def served(self) -> float:
        """The number of gradients that the server has answered."""
        return await self.metric("gradwire_requests_total", route="/v1/gradient", status="200")

    def client(self, **options: Any) -> httpx.AsyncClient:
        """A client of this server alone."""
        return client_of(self.port, **options)


class GpuReplica(Replica):
    """One that computes everything on a simulated GPU."""

    command = ("tests.fleet.gpu_replica",)

    def __init__(self, name: str, folder: Path, settings: Mapping[str, str]) -> None:
        super().__init__(name, folder, settings, apart=True)

    @property
    def pid(self) -> int:
        return self.process.pid


class Nginx(Program):
    """nginx with the shipped configuration, in front of these ports, and those of GPU replicas.

    It waits for replicas as long as a busy machine takes, or for silent ones ``read_seconds``, and
    for answers to short requests ``attempt_seconds``.
    """

    def __init__(
        self,
        folder: Path,
        ports: Sequence[int],
        read_seconds: int | None = None,
        gpu_ports: Sequence[int] = (),
        attempt_seconds: int | None = None,
    ) -> None:
        prefix = folder / "nginx"
        prefix.mkdir()
        port = free_port()
        command = configure(prefix, ports, port, gpu_ports)
        main = prefix / "gradwire.conf"
        text, patience = main.read_text(), dict(_PATIENCE)
        if read_seconds is not None:
            patience["proxy_read_timeout"] = f"{read_seconds}s"
        for name, seconds in patience.items():
            text, times = re.subn(rf"^( *{name}) \w+;", rf"\1 {seconds};", text, flags=re.MULTILINE)
            assert times, name
        if attempt_seconds is not None:  # those of one location, indented further
            text, times = re.subn(
                r"^( {12}proxy_read_timeout) \w+;",
                rf"\1 {attempt_seconds}s;",
                text,
                flags=re.MULTILINE,
            )
            assert times == 1
        main.write_text(text)
        super().__init__("nginx", command, port, folder)


class Fleet:
    """Replicas behind nginx, optionally with chaos proxies in between, and one with a GPU."""

    def __init__(
        self, replicas: list[Replica], nginx: Nginx, chaos: list[Chaos], gpus: list[GpuReplica]
    ) -> None:
        self.replicas = replicas
        self.nginx = nginx
        self.chaos = chaos
        self.gpus = gpus

    @property
    def port(self) -> int:
        return self.nginx.port

    def client(self, **options: Any) -> httpx.AsyncClient:
        """A client of the fleet through nginx."""
        return client_of(self.port, **options)


@asynccontextmanager
async def replica(
    folder: Path, memory_bytes: int | None = None, /, **settings: object
) -> AsyncIterator[Replica]:
    """One server, with a memory limit for all its processes; settings by their names.

    With ``apart=True`` it is not forked.
    """
    apart = bool(settings.pop("apart", False))
    async with AsyncExitStack() as stack:
        alone = _replica(stack, "replica", folder, memory_bytes, settings, apart=apart)
        yield await stack.enter_async_context(_running(alone))


@asynccontextmanager
async def fleet(
    folder: Path,
    size: int = 3,
    *,
    chaos: bool = False,
    gpus: int = 0,
    read_seconds: int | None = None,
    attempt_seconds: int | None = None,
    memory_bytes: int | None = None,
    **settings: object,
) -> AsyncIterator[Fleet]:
    """``size`` servers behind nginx, each with this memory limit; settings by their names.

    Beside them are ``gpus`` with a simulated GPU.
    """
    async with AsyncExitStack() as stack:
        made = [
            _replica(stack, f"replica-{n}", folder, memory_bytes, settings) for n in range(size)
        ]
        with_gpu = [
            GpuReplica(f"gpu-replica-{n}", folder, _variables(settings)) for n in range(gpus)
        ]
        await stack.enter_async_context(_running(*made, *with_gpu))
        ports = [one.port for one in made]
        between = [await stack.enter_async_context(Chaos(port)) for port in ports] if chaos else []
        ports = [one.port for one in between] or ports
        gpu_ports = [one.port for one in with_gpu]
        nginx = Nginx(folder, ports, read_seconds, gpu_ports, attempt_seconds)
        await stack.enter_async_context(_running(nginx))
        yield Fleet(made, nginx, between, with_gpu)


def _replica(
    stack: AsyncExitStack,
    name: str,
    folder: Path,
    memory_bytes: int | None,
    settings: Mapping[str, object],
    *,
    apart: bool = False,
) -> Replica:
    group = None if memory_bytes is None else stack.enter_context(cgroup(name, memory_bytes))
    return Replica(name, folder, _variables(settings), group, apart=apart)


@asynccontextmanager
async def _running(*programs: Program) -> AsyncIterator[Any]:
    """Run all programs within the context; always end them by their own handles and show logs."""
    try:
        for program in programs:
            program.start()
        await asyncio.gather(*(program.listening() for program in programs))
        yield programs[0]
    finally:
        for program in programs:
            program.stop()
        for program in programs:
            if log := program.log():
                sys.stderr.write(f"-- {program.name} --\n{log}")


def _variables(settings: Mapping[str, object]) -> dict[str, str]:
    return {f"GRADWIRE_{name.upper()}": str(value) for name, value in settings.items()}


def client_of(port: int, **options: Any) -> httpx.AsyncClient:
    """A client without retries, time limits and proxies from the environment."""
    options = {"timeout": None, "trust_env": False, **options}
    return httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", **options)
