"""Manifests of the Gateway API conform to its types, which know every field, and its schemas."""

import json
from collections.abc import Sequence
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
COMPILE = "tsc --strict --skipLibCheck --target es2022 --module node16 --outDir made"


def compiled(folder: Path, manifests: Sequence[Manifest]) -> None:
    """Raises ``AssertionError`` if types do not allow a manifest; the others' programs are made."""
    (folder / "node_modules").symlink_to(TOOLS / "node_modules")
    names = [f"{i}.mts" for i in range(len(manifests))]
    for name, one in zip(names, manifests, strict=True):
        text = PROGRAM.format(kind=one["kind"], manifest=json.dumps(one))
        (folder / name).write_text(text)
    run(folder, COMPILE, *names)


def test_gateway_manifests_are_valid(tmp_path: Path):
    compiled(tmp_path, [*OF_GATEWAYS.values()])
    assert OF_GATEWAYS
    for i in range(len(OF_GATEWAYS)):
        run(tmp_path, f"node made/{i}.mjs")


def test_an_invalid_route_is_found(tmp_path: Path):
    for program in "tsc", "node":
        found(program)
    route = OF_GATEWAYS["HTTPRoute gradwire"]
    of_schemas = {"rules": [{"backendRefs": [{"name": "it", "port": 70000}]}]}
    wrong = [{**route, "spec": {**route["spec"], **one}} for one in ({"hostname": "x"}, of_schemas)]
    with pytest.raises(AssertionError, match="hostname"):
        compiled(tmp_path, wrong)
    with pytest.raises(AssertionError, match="port"):
        run(tmp_path, "node made/1.mjs")
