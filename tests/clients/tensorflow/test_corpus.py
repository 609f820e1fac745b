"""`gradwire.tf` with a real service agrees with TensorFlow on each snippet of the corpus."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.clients.tensorflow import agreement, snippets

SEEDS = json.loads((Path(__file__).parent / "seed_cases.json").read_text())
#: Where TensorFlow has NaN, at infinities and ends of domains: ours are limits.
OTHERWISE = {
    *("at-nn-gelu-x", "at-nn-gelu-x-approximate-true", "at-nn-silu-x", "at-nn-swish-x"),
    *("at-erfc-x", "at-special-bessel-j0-x", "at-betainc-0-5-1-5-x"),
    *("at-special-dawsn-x", "at-igamma-0-5-x", "at-igammac-0-5-x", "at-asinh-x", "at-atan-x"),
    *(f"at-nn-sigmoid-cross-entropy-with-logits-labels-x-logits-{of}" for of in "xy"),
}
#: The results of so many snippets are one request, unless they ask for some themselves.
AT_ONCE = 20


@pytest.fixture(autouse=True)
def _service(service_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADWIRE_URL", service_url)


def disagreements(cases: Sequence[dict[str, Any]], folder: Path) -> dict[str, str]:
    """What differs, by the cases' ids."""
    found = {}
    for first in range(0, len(cases), AT_ONCE):
        left = []
        for case in cases[first : first + AT_ONCE]:
            source = folder / f"{case['id']}.py"
            source.write_text(agreement.ours(case["tf_code"]))
            left.append((case, *agreement.run(case, str(source))))
        agreement.ask(space for _, space, _ in left)
        for case, space, raised in left:
            if (wrong := agreement.disagreement(case, space, raised)) is not None:
                found[case["id"]] = wrong
    return found


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("subject", snippets.subjects())
def test_snippets_agree_with_tensorflow(subject: str, tmp_path: Path):
    found = disagreements(snippets.cases(subject), tmp_path)
    assert found.keys() == (OTHERWISE if subject == "singular" else set()), found


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore")
def test_seeds_agree_with_tensorflow(tmp_path: Path):
    assert disagreements(SEEDS, tmp_path) == {}
