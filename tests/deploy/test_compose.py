"""The compose file: replicas behind nginx, none with more rights than it needs."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from gradwire_service.settings import Settings
from gradwire_service.settings.derived import source_of
from gradwire_service.settings.fit import needed_bytes
from gradwire_service.settings.reading import read_settings, variable

REPLICAS = ["gradwire-1", "gradwire-2", "gradwire-3"]
PUBLISHED = ["grafana", "nginx", "prometheus"]
GPU = "gradwire-gpu-1"
SCHEDULER, WORKERS = "dask-scheduler", ["dask-worker-1", "dask-worker-2"]
SERVICES = [*REPLICAS, GPU, SCHEDULER, *WORKERS, "redis", *PUBLISHED]


@pytest.fixture(scope="module")
def services(repository: Path) -> dict[str, Any]:
    return yaml.safe_load((repository / "docker-compose.yml").read_text())["services"]


def default(text: str) -> str:
    """A text of the compose file where no variable is set, innermost first."""
    text, places = re.subn(r"\$\{\w+:-([^{}]*)\}", r"\1", text)
    return default(text) if places else text


def test_these_are_all_services(services: dict[str, Any]):
    assert sorted(services) == sorted(SERVICES)


@pytest.mark.parametrize("name", SERVICES)
def test_is_confined(services: dict[str, Any], name: str):
    service = services[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert all(int(number) > 0 for number in service["user"].split(":"))
    assert "privileged" not in service
    assert "cap_add" not in service


@pytest.mark.parametrize("name", SERVICES)
def test_is_reached_from_this_machine_at_most(services: dict[str, Any], name: str):
    ports = services[name].get("ports", [])
    assert bool(ports) == (name in PUBLISHED)
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_monitoring_gpus_and_dask_are_asked_for(services: dict[str, Any]):
    profiles = {
        name: services[name]["profiles"] for name in SERVICES if "profiles" in services[name]
    }
    assert profiles == {
        GPU: ["gpu"],
        **{name: ["dask"] for name in (SCHEDULER, *WORKERS)},
        **{name: ["monitoring"] for name in ("grafana", "prometheus")},
    }


def test_replica_with_a_gpu_differs_by_what_a_gpu_needs(services: dict[str, Any], repository: Path):
    gpu, other = services[GPU], services[REPLICAS[0]]
    assert {name for name in gpu if gpu[name] != other.get(name)} == {
        *("build", "deploy", "environment", "image", "profiles", "tmpfs")
    }
    assert gpu["environment"] == {**other["environment"], "GRADWIRE_BACKEND": "cupy"}
    (device,) = gpu["deploy"]["resources"]["reservations"]["devices"]
    assert device == {"driver": "nvidia", "count": 1, "capabilities": ["gpu"]}
    target = gpu["build"]["target"]
    assert f"\nFROM runtime AS {target}\n" in (repository / "Dockerfile").read_text()


def test_workers_join_the_scheduler_and_read_the_data(services: dict[str, Any], repository: Path):
    (port,) = services[SCHEDULER]["expose"]
    scheduler = services[SCHEDULER]["entrypoint"]
    assert scheduler[scheduler.index("--port") + 1] == port
    root = services[REPLICAS[0]]["environment"]["GRADWIRE_DATA_ROOT"]
    for name in WORKERS:
        worker = services[name]
        assert worker == services[WORKERS[0]]
        command = worker["entrypoint"]
        assert command[2] == f"tcp://{SCHEDULER}:{port}"
        assert worker["volumes"] == [f"./deploy/data:{root}:ro"]
        limit = int(command[command.index("--memory-limit") + 1].removesuffix("MiB"))
        assert limit < int(worker["deploy"]["resources"]["limits"]["memory"][:-1]) * 1024
    text = (repository / "docker-compose.yml").read_text()
    image = services[SCHEDULER]["image"]
    started = f"GRADWIRE_IMAGE={image} GRADWIRE_TARGET=dask GRADWIRE_DASK=tcp://{SCHEDULER}:{port}"
    assert f"{started} docker compose --profile dask up" in text


def test_images_are_targets(services: dict[str, Any], repository: Path):
    text = (repository / "Dockerfile").read_text()
    for name, target in [(REPLICAS[0], "server"), (GPU, "gpu"), (SCHEDULER, "dask")]:
        asked = services[name]["build"]["target"]
        assert re.sub(r"\$\{\w+:-(.*)\}", r"\1", asked) == target
        assert f"\nFROM runtime AS {target}\n" in text


def test_mounts_of_the_repository_exist_and_are_read_only(
    services: dict[str, Any], repository: Path
):
    mounts = [mount for name in SERVICES for mount in services[name].get("volumes", [])]
    here = [mount.split(":") for mount in mounts if mount.startswith("./")]
    assert len(here) >= len(SERVICES)
    for source, _, mode in here:
        assert (repository / source).is_dir()
        assert mode == "ro"


def test_what_redis_was_told_is_kept_and_never_evicted(services: dict[str, Any]):
    redis = services["redis"]
    words = redis["entrypoint"]
    options = {word: words[n + 1] for n, word in enumerate(words) if word.startswith("--")}
    assert options["--appendonly"] == "yes"
    assert options["--maxmemory-policy"] == "noeviction"
    limit = redis["deploy"]["resources"]["limits"]["memory"]
    assert 2 * int(options["--maxmemory"].removesuffix("mb")) << 20 <= int(limit[:-1]) << 30
    assert f"redis:{options['--dir']}" in redis["volumes"]
    ((folder, mode),) = [
        (source, mode)
        for source, place, mode in (volume.split(":") for volume in redis["volumes"][1:])
        if Path(options["--tls-cert-file"]).parent == Path(place)
    ]
    assert (folder, mode) == ("./deploy/redis", "ro")


def test_replicas_share_the_store(services: dict[str, Any]):
    store = services[REPLICAS[0]]["environment"]["GRADWIRE_STORE"]
    (port,) = services["redis"]["expose"]
    assert default(store) == f"redis://gradwire:gradwire@redis:{port}/0"
    assert services[REPLICAS[0]]["depends_on"] == {"redis": {"condition": "service_healthy"}}


def test_replicas_are_alike(services: dict[str, Any]):
    for name in REPLICAS:
        assert services[name] == services[REPLICAS[0]]


def test_nginx_waits_until_the_replicas_are_healthy(services: dict[str, Any]):
    healthy = {"condition": "service_healthy"}
    assert services["nginx"]["depends_on"] == dict.fromkeys(REPLICAS, healthy)


def test_nginx_knows_the_replicas_by_their_names(services: dict[str, Any], repository: Path):
    (port,) = services[REPLICAS[0]]["expose"]
    upstream = (repository / "deploy/nginx/upstream.conf").read_text()
    addresses = re.findall(r"^ +server (\S+) ", upstream, flags=re.MULTILINE)
    replicas = [f"{name}:{port}" for name in REPLICAS]
    assert addresses == [*replicas, f"{GPU}:{port}", *replicas]


def test_nginx_finds_its_configuration_where_it_is_mounted(
    services: dict[str, Any], repository: Path
):
    source, target, mode = services["nginx"]["volumes"][0].split(":")
    _, script, folder, *command = services["nginx"]["entrypoint"]
    assert mode == "ro"
    assert (repository / source / Path(script).relative_to(target)).is_file()
    configuration = Path(command[command.index("-c") + 1])
    assert configuration == Path(folder, "gradwire.conf")
    assert (repository / source / configuration.name).is_file()
    assert command[command.index("-p") + 1] == f"{folder}/"
    assert services["nginx"]["tmpfs"][0].startswith(f"{folder}:")


def test_nginx_has_the_limits_of_the_replicas(services: dict[str, Any], repository: Path):
    limits, settings = (services[name]["environment"] for name in ("nginx", REPLICAS[0]))
    assert {name: settings[name] for name in limits} == limits
    script = (repository / "deploy/nginx/limits.sh").read_text()
    assert limits == {
        name: f"${{{name}:-}}" for name in re.findall(r"number (GRADWIRE_\w+)", script)
    }


def test_nginx_outlives_a_draining_replica(services: dict[str, Any]):
    assert services["nginx"]["stop_signal"] == "SIGQUIT"
    assert services["nginx"]["stop_grace_period"] == services[REPLICAS[0]]["stop_grace_period"]


def test_published_port_is_the_one_nginx_listens_on(services: dict[str, Any], repository: Path):
    (published,) = services["nginx"]["ports"]
    inside = published.rpartition(":")[2]
    assert f"listen {inside};" in (repository / "deploy/nginx/gradwire.conf").read_text()


def test_settings_exist_and_leave_room_in_the_container(services: dict[str, Any]):
    environment = services[REPLICAS[0]]["environment"]
    settings = {
        name.removeprefix("GRADWIRE_").lower(): default(str(value))
        for name, value in environment.items()
    }
    assert settings.keys() <= Settings.model_fields.keys()
    settings = {name: text for name, text in settings.items() if text}
    memory = services[REPLICAS[0]]["deploy"]["resources"]["limits"]["memory"]
    settings["memory_bytes"] = str(int(memory.removesuffix("m")) << 20)
    made = read_settings(settings)
    assert needed_bytes(made) <= made.memory_bytes
    assert {variable(name) for name in settings if source_of(Settings.model_fields[name])} == set()


def test_the_longest_request_ends_before_it_is_killed(services: dict[str, Any]):
    longest = Settings.model_fields["max_timeout_ms"].default / 1000
    drain = Settings.model_fields["drain_seconds"].default
    assert int(services[REPLICAS[0]]["stop_grace_period"].removesuffix("s")) > longest + drain
