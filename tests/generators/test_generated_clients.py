"""Clients that others' tools generate from ``/openapi.json`` compile, and get gradients.

Nothing is fetched beside what ``tests/generators/tools.py`` tells of.
"""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import httpx
import numpy as np
import pytest

from tests.generators.tools import TOOLS, found, run

CALLERS = Path(__file__).parent / "callers"
PROGRAM = "sum(exp(x)) * y**2"
MISTAKE = "y = sin(x"


class Generator(NamedTuple):
    """A way to generate clients, and to check and run them in a folder with caller and schema."""

    generate: str
    check: Sequence[str]
    run: str
    caller: str
    #: Where the caller is copied to.
    place: str


def typescript(generate: str, caller: str) -> Generator:
    """A client whose caller is compiled with all that it imports."""
    check = "tsc --strict --target es2022 --module node16 --outDir made --rootDir . caller.ts"
    return Generator(generate, [check], "node made/caller.js", caller, "caller.ts")


OPENAPI_GENERATOR = "openapi-generator-cli generate -i openapi.json -g"
GENERATORS = {
    "openapi-python-client": Generator(
        "openapi-python-client generate --path openapi.json --meta none --output-path generated",
        ["mypy --strict --follow-imports=silent generated/api generated/models caller.py"],
        "python caller.py",
        "openapi_python_client.py",
        "caller.py",
    ),
    "openapi-generator python": Generator(
        f"{OPENAPI_GENERATOR} python --package-name generated -o .",
        ["mypy generated caller.py"],
        "python caller.py",
        "openapi_generator.py",
        "caller.py",
    ),
    "openapi-generator go": Generator(
        f"{OPENAPI_GENERATOR} go -o generated --package-name generated --git-host gradwire.example"
        " --git-user-id service --git-repo-id generated"
        " --global-property apiTests=false,modelTests=false",  # they import a module
        ["go -C generated vet ./..."],
        "go -C generated run ./caller",
        "openapi_generator.go",
        "generated/caller/main.go",
    ),
    "openapi-generator typescript-fetch": typescript(
        f"{OPENAPI_GENERATOR} typescript-fetch -o generated", "typescript_fetch.ts"
    ),
    "hey-api": typescript("openapi-ts -i openapi.json -o generated", "hey_api.ts"),
    "openapi-typescript": typescript(
        "openapi-typescript openapi.json -o generated/schema.ts", "openapi_fetch.ts"
    ),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder in which scripts find their packages."""
    (tmp_path / "node_modules").symlink_to(TOOLS / "node_modules")
    return tmp_path


@pytest.mark.parametrize("name", GENERATORS)
def test_a_generated_client_gets_the_gradient(name: str, service_url: str, folder: Path):
    generator = GENERATORS[name]
    for command in (generator.generate, *generator.check, generator.run):
        found(command.split()[0])
    document = httpx.get(f"{service_url}/openapi.json", trust_env=False).content
    (folder / "openapi.json").write_bytes(document)
    run(folder, generator.generate)
    assert lacks(folder / "generated", json.loads(document)) == []

    place = folder / generator.place
    place.parent.mkdir(exist_ok=True)
    shutil.copy(CALLERS / generator.caller, place)
    for check in generator.check:
        run(folder, check)
    told = json.loads(run(folder, generator.run, service_url, PROGRAM, MISTAKE))

    x, y = np.array([-1.2, 0.5]), 1.5
    of_x, of_y = told["gradients"]["at"]
    np.testing.assert_allclose(of_x, np.exp(x) * y**2, rtol=1e-12)
    np.testing.assert_allclose(of_y, 2 * y * np.exp(x).sum(), rtol=1e-6)  # it is float32
    assert told["code"] == "syntax_error"


def lacks(generated: Path, document: dict) -> list[str]:
    """The operations and models that no generated file speaks of, however it writes names."""
    files = [path for path in generated.rglob("*.*") if path.is_file()]
    text = "".join(f"{path} {path.read_text()}" for path in files).lower().replace("_", "")
    schemas = document["components"]["schemas"]
    names = [name for name, schema in schemas.items() if schema.get("type") == "object"]
    names += [of["operationId"] for path in document["paths"].values() for of in path.values()]
    return [name for name in names if name.lower().replace("_", "") not in text]
