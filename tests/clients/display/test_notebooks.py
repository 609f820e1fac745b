"""A notebook that a kernel runs against a running service."""

import nbformat
import pytest
from nbclient import NotebookClient

pytestmark = pytest.mark.thorough

CELLS = [
    """
import gradwire, numpy as np
client = gradwire.Client(SERVICE)
answer = client.gradient("sum(tanh(x @ w)**2)", {"x": np.ones((20, 30)), "w": np.ones(30) / 30})
answer
""",
    "answer.to_pandas().groupby('path').gradient.sum()",
    "client.hessian('x**2 * y', {'x': 1.0, 'y': 2.0})",
    "print(answer.as_curl())",
    """
def valley(x):
    return np.sum(100 * (x[1:] - x[:-1]**2)**2 + (1 - x[:-1])**2)
options = {"maxiter": 20_000}
client.minimize(valley, -np.ones(50), method="adam", options=options, wait_ms=0)
""",
    "client.close()",
]


@pytest.fixture(scope="module")
def outputs(service_url):
    """The output of each cell."""
    cells = [
        nbformat.v4.new_code_cell(cell.replace("SERVICE", repr(service_url))) for cell in CELLS
    ]
    notebook = nbformat.v4.new_notebook(cells=cells)
    NotebookClient(notebook, timeout=None, startup_timeout=3600, kernel_name="python3").execute()
    return [cell["outputs"] for cell in cells]


def test_responses_are_shown_as_cards(outputs):
    (shown,) = outputs[0]
    assert shown["data"]["text/plain"].startswith("Gradient of ")
    assert shown["data"]["text/html"].startswith('<div class="gw"><style>')
    (shown,) = outputs[2]
    assert "eigenvalues" in shown["data"]["text/html"]


def test_frames_are_shown_by_pandas(outputs):
    (shown,) = outputs[1]
    assert shown["data"]["text/plain"].startswith("path\nw ")


def test_progress_is_a_figure_that_grows(outputs):
    figure, result = outputs[4]
    assert figure["output_type"] == "display_data"
    assert "<polyline" in figure["data"]["text/html"]
    assert "per second" in figure["data"]["text/html"]
    assert "<polyline" in result["data"]["text/html"]
    assert result["data"]["text/plain"].startswith("OptimizeResult fun ")


def test_commands_are_text(outputs):
    (shown,) = outputs[3]
    assert shown["name"] == "stdout"
    assert shown["text"].startswith("curl ")
