"""The unit for machines without containers: read by systemd, in step with the settings."""

import configparser
import shutil
import subprocess
from pathlib import Path

import pytest
from gradwire_service.__main__ import main
from gradwire_service.settings import Settings

UNIT = Path(__file__).parents[2] / "deploy/systemd/gradwire@.service"


@pytest.fixture(scope="module")
def service():
    parser = configparser.ConfigParser(interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(UNIT)
    return parser["Service"]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd here")
def test_systemd_finds_no_fault(tmp_path):
    unit = tmp_path / "gradwire@8001.service"
    unit.write_text(UNIT.read_text().replace("/opt/gradwire/bin/gradwire-server", "/bin/true"))
    done = subprocess.run(
        ["systemd-analyze", "verify", unit], check=False, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_what_it_starts_is_a_command_of_the_service(service, capsys):
    program, *arguments = service["ExecStart"].split()
    assert program.endswith("/gradwire-server")
    arguments[arguments.index("%i")] = "none"  # is no port, so it does not start
    with pytest.raises(SystemExit, match=service["RestartPreventExitStatus"]):
        main(arguments)
    assert "--port=none" in capsys.readouterr().err


def test_it_is_given_the_time_that_the_longest_request_may_take(service):
    settings = Settings()
    longest = settings.max_timeout_ms / 1000 + settings.drain_seconds
    assert longest + 10 <= int(service["TimeoutStopSec"])
    assert service["KillMode"] == "mixed"  # processes that compute are the service's to end
    assert int(service["LimitNOFILE"]) > 2 * settings.max_connections
