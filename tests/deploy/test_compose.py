"""The compose file: replicas behind nginx, none with more rights than it needs."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from gradwire_service.settings import Settings

REPLICAS = ["gradwire-1", "gradwire-2", "gradwire-3"]
SERVICES = [*REPLICAS, "nginx"]


@pytest.fixture(scope="module")
def services(repository: Path) -> dict[str, Any]:
    return yaml.safe_load((repository / "docker-compose.yml").read_text())["services"]


def test_these_are_all_services(services: dict[str, Any]):
    assert sorted(services) == SERVICES


@pytest.mark.parametrize("name", SERVICES)
def test_is_confined(services: dict[str, Any], name: str):
    service = services[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert all(int(number) > 0 for number in service["user"].split(":"))
    assert "privileged" not in service
    assert "cap_add" not in service


def test_replicas_are_alike_and_take_connections_only_from_inside(services: dict[str, Any]):
    for name in REPLICAS:
        assert services[name] == services[REPLICAS[0]]
        assert "ports" not in services[name]


def test_nginx_waits_until_the_replicas_are_healthy(services: dict[str, Any]):
    healthy = {"condition": "service_healthy"}
    assert services["nginx"]["depends_on"] == dict.fromkeys(REPLICAS, healthy)


def test_nginx_knows_the_replicas_by_their_names(services: dict[str, Any], repository: Path):
    (port,) = services[REPLICAS[0]]["expose"]
    upstream = (repository / "deploy/nginx/upstream.conf").read_text()
    addresses = re.findall(r"^ +server (\S+) ", upstream, flags=re.MULTILINE)
    assert addresses == 2 * [f"{name}:{port}" for name in REPLICAS]


def test_nginx_finds_its_configuration_where_it_is_mounted(
    services: dict[str, Any], repository: Path
):
    source, target, mode = services["nginx"]["volumes"][0].split(":")
    command = services["nginx"]["entrypoint"]
    configuration = command[command.index("-c") + 1]
    assert mode == "ro"
    assert (repository / source / Path(configuration).relative_to(target)).is_file()
    assert f"{command[command.index('-p') + 1].rstrip('/')}:" in services["nginx"]["tmpfs"][0]


def test_nginx_outlives_a_draining_replica(services: dict[str, Any]):
    assert services["nginx"]["stop_signal"] == "SIGQUIT"
    assert services["nginx"]["stop_grace_period"] == services[REPLICAS[0]]["stop_grace_period"]


def test_published_port_is_the_one_nginx_listens_on(services: dict[str, Any], repository: Path):
    (published,) = services["nginx"]["ports"]
    address, _, inside = published.split(":")
    assert address == "127.0.0.1"
    assert f"listen {inside};" in (repository / "deploy/nginx/gradwire.conf").read_text()


def test_settings_exist_and_leave_room_in_the_container(services: dict[str, Any]):
    environment = services[REPLICAS[0]]["environment"]
    names = {
        name.removeprefix("GRADWIRE_").lower(): int(value) for name, value in environment.items()
    }
    assert names.keys() <= Settings.model_fields.keys()
    memory = services[REPLICAS[0]]["deploy"]["resources"]["limits"]["memory"]
    assert names["max_array_bytes"] <= names["max_total_bytes"] <= int(memory[:-1]) * 2**30 // 2


def test_the_longest_request_ends_before_it_is_killed(services: dict[str, Any]):
    longest = Settings.model_fields["max_timeout_ms"].default / 1000
    drain = Settings.model_fields["drain_seconds"].default
    assert int(services[REPLICAS[0]]["stop_grace_period"].removesuffix("s")) > longest + drain
