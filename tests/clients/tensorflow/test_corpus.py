"""`gradwire.tf` with a real service agrees with TensorFlow on each snippet of the corpus."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.clients.tensorflow import agreement, snippets

SEEDS = json.loads((Path(__file__).parent / "seed_cases.json").read_text())
CASES = SEEDS + [case for subject in snippets.subjects() for case in snippets.cases(subject)]


@pytest.fixture(autouse=True)
def _service(service_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADWIRE_URL", service_url)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("snippets")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in CASES])
def test_a_snippet_agrees_with_tensorflow(case: dict[str, Any], folder: Path):
    source = folder / f"{case['id']}.py"
    source.write_text(agreement.ours(case["tf_code"]))
    assert agreement.disagreement(case, str(source)) is None
