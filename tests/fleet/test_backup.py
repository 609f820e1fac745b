"""Backups that are made under load, as the page says, have all that was acknowledged before."""

import asyncio
import itertools
import re
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.fleet.fleets import replica
from tests.fleet.processes import until
from tests.fleet.test_durability import WRITERS, WRITTEN, text_of, write
from tests.service.store.redis_server import REDIS, redis_server

PAGE = (Path(__file__).parents[2] / "docs/how-to/backup.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^```sh\n(.*)\n```$", PAGE, re.MULTILINE)
#: Redis waits for five seconds before it begins a snapshot, while clients register programs.
SETTINGS = {"processes": 0, "max_programs": 10**6, "max_programs_per_tenant": 10**6}
SQLITE, SQLITE_BY_PYTHON, REDIS_SNAPSHOT = COMMANDS


@pytest.mark.parametrize("command", [SQLITE, SQLITE_BY_PYTHON])
async def test_a_backup_of_the_file_is_restored(command, tmp_path):
    if command == SQLITE and shutil.which("sqlite3") is None:
        pytest.skip("sqlite3 is not installed")
    file, backup = tmp_path / "kept.db", tmp_path / "backup.db"
    async with replica(tmp_path, store=f"sqlite:{file}", **SETTINGS) as server:
        acknowledged = await backed_up(server, command, FILE=file, BACKUP=backup)
    with closing(sqlite3.connect(backup)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    await check_restored(tmp_path, f"sqlite:{backup}", acknowledged)


@pytest.mark.skipif(REDIS is None, reason="redis-server is not installed")
async def test_a_snapshot_of_redis_is_restored_into_one_with_a_log(tmp_path):
    old, new = tmp_path / "old", tmp_path / "new"
    old.mkdir()
    new.mkdir()
    with redis_server(old, "--appendonly", "yes") as redis:
        port = redis.port
        async with replica(tmp_path, store=redis.url, **SETTINGS) as server:
            command = REDIS_SNAPSHOT.replace("redis-cli", f"redis-cli -p {port}")
            acknowledged = await backed_up(server, command, BACKUP=new / "dump.rdb")
    with redis_server(new, "--appendonly", "no") as redis, redis.client() as client:
        client.config_set("appendonly", "yes")

        async def is_written() -> bool:
            state = client.info("persistence")
            return bool(state["aof_enabled"]) and not (
                state["aof_rewrite_in_progress"] or state["aof_rewrite_scheduled"]
            )

        await until(is_written, least=True)
    (new / "dump.rdb").unlink()
    with redis_server(new, "--appendonly", "yes") as redis:
        await check_restored(tmp_path, redis.url, acknowledged)


@pytest.mark.skipif(REDIS is None, reason="redis-server is not installed")
def test_redis_with_a_log_ignores_a_snapshot_as_the_page_warns(tmp_path):
    with redis_server(tmp_path) as redis, redis.client() as client:
        client.set("key", "value")
        client.save()
    with redis_server(tmp_path, "--appendonly", "yes") as redis, redis.client() as client:
        assert client.dbsize() == 0


async def backed_up(server, command: str, **paths: Path) -> dict[str, str]:
    """Run a command while clients register programs; returns those that were registered before."""
    registered: dict[str, str] = {}

    async def count() -> int:
        return len(registered)

    texts = (f"sum(x ** 2) + {number}" for number in itertools.count())
    writers = [asyncio.create_task(write(server, texts, registered)) for _ in range(WRITERS)]
    await until(count, least=WRITTEN)
    acknowledged = dict(registered)
    environment = {name: str(path) for name, path in paths.items()}
    command = command.replace("python -c", f"{sys.executable} -c")
    done = await asyncio.to_thread(
        subprocess.run,
        ["sh", "-c", command],
        env={**environment, "PATH": "/usr/bin:/bin:/usr/local/bin"},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert not any(writer.done() for writer in writers)
    for writer in writers:
        writer.cancel()
    await asyncio.gather(*writers, return_exceptions=True)
    return acknowledged


async def check_restored(folder: Path, store: str, acknowledged: dict[str, str]) -> None:
    async with replica(folder, store=store, **SETTINGS) as server, server.client() as client:
        for id, text in acknowledged.items():
            assert await text_of(client, id) == text
