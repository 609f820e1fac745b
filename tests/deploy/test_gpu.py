"""The manifests for GPU nodes: valid, and as those of other replicas but for what a GPU needs."""

import json
import tomllib
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from tests.deploy.test_kubernetes import FOLDER, MANIFESTS, REPOSITORY, VERSION, Manifest, named

GPU: dict[str, Manifest] = {
    named(manifest): manifest
    for path in sorted((FOLDER / "gpu").glob("*.yaml"))
    if path.name != "kustomization.yaml"
    for manifest in yaml.safe_load_all(path.read_text())
}


def renamed(manifest: Manifest) -> Manifest:
    """A manifest of the replicas without GPUs as it is of those with them."""
    text = json.dumps(manifest).replace('"app": "gradwire"', '"app": "gradwire-gpu"')
    changed: Manifest = json.loads(text.replace("gradwire-replicas", "gradwire-gpu-replicas"))
    if changed["metadata"]["name"] == "gradwire":
        changed["metadata"]["name"] = "gradwire-gpu"
    return changed


def differences(one: Any, other: Any, path: str = "") -> set[str]:
    """The paths at which two manifests differ."""
    if isinstance(one, dict) and isinstance(other, dict):
        return {
            found
            for name in one.keys() | other.keys()
            for found in differences(one.get(name), other.get(name), f"{path}.{name}")
        }
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return {
            found
            for n, pair in enumerate(zip(one, other, strict=True))
            for found in differences(*pair, f"{path}[{n}]")
        }
    return set() if one == other else {path}


@pytest.mark.parametrize("name", GPU)
def test_is_valid(name: str):
    kubernetes_validate.validate(GPU[name], VERSION, strict=True)


def test_all_files_are_applied_to_the_namespace():
    kustomization = yaml.safe_load((FOLDER / "gpu/kustomization.yaml").read_text())
    files = {path.name for path in (FOLDER / "gpu").glob("*.yaml")} - {"kustomization.yaml"}
    assert set(kustomization["resources"]) == files
    assert kustomization["namespace"] == MANIFESTS["Namespace gradwire"]["metadata"]["name"]


def test_deployment_differs_by_what_a_gpu_needs():
    gpu = GPU["Deployment gradwire-gpu"]
    container = ".spec.template.spec.containers[0]"
    assert differences(gpu, renamed(MANIFESTS["Deployment gradwire"])) == {
        ".spec.replicas",
        ".spec.strategy.rollingUpdate.maxSurge",
        ".spec.strategy.rollingUpdate.maxUnavailable",
        ".spec.template.spec.nodeSelector",
        ".spec.template.spec.tolerations",
        ".spec.template.spec.volumes[0].emptyDir.sizeLimit",
        f"{container}.env",
        f"{container}.image",
        f"{container}.resources.limits.memory",
        f"{container}.resources.limits.nvidia.com/gpu",
        f"{container}.resources.requests.memory",
    }
    pod = gpu["spec"]["template"]["spec"]
    (only,) = pod["containers"]
    assert only["resources"]["limits"]["nvidia.com/gpu"] == 1
    assert {"name": "GRADWIRE_BACKEND", "value": "cupy"} in only["env"]
    assert pod["nodeSelector"] == {"nvidia.com/gpu.present": "true"}
    (toleration,) = pod["tolerations"]
    assert toleration == {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}


def test_rollouts_need_no_free_gpu():
    update = GPU["Deployment gradwire-gpu"]["spec"]["strategy"]["rollingUpdate"]
    assert update == {"maxSurge": 0, "maxUnavailable": 1}


def test_image_is_that_of_the_compose_file():
    compose = yaml.safe_load((REPOSITORY / "docker-compose.yml").read_text())["services"]
    version = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]["version"]
    (container,) = GPU["Deployment gradwire-gpu"]["spec"]["template"]["spec"]["containers"]
    assert container["image"] == f"{compose['gradwire-gpu-1']['image']}:{version}"


def test_service_and_policy_are_those_of_other_replicas():
    service = renamed(MANIFESTS["Service gradwire-replicas"])
    assert differences(GPU["Service gradwire-gpu-replicas"], service) == set()
    policy = renamed(MANIFESTS["NetworkPolicy gradwire"])
    assert differences(GPU["NetworkPolicy gradwire-gpu"], policy) == set()


def test_nginx_and_redis_may_be_connected_as_by_other_replicas():
    (out,) = GPU["NetworkPolicy nginx-to-gradwire-gpu"]["spec"]["egress"]
    assert out == renamed({"metadata": {"name": ""}, "it": nginx_to_replicas()})["it"]
    (into,) = GPU["NetworkPolicy redis-from-gradwire-gpu"]["spec"]["ingress"]
    (usual,) = MANIFESTS["NetworkPolicy redis"]["spec"]["ingress"]
    assert into == renamed({"metadata": {"name": ""}, "it": usual})["it"]


def nginx_to_replicas() -> dict[str, Any]:
    """The first rule of what nginx may connect to."""
    rule: dict[str, Any] = MANIFESTS["NetworkPolicy nginx"]["spec"]["egress"][0]
    return rule


def test_nginx_finds_the_pods():
    service = GPU["Service gradwire-gpu-replicas"]["metadata"]["name"]
    namespace = MANIFESTS["Namespace gradwire"]["metadata"]["name"]
    upstream = (FOLDER / "upstream.conf").read_text()
    address = f"server {service}.{namespace}.svc.cluster.local service=http resolve "
    assert upstream.count(address) == 1


def test_extras_for_gpus_are_alike():
    extras = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    assert extras["cuda12"] == [one.replace("13x", "12x") for one in extras["cuda13"]]
    lock = (REPOSITORY / "deploy/image/gpu.txt").read_text()
    assert "\ncupy-cuda13x==" in lock
    assert Path(REPOSITORY / "Makefile").read_text().count("--extra cuda13 ") == 1
