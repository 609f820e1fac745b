"""The Helm chart, rendered by Helm: it equals deploy/kubernetes, changed by the values."""

import json
import os
import re
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml
from gradwire_service.settings import Settings

from tests.deploy.test_gpu import GPU
from tests.deploy.test_kubernetes import GATEWAY, MANIFESTS, VERSION, Manifest, named
from tests.generators.tools import run

REPOSITORY = Path(__file__).parents[2]
CHART = REPOSITORY / "deploy/helm/gradwire"
#: Manifests that belong to the cluster or its operators, not to a release.
NOT_RELEASED = {
    "Namespace gradwire",
    "Namespace gateway",
    "Gateway gateway",
    "Secret gradwire-keys",
}

Render = Callable[..., dict[str, Manifest]]


def printed(
    folder: Path, *values: dict[str, Any], namespace: str = "gradwire"
) -> list[dict[str, Any]]:
    program = f"python {REPOSITORY / 'tests/cluster/render.py'}"
    told: list[dict[str, Any]] = json.loads(
        run(folder, program, str(CHART), namespace, given=json.dumps(values))
    )
    return told


@pytest.fixture(scope="module")
def render(tmp_path_factory: pytest.TempPathFactory) -> Render:
    """Renders the manifests of a release, by kind and name; those of equal values once."""
    folder = tmp_path_factory.mktemp("chart")
    kept: dict[str, dict[str, Any]] = {}

    def rendered(namespace: str = "gradwire", **values: Any) -> dict[str, Manifest]:
        key = json.dumps([namespace, values])
        if key not in kept:
            (kept[key],) = printed(folder, values, namespace=namespace)
        told = kept[key]
        assert told["wrong"] == []
        manifests = [one for text in told["manifests"] for one in yaml.safe_load_all(text) if one]
        return {named(one): one for one in manifests}

    return rendered


def bare(manifest: Manifest) -> Manifest:
    """A manifest without the labels and annotations that releases add."""
    manifest = json.loads(json.dumps(manifest))
    labels = manifest["metadata"].pop("labels", {})
    kept = {name: value for name, value in labels.items() if "/" not in name}
    template = manifest.get("spec", {}).get("template", {}).get("metadata", {})
    template.pop("annotations", None)
    return manifest | {"labels": kept}


def test_a_default_release_equals_the_manifests(render: Render):
    released = render()
    configured = {"ConfigMap nginx", "ConfigMap nginx-upstream"}
    assert released.keys() == MANIFESTS.keys() - NOT_RELEASED | configured
    for name in released.keys() - configured:
        assert bare(released[name]) == bare(MANIFESTS[name])
    files = released["ConfigMap nginx"]["data"] | released["ConfigMap nginx-upstream"]["data"]
    for name, text in files.items():
        folder = "kubernetes" if name == "upstream.conf" else "nginx"
        assert text == (REPOSITORY / "deploy" / folder / name).read_text()


def test_a_release_conforms_to_the_schemas(render: Render):
    for manifest in render().values():
        if not manifest["apiVersion"].startswith(GATEWAY):
            kubernetes_validate.validate(manifest, VERSION, strict=True)


VALUES = """
image: registry.example/it:1
imagePullSecrets: [{name: pull}]
replicas: {min: 4, max: 5}
resources: {requests: {cpu: "4"}, limits: {cpu: "4", memory: 3Gi}}
settings: {GRADWIRE_CACHE_BYTES: 1GiB, GRADWIRE_KEY_CONCURRENT: 8}
keysSecret: mine
redis: {storage: 9Gi}
route: {hostnames: [it.example], parentRefs: [{name: door}]}
namespaces: {gateway: monitoring, monitoring: prometheus}
dns: 10.0.0.10
"""


def test_every_value_is_applied(render: Render):
    released = render(namespace="other", **yaml.safe_load(VALUES))
    for manifest in released.values():
        if not manifest["apiVersion"].startswith(GATEWAY):
            kubernetes_validate.validate(manifest, VERSION, strict=True)
    pod = released["Deployment gradwire"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert container["image"] == "registry.example/it:1"
    assert container["resources"]["limits"] == {"cpu": "4", "memory": "3Gi"}
    assert pod["imagePullSecrets"] == [{"name": "pull"}]
    assert {"mine", "gradwire-redis"} == {
        of["secret"]["secretName"] for of in pod["volumes"] if "secret" in of
    }
    scaler = released["HorizontalPodAutoscaler gradwire"]["spec"]
    assert (scaler["minReplicas"], scaler["maxReplicas"]) == (4, 5)
    settings = released["ConfigMap gradwire-settings"]["data"]
    assert settings["GRADWIRE_CACHE_BYTES"] == "1GiB"
    assert settings["GRADWIRE_KEY_CONCURRENT"] == "8"
    assert settings["GRADWIRE_KEYS_FILE"] == "/etc/gradwire/keys.json"
    (claim,) = released["StatefulSet redis"]["spec"]["volumeClaimTemplates"]
    assert claim["spec"]["resources"]["requests"] == {"storage": "9Gi"}
    route = released["HTTPRoute gradwire"]["spec"]
    assert (route["hostnames"], route["parentRefs"]) == (["it.example"], [{"name": "door"}])
    assert admitted(released["NetworkPolicy nginx"]) == ["monitoring"]
    assert admitted(released["NetworkPolicy gradwire"]) == ["prometheus"]
    upstream = released["ConfigMap nginx-upstream"]["data"]["upstream.conf"]
    assert upstream.count("server gradwire-replicas.other.svc.cluster.local ") == 2
    assert "resolver 10.0.0.10 " in upstream


def admitted(policy: Manifest) -> list[str]:
    """The namespaces that may connect to the pods of a policy."""
    peers = [peer for rule in policy["spec"]["ingress"] for peer in rule["from"]]
    selectors = [peer["namespaceSelector"] for peer in peers if "namespaceSelector" in peer]
    return [selector["matchLabels"]["kubernetes.io/metadata.name"] for selector in selectors]


def test_pods_are_replaced_when_their_configuration_changes(render: Render):
    def annotations(**values: Any) -> list[dict[str, str]]:
        released = render(**values)
        names = "Deployment gradwire", "Deployment nginx"
        return [released[one]["spec"]["template"]["metadata"]["annotations"] for one in names]

    (first, nginx), (second, same) = annotations(), annotations(settings={"GRADWIRE_OPEN": False})
    assert first != second
    assert nginx == same
    assert annotations(dns="10.0.0.10")[1] != nginx


def test_replicas_with_gpus_may_be_enabled(render: Render):
    released, others = render(gpu={"enabled": True}), render()
    both = {"with": released, "without": others}
    assert released.keys() - others.keys() == GPU.keys()
    for name in GPU:
        assert bare(released[name]) == bare(GPU[name])
    settings = {name: one["ConfigMap gradwire-settings"]["data"] for name, one in both.items()}
    redirects = {"GRADWIRE_GPU_REDIRECT_FLOPS": "5000000000"}
    assert settings["with"] == {**settings["without"], **redirects}
    replicas = [one["Deployment gradwire"] for one in both.values()]
    assert bare(replicas[0]) == bare(replicas[1])
    checksums = [one["spec"]["template"]["metadata"]["annotations"] for one in replicas]
    assert checksums[0] != checksums[1]  # so they are replaced


GPU_VALUES = """
gpu:
  enabled: true
  redirectFlops: "7000000000"
  image: registry.example/gpu:1
  replicas: 2
  resources:
    requests: {cpu: "8", memory: 5Gi}
    limits: {cpu: "8", memory: 9Gi, nvidia.com/gpu: "2"}
  nodeSelector: {kind: gpu}
  tolerations: [{key: dedicated, operator: Exists}]
imagePullSecrets: [{name: pull}]
keysSecret: mine
namespaces: {gateway: gateway, monitoring: prometheus}
"""


def test_every_value_of_gpus_is_applied(render: Render):
    values = yaml.safe_load(GPU_VALUES)
    released = render(namespace="other", **values)
    for name in GPU:
        kubernetes_validate.validate(released[name], VERSION, strict=True)
    settings = released["ConfigMap gradwire-settings"]["data"]
    assert settings["GRADWIRE_GPU_REDIRECT_FLOPS"] == "7000000000"
    deployment = released["Deployment gradwire-gpu"]["spec"]
    assert deployment["replicas"] == 2
    pod = deployment["template"]["spec"]
    (container,) = pod["containers"]
    assert container["image"] == "registry.example/gpu:1"
    assert container["resources"] == values["gpu"]["resources"]
    assert pod["nodeSelector"]["kind"] == "gpu"
    assert pod["tolerations"] == values["gpu"]["tolerations"]
    assert pod["imagePullSecrets"] == [{"name": "pull"}]
    assert {"mine", "gradwire-redis"} == {
        of["secret"]["secretName"] for of in pod["volumes"] if "secret" in of
    }
    assert admitted(released["NetworkPolicy gradwire-gpu"]) == ["prometheus"]
    upstream = released["ConfigMap nginx-upstream"]["data"]["upstream.conf"]
    assert upstream.count("server gradwire-gpu-replicas.other.svc.cluster.local ") == 1


PODS = """
pod:
  annotations: {a: b}
  labels: {team: it}
  affinity: {podAntiAffinity: {}}
  topologySpreadConstraints: [{maxSkew: 2, topologyKey: rack, whenUnsatisfiable: DoNotSchedule}]
  serviceAccountName: mine
  priorityClassName: high
extraEnv:
- {name: GRADWIRE_CORES, value: "7"}
gpu: {enabled: true}
"""


def test_pods_of_replicas_have_further_fields(render: Render):
    values = yaml.safe_load(PODS)
    released, fields, extra = render(**values), values["pod"], values["extraEnv"]
    labels, annotations = fields.pop("labels"), fields.pop("annotations")
    for app in ("gradwire", "gradwire-gpu"):
        deployment = released[f"Deployment {app}"]
        kubernetes_validate.validate(deployment, VERSION, strict=True)
        metadata, pod = deployment["spec"]["template"].values()
        assert metadata["labels"] == {"app": app, **labels}
        assert metadata["annotations"].items() > annotations.items()
        fields["topologySpreadConstraints"][0]["labelSelector"] = {"matchLabels": {"app": app}}
        assert pod.items() > fields.items()
        (container,) = pod["containers"]
        assert [one for one in container["env"] if one["name"] == "GRADWIRE_CORES"] == extra


def test_redis_and_route_may_be_disabled(render: Render):
    whole = render()
    left = render(redis={"enabled": False}, route={"enabled": False})
    assert whole.keys() - left.keys() == {
        "HTTPRoute gradwire",
        "Service redis",
        "StatefulSet redis",
    }


def test_redis_has_its_secret_and_tls(render: Render):
    released = render(redis={"secret": "mine", "tls": True}, gpu={"enabled": True})
    for name in ("Deployment gradwire", "Deployment gradwire-gpu"):
        pod = released[name]["spec"]["template"]["spec"]
        (store,) = [one for one in pod["containers"][0]["env"] if one["name"] == "GRADWIRE_STORE"]
        assert store["valueFrom"]["secretKeyRef"] == {"name": "mine", "key": "store"}
        assert "mine" in [one["secret"]["secretName"] for one in pod["volumes"] if "secret" in one]
    pod = released["StatefulSet redis"]["spec"]["template"]["spec"]
    environment = {one["name"]: one for one in pod["containers"][0]["env"]}
    ports = [environment[name]["value"] for name in ("REDIS_PORT", "REDIS_TLS_PORT")]
    assert ports == ["0", "6379"]
    assert environment["REDIS_PASSWORD"]["valueFrom"]["secretKeyRef"]["name"] == "mine"
    assert pod["volumes"][0]["secret"]["secretName"] == "mine"
    kubernetes_validate.validate(released["StatefulSet redis"], VERSION, strict=True)


def test_a_store_of_ones_own_may_be_a_setting(render: Render):
    released = render(settings={"GRADWIRE_STORE": "redis://mine/0"}, redis={"enabled": False})
    (container,) = released["Deployment gradwire"]["spec"]["template"]["spec"]["containers"]
    assert "GRADWIRE_STORE" not in [one["name"] for one in container["env"]]
    settings = released["ConfigMap gradwire-settings"]["data"]
    assert settings["GRADWIRE_STORE"] == "redis://mine/0"


def test_limits_are_those_of_replicas_and_nginx(render: Render, tmp_path: Path):
    limits = {"bodyMiB": 200, "defaultSeconds": 30, "longestSeconds": 600}
    plain, released = render(), render(limits=limits)
    settings = released["ConfigMap gradwire-settings"]["data"]
    read = Settings.model_validate(
        {name.removeprefix("GRADWIRE_").lower(): text for name, text in settings.items()}
    )
    assert (read.max_body_bytes, read.queue_bytes >= 200 << 20) == (200 << 20, True)
    assert (read.default_timeout_ms, read.max_timeout_ms) == (30_000, 600_000)
    for name, text in released["ConfigMap nginx"]["data"].items():
        (tmp_path / name).write_text(text)
    (made := tmp_path / "made").mkdir()
    (container,) = released["Deployment nginx"]["spec"]["template"]["spec"]["containers"]
    names = {one["name"] for one in container["env"]}
    given = {name: text for name, text in settings.items() if name in names}
    command = ["sh", str(tmp_path / "limits.sh"), str(made), "true"]
    subprocess.run(command, env={"PATH": os.environ["PATH"], **given}, check=True)
    files = {path.name: path.read_text() for path in made.iterdir()}
    shown = re.findall(
        r"^ +(client_max_body_size|proxy_read_timeout) (\w+);", files["gradwire.conf"], re.MULTILINE
    )
    assert shown == [
        ("client_max_body_size", str(200 << 20)),
        ("proxy_read_timeout", "615s"),
        ("proxy_read_timeout", "31s"),
    ]
    assert "proxy_next_upstream_timeout 32s;" in files["gradwire.conf"]
    assert "up to 200 MiB" in files["problems.conf"]
    for name, seconds in [("Deployment gradwire", 620), ("Deployment nginx", 540)]:
        pods = [one[name]["spec"]["template"]["spec"] for one in (released, plain)]
        graces = [pod["terminationGracePeriodSeconds"] for pod in pods]
        assert graces[0] - (graces[1] if name == "Deployment nginx" else 0) == seconds
    annotations = [
        one["Deployment nginx"]["spec"]["template"]["metadata"]["annotations"]
        for one in (released, plain)
    ]
    assert annotations[0] != annotations[1], "nginx would go on with the limits before"


INVALID: list[dict[str, Any]] = [
    {"imagee": "x"},
    {"replicas": {"min": 1}},
    {"settings": {"CACHE_BYTES": "1GiB"}},
    {"resources": {"limits": None}},
    {"pod": {"labels": {"app": "other"}}},
    {"extraEnv": [{"value": "x"}]},
    {"gpu": {"redirectFlops": "5e9"}},
    {"gpu": {"resources": {"limits": {"nvidia.com/gpu": None}}}},
]


def test_invalid_values_are_refused(tmp_path: Path):
    told = printed(tmp_path, *INVALID)
    accepted = [one for one, of in zip(INVALID, told, strict=True) if not of["wrong"]]
    assert accepted == []


def test_chart_version_equals_the_project_version():
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    assert chart["version"] == chart["appVersion"] == project["version"]
    assert yaml.safe_load((CHART / "values.yaml").read_text())["image"].endswith(
        f":{project['version']}"
    )
