"""A running service conforms to its published schema in all phases of schemathesis."""

import asyncio
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fleet.fleets import replica
from tests.fleet.test_keys import new_key

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

REPOSITORY = Path(__file__).parents[2]
CONFIGURATION = REPOSITORY / "tests/fleet/schemathesis.toml"
#: A request whose time is too short is answered 504, which is allowed.
TIMEOUTS = {"default_timeout_ms": 1000, "max_timeout_ms": 60_000}
PHASES = ("Examples", "Coverage", "Fuzzing", "Stateful")


async def test_the_service_conforms_to_its_schema(tmp_path, tell):
    keys = tmp_path / "keys.json"
    key = new_key(keys, "--scopes", "compute,write,admin")
    async with replica(tmp_path, keys_file=keys, **TIMEOUTS) as alone:
        schemathesis = [sys.executable, "-m", "schemathesis.cli", "--no-color"]
        asking = await asyncio.create_subprocess_exec(
            *schemathesis,
            *("--config-file", str(CONFIGURATION), "run"),
            *("--header", f"Authorization: Bearer {key}"),
            f"http://127.0.0.1:{alone.port}/openapi.json",
            cwd=tmp_path,  # where it stores its findings
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(REPOSITORY), *sys.path])},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        try:
            printed, _ = await asking.communicate()
        finally:
            if asking.returncode is None:
                asking.kill()
                await asking.wait()
    told = printed.decode()
    sys.stdout.write(told)
    assert asking.returncode == 0
    for phase in PHASES:
        assert re.search(rf"✅ +{phase} \(in", told), phase
    (generated,) = map(int, re.findall(r"(\d+) generated", told))
    tell("requests", generated)
    assert generated > 500
