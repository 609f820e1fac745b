"""Manifests of the Gateway API conform to its types, which know every field, and its schemas."""

import json
from pathlib import Path

import pytest

from tests.deploy.test_kubernetes import GATEWAY, MANIFESTS, Manifest
from tests.generators.tools import TOOLS, found, run

OF_GATEWAYS = {
    name: one for name, one in MANIFESTS.items() if one["apiVersion"].startswith(GATEWAY)
}
PROGRAM = """
import {{ {kind}, I{kind} }} from "@kubernetes-models/gateway-api/gateway.networking.k8s.io/v1";
const manifest: I{kind} = {manifest};
new {kind}(manifest).validate();
"""
COMPILE = "tsc --strict --skipLibCheck --target es2022 --module node16 --outDir made check.mts"


def hold(folder: Path, manifest: Manifest) -> None:
    """Raises ``AssertionError`` if types or schemas do not allow the manifest."""
    (folder / "node_modules").symlink_to(TOOLS / "node_modules")
    text = PROGRAM.format(kind=manifest["kind"], manifest=json.dumps(manifest))
    (folder / "check.mts").write_text(text)
    run(folder, COMPILE)
    run(folder, "node made/check.mjs")


@pytest.mark.parametrize("name", OF_GATEWAYS)
def test_a_gateway_manifest_is_valid(name: str, tmp_path: Path):
    hold(tmp_path, OF_GATEWAYS[name])


@pytest.mark.parametrize(
    "wrong",
    [{"hostname": "x"}, {"rules": [{"backendRefs": [{"name": "it", "port": 70000}]}]}],
)
def test_an_invalid_route_is_found(wrong: Manifest, tmp_path: Path):
    for program in "tsc", "node":
        found(program)
    route = OF_GATEWAYS["HTTPRoute gradwire"]
    with pytest.raises(AssertionError, match=r"hostname|port"):
        hold(tmp_path, {**route, "spec": {**route["spec"], **wrong}})
