"""Whole scripts, with `gradwire.tf` in TensorFlow's place, give TensorFlow's results.

Floats may differ, relative to the largest of their list, by 1e-5 (a hundred units in the last place
of float32, what sums of some hundred terms in another order differ by) and by ten times what the
script makes of one such unit in each gradient, which TensorFlow itself showed when the results were
recorded: forward and backward passes round about ten times on the way to a gradient.
"""

import pytest

from tests.clients.tensorflow import agreement, script_results

RECORDED = script_results.recorded()


def test_each_script_has_recorded_results():
    assert script_results.names() == list(RECORDED)


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", RECORDED)
def test_a_script_gives_tensorflows_results(name: str, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    source = tmp_path / f"{name}.py"
    source.write_text(agreement.ours((script_results.FOLDER / source.name).read_text()))
    record = RECORDED[name]
    # processors with and without AVX-512 differ by a part of the first
    allowed = 2e-5 + 10 * record["sensitivity"]
    results = script_results.results_of(source)
    assert script_results.difference(results, record["results"]) <= allowed
