"""The manifests for a Dask cluster: its pods are valid and confined, and replicas reach them."""

from typing import Any

import kubernetes_validate
import pytest
import yaml

from tests.deploy.test_kubernetes import FOLDER, MANIFESTS, VERSION, Manifest, named

DASK: dict[str, Manifest] = {
    named(manifest): manifest
    for path in sorted((FOLDER / "dask").glob("*.yaml"))
    if path.name != "kustomization.yaml"
    for manifest in yaml.safe_load_all(path.read_text())
}
CLUSTER = DASK["DaskCluster gradwire"]["spec"]
PARTS = ["scheduler", "worker"]


def pod(part: str) -> Manifest:
    """A pod that the operator makes of a part of the cluster."""
    labels = {"dask.org/cluster-name": "gradwire", "dask.org/component": part}
    metadata = {"name": part, "labels": labels}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": CLUSTER[part]["spec"]}


def container(part: str) -> dict[str, Any]:
    (only,) = CLUSTER[part]["spec"]["containers"]
    assert isinstance(only, dict)
    return only


@pytest.mark.thorough
@pytest.mark.parametrize("part", PARTS)
def test_pods_are_valid(part: str):
    kubernetes_validate.validate(pod(part), VERSION, strict=True)


def test_the_service_is_valid():
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "gradwire-scheduler"}}
    found = CLUSTER["scheduler"]["service"]
    kubernetes_validate.validate({**service, "spec": found}, VERSION, strict=True)
    assert found["selector"] == pod("scheduler")["metadata"]["labels"]
    ports = {port["name"]: port["containerPort"] for port in container("scheduler")["ports"]}
    assert {port["targetPort"]: port["port"] for port in found["ports"]} == ports


@pytest.mark.parametrize("name", [name for name in DASK if name.startswith("NetworkPolicy")])
def test_policies_are_valid(name: str):
    kubernetes_validate.validate(DASK[name], VERSION, strict=True)


def test_all_files_are_applied_to_the_namespace():
    kustomization = yaml.safe_load((FOLDER / "dask/kustomization.yaml").read_text())
    files = {path.name for path in (FOLDER / "dask").glob("*.yaml")} - {"kustomization.yaml"}
    assert set(kustomization["resources"]) == files
    assert kustomization["namespace"] == MANIFESTS["Namespace gradwire"]["metadata"]["name"]


@pytest.mark.parametrize("part", PARTS)
def test_is_confined_like_a_replica(part: str):
    replica = MANIFESTS["Deployment gradwire"]["spec"]["template"]["spec"]
    spec = CLUSTER[part]["spec"]
    assert spec["securityContext"] == replica["securityContext"]
    assert spec["automountServiceAccountToken"] is spec["enableServiceLinks"] is False
    (other,) = replica["containers"]
    assert container(part)["securityContext"] == other["securityContext"]


def test_versions_are_those_of_the_replicas():
    (replica,) = MANIFESTS["Deployment gradwire"]["spec"]["template"]["spec"]["containers"]
    version = replica["image"].partition(":")[2]
    assert {container(part)["image"] for part in PARTS} == {f"gradwire-server-dask:{version}"}


def test_workers_fit_in_their_pods_and_find_the_scheduler():
    worker = container("worker")
    limit = worker["args"][worker["args"].index("--memory-limit") + 1]
    pod_bytes = int(worker["resources"]["limits"]["memory"].removesuffix("Gi")) << 30
    assert int(limit.removesuffix("MiB")) << 20 <= pod_bytes - (256 << 20)
    (address,) = worker["env"]
    (port, _) = CLUSTER["scheduler"]["service"]["ports"]
    assert address["value"] == f"tcp://gradwire-scheduler:{port['port']}"


def test_only_replicas_the_operator_and_the_cluster_reach_the_scheduler():
    ingress = DASK["NetworkPolicy dask-scheduler"]["spec"]["ingress"]
    replicas, operator = ingress
    assert replicas["from"] == [{"podSelector": {"matchLabels": {"app": "gradwire"}}}]
    assert replicas["ports"] == [{"port": "tcp-comm"}]
    assert [*operator["from"][0]] == ["namespaceSelector"]
    (cluster,) = DASK["NetworkPolicy dask"]["spec"]["ingress"]
    assert cluster["from"] == [{"podSelector": DASK["NetworkPolicy dask"]["spec"]["podSelector"]}]
