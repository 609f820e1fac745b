"""The manifests: valid, confined, and at one with the image, the settings and the proxy."""

import re
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml
from gradwire_service.app import create_app
from gradwire_service.settings import Settings
from gradwire_service.settings.fit import needed_bytes

REPOSITORY = Path(__file__).parents[2]
FOLDER = REPOSITORY / "deploy/kubernetes"
VERSION = "1.33"
#: No part of Kubernetes: tests/cluster holds these to schemas of their own.
GATEWAY = "gateway.networking.k8s.io/"

Manifest = dict[str, Any]


def named(manifest: Manifest) -> str:
    """The name of a manifest in these tests."""
    return f"{manifest['kind']} {manifest['metadata']['name']}"


MANIFESTS: dict[str, Manifest] = {
    named(manifest): manifest
    for path in sorted(FOLDER.glob("*.yaml"))
    if path.name != "kustomization.yaml"
    for manifest in yaml.safe_load_all(path.read_text())
}
WORKLOADS = ["Deployment gradwire", "Deployment nginx", "StatefulSet redis"]


def pod(workload: str) -> Manifest:
    template: Manifest = MANIFESTS[workload]["spec"]["template"]
    return template


def container(workload: str) -> Manifest:
    (only,) = pod(workload)["spec"]["containers"]
    assert isinstance(only, dict)
    return only


def ports(workload: str) -> dict[str, int]:
    return {port["name"]: port["containerPort"] for port in container(workload)["ports"]}


@pytest.mark.parametrize(
    "name", [name for name, one in MANIFESTS.items() if not one["apiVersion"].startswith(GATEWAY)]
)
def test_is_valid(name: str):
    kubernetes_validate.validate(MANIFESTS[name], VERSION, strict=True)


def test_a_wrong_manifest_is_not_valid():
    wrong = {**MANIFESTS["Deployment gradwire"], "spek": {}}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, VERSION, strict=True)


def test_all_files_are_applied_but_examples():
    kustomization = yaml.safe_load((FOLDER / "kustomization.yaml").read_text())
    here = {path.name for path in FOLDER.glob("*.yaml")}
    applied = {name for name in kustomization["resources"] if name.endswith(".yaml")}
    assert here - applied == {"gateway.example.yaml", "keys.example.yaml", "kustomization.yaml"}
    assert applied <= here
    assert kustomization["namespace"] == MANIFESTS["Namespace gradwire"]["metadata"]["name"]


def test_example_of_a_secret_holds_none():
    assert MANIFESTS["Secret gradwire-keys"]["stringData"] == {"keys.json": "[]"}


@pytest.mark.parametrize("workload", WORKLOADS)
def test_is_confined(workload: str):
    spec = pod(workload)["spec"]
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["runAsUser"] > 0
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert spec["automountServiceAccountToken"] is False
    assert container(workload)["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    resources = container(workload)["resources"]
    assert {"cpu", "memory"} <= resources["requests"].keys()
    assert "memory" in resources["limits"]


@pytest.mark.parametrize("workload", WORKLOADS)
def test_is_selected_by_what_is_meant_for_it(workload: str):
    labels = pod(workload)["metadata"]["labels"]
    assert MANIFESTS[workload]["spec"]["selector"]["matchLabels"] == labels
    assert MANIFESTS[f"NetworkPolicy {labels['app']}"]["spec"]["podSelector"] == {
        "matchLabels": labels
    }
    selecting = [
        manifest
        for manifest in MANIFESTS.values()
        if manifest["kind"] == "Service" and manifest["spec"]["selector"] == labels
    ]
    for service in selecting:
        for port in service["spec"]["ports"]:
            assert port["targetPort"] in ports(workload)
    assert selecting


def test_no_service_is_told_among_the_settings():
    """A service ``gradwire`` would come as ``GRADWIRE_PORT=tcp://…``."""
    assert pod("Deployment gradwire")["spec"]["enableServiceLinks"] is False


def test_image_is_that_of_the_repository():
    compose = yaml.safe_load((REPOSITORY / "docker-compose.yml").read_text())["services"]
    assert container("Deployment gradwire")["image"].startswith(
        re.sub(r"\$\{\w+:-(.*)\}", r"\1", compose["gradwire-1"]["image"]) + ":"
    )
    for workload, service in [("Deployment nginx", "nginx"), ("StatefulSet redis", "redis")]:
        assert container(workload)["image"] == compose[service]["image"]
        command = [
            re.sub(r"\$\((\w+)\)", r"${\1}", word) for word in container(workload)["command"]
        ]
        there = [
            re.sub(r"\$\{GRADWIRE_(\w+):-\w+\}", r"${\1}", word)
            for word in compose[service]["entrypoint"]
        ]
        assert command == there
        security = pod(workload)["spec"]["securityContext"]
        assert f"{security['runAsUser']}:{security['runAsGroup']}" == compose[service]["user"]
    assert re.search(
        r"^USER 10001:10001$", (REPOSITORY / "Dockerfile").read_text(), flags=re.MULTILINE
    )


def test_settings_exist_and_leave_room_in_the_container():
    given = MANIFESTS["ConfigMap gradwire-settings"]["data"]
    named = [*given, *(entry["name"] for entry in container("Deployment gradwire")["env"])]
    names = {name.removeprefix("GRADWIRE_").lower() for name in named}
    assert names <= Settings.model_fields.keys()
    threads = container("Deployment gradwire")["resources"]["limits"]["cpu"]
    settings = Settings.model_validate(
        {name.removeprefix("GRADWIRE_").lower(): value for name, value in given.items()}
        | {"cores": threads}
        | {"memory_bytes": container("Deployment gradwire")["resources"]["limits"]["memory"]}
    )
    assert needed_bytes(settings) <= settings.memory_bytes
    mounts = [mount["mountPath"] for mount in container("Deployment gradwire")["volumeMounts"]]
    assert str(Path(settings.keys_file).parent) in mounts
    environment = {entry["name"]: entry for entry in container("StatefulSet redis")["env"]}
    assert environment["REDIS_PORT"]["value"] == str(ports("StatefulSet redis")["redis"])
    assert environment["REDIS_TLS_PORT"]["value"] == "0"


def test_threads_are_as_many_as_the_cores_that_are_allowed():
    environment = {entry["name"]: entry for entry in container("Deployment gradwire")["env"]}
    source = environment["GRADWIRE_CORES"]["valueFrom"]
    assert source == {"resourceFieldRef": {"resource": "limits.cpu"}}
    assert int(container("Deployment gradwire")["resources"]["limits"]["cpu"]) > 0


def test_probes_ask_paths_that_exist_on_the_port_that_is_listened_on():
    app = create_app(Settings())
    paths = app.openapi()["paths"]
    app.state.executors.shut()
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        asked = container("Deployment gradwire")[probe]["httpGet"]
        assert asked["path"] in paths
        assert asked["port"] in ports("Deployment gradwire")
    assert container("Deployment gradwire")["readinessProbe"]["httpGet"]["path"] == "/readyz"
    dockerfile = (REPOSITORY / "Dockerfile").read_text()
    assert f"GRADWIRE_PORT={ports('Deployment gradwire')['http']} " in dockerfile
    listen = (REPOSITORY / "deploy/nginx/gradwire.conf").read_text()
    assert f"listen {ports('Deployment nginx')['http']};" in listen


def grace(workload: str) -> tuple[int, int]:
    """Seconds before the signal, and until the end."""
    before = container(workload)["lifecycle"]["preStop"]["sleep"]["seconds"]
    return before, pod(workload)["spec"]["terminationGracePeriodSeconds"]


def test_graces_are_ordered():
    fields = Settings.model_fields
    longest = fields["max_timeout_ms"].default / 1000 + fields["drain_seconds"].default
    before, until = grace("Deployment gradwire")
    assert before + longest < until
    proxy = (REPOSITORY / "deploy/nginx/gradwire.conf").read_text()
    waits = int(re.findall(r"proxy_read_timeout (\d+)s", proxy)[0])
    before, until = grace("Deployment nginx")
    assert before + waits < until


def test_route_leads_to_nginx_which_alone_knows_what_takes_too_long():
    route = MANIFESTS["HTTPRoute gradwire"]["spec"]
    (rule,) = route["rules"]
    assert rule["timeouts"] == {"request": "0s"}
    (backend,) = rule["backendRefs"]
    service = MANIFESTS[f"Service {backend['name']}"]["spec"]
    assert backend["port"] in {port["port"] for port in service["ports"]}
    assert service["selector"] == pod("Deployment nginx")["metadata"]["labels"]


def test_example_of_a_gateway_is_one_for_the_route():
    route = MANIFESTS["HTTPRoute gradwire"]["spec"]
    gateway = MANIFESTS["Gateway gateway"]
    (parent,) = route["parentRefs"]
    assert parent == {name: gateway["metadata"][name] for name in ("name", "namespace")}
    assert parent["namespace"] == MANIFESTS["Namespace gateway"]["metadata"]["name"]
    (listener,) = gateway["spec"]["listeners"]
    assert [listener["hostname"]] == route["hostnames"]
    assert listener["protocol"] == "HTTPS"
    label = {"kubernetes.io/metadata.name": MANIFESTS["Namespace gradwire"]["metadata"]["name"]}
    assert listener["allowedRoutes"]["namespaces"]["selector"]["matchLabels"] == label
    (rule,) = MANIFESTS["NetworkPolicy nginx"]["spec"]["ingress"]
    (peer,) = rule["from"]
    label = {"kubernetes.io/metadata.name": parent["namespace"]}
    assert peer["namespaceSelector"]["matchLabels"] == label


def test_nginx_finds_its_configuration_and_the_pods():
    volumes = {volume["name"]: volume for volume in pod("Deployment nginx")["spec"]["volumes"]}
    sources = volumes["configuration"]["projected"]["sources"]
    made: list[str] = []
    for folder in ("nginx", "kubernetes"):
        path = REPOSITORY / "deploy" / folder / "kustomization.yaml"
        for generator in yaml.safe_load(path.read_text())["configMapGenerator"]:
            assert {"configMap": {"name": generator["name"]}} in sources
            made += generator["files"]
            assert all((path.parent / name).is_file() for name in generator["files"])
    shipped = REPOSITORY / "deploy/nginx"
    assert sorted(made) == sorted(path.name for path in shipped.iterdir() if path.suffix != ".yaml")
    settings = {entry["name"]: entry["valueFrom"] for entry in container("Deployment nginx")["env"]}
    compose = yaml.safe_load((REPOSITORY / "docker-compose.yml").read_text())
    assert settings.keys() == compose["x-limits"].keys()
    for name, source in settings.items():
        reference = {"name": "gradwire-settings", "key": name, "optional": True}
        assert source == {"configMapKeyRef": reference}
    service = MANIFESTS["Service gradwire-replicas"]
    (port,) = service["spec"]["ports"]
    namespace = MANIFESTS["Namespace gradwire"]["metadata"]["name"]
    address = f"{service['metadata']['name']}.{namespace}.svc.cluster.local"
    assert service["spec"]["clusterIP"] == "None"
    upstream = (FOLDER / "upstream.conf").read_text()
    assert upstream.count(f"server {address} service={port['name']} resolve ") == 2


def test_upstreams_differ_from_the_shipped_ones_by_addresses_alone():
    def directives(path: Path) -> list[str]:
        lines = path.read_text().splitlines()
        kept = [line for line in lines if not re.match(r" *(#|zone|resolver|$)", line)]
        servers = [re.sub(r"server \S+( service=\S+)?", "server", line) for line in kept]
        return [line for n, line in enumerate(servers) if n == 0 or servers[n - 1] != line]

    ours = REPOSITORY / "deploy/nginx/upstream.conf"
    assert directives(FOLDER / "upstream.conf") == directives(ours)


def test_a_quorum_stays_while_pods_are_moved():
    replicas = MANIFESTS["Deployment gradwire"]["spec"]["replicas"]
    scaler = MANIFESTS["HorizontalPodAutoscaler gradwire"]["spec"]
    assert scaler["scaleTargetRef"]["name"] == "gradwire"
    assert scaler["minReplicas"] == replicas == 3
    (policy,) = scaler["behavior"]["scaleDown"]["policies"]
    assert policy == {"type": "Pods", "value": 1, "periodSeconds": 300}
    for name in ("gradwire", "nginx"):
        workload = MANIFESTS[f"Deployment {name}"]["spec"]
        budget = MANIFESTS[f"PodDisruptionBudget {name}"]["spec"]
        assert budget["selector"] == workload["selector"]
        assert 0 < budget["minAvailable"] < workload["replicas"]
        assert workload["strategy"]["rollingUpdate"]["maxUnavailable"] == 0


def test_nobody_speaks_to_anybody_unless_it_is_said():
    nothing = MANIFESTS["NetworkPolicy nothing"]["spec"]
    assert nothing == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
    assert "egress" not in MANIFESTS["NetworkPolicy redis"]["spec"]
    egress = MANIFESTS["NetworkPolicy gradwire"]["spec"]["egress"]
    allowed = [{port["port"] for port in rule["ports"]} for rule in egress]
    assert allowed == [{"redis"}, {53}]
