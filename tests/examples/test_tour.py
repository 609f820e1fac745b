"""The notebook is run by a kernel, and must show what it was committed with."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

TOUR = Path(__file__).parents[2] / "examples" / "tour.ipynb"


def shown(notebook):
    """The output of each cell of code: the kinds, by cell."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return [
        [sorted(output.get("data", [output.output_type])) for output in cell.outputs]
        for cell in cells
    ]


@pytest.fixture
def tours(service_url, monkeypatch):
    """The notebook as it was committed, and as it runs now."""
    monkeypatch.setenv("GRADWIRE_URL", service_url)
    committed, run = (nbformat.read(TOUR, as_version=4) for _ in range(2))
    asked = "print(least_curvature.min() < 0 < least_curvature.max(), angles.shape, answer.value)"
    run.cells.insert(-1, nbformat.v4.new_code_cell(asked))
    NotebookClient(run, timeout=None, startup_timeout=3600, kernel_name="python3").execute()
    return committed, run


def test_the_tour_shows_what_it_was_committed_with(tours):
    committed, run = tours
    (asked,) = run.cells.pop(-2).outputs
    assert asked.text.startswith("True (8, 200) 0.4636")
    assert shown(run) == shown(committed)
    value_and_gradient = run.cells[3].outputs[0].data["text/plain"]
    assert value_and_gradient == "(np.float64(68.0), array([-36., -32.]))"
