import gradwire
import numpy as np
from gradwire.display.facade import card, text


def test_results_show_the_solution_and_the_way_there(client):
    found = client.minimize("sum((w - 3)**2)", {"w": np.zeros(3), "b": 1.0})
    lines = text(found).splitlines()
    assert lines[0].startswith("OptimizeResult fun ")
    assert [line.split()[:2] for line in lines[1:4]] == [
        ["parameter", "type"],
        ["w", "float64[3]"],
        ["b", "float64"],
    ]
    assert "nfev" in lines[-1]
    assert repr(found) == text(found)
    shown = card(found)
    assert shown.count("<polyline") == 2
    assert "<script" not in shown


def test_what_has_no_success_says_so(client):
    found = client.minimize("sum((w - 3)**4)", {"w": np.zeros(3)}, options={"maxiter": 1})
    assert "! no success: " in text(found)
    assert found._repr_html_() == card(found)


def test_roots_and_costs_are_named(client):
    found = client.root("x - 1, y - 2", {"x": 0.0, "y": 1.0})
    assert text(found).startswith("OptimizeResult a root after")
    assert text(client.least_squares("x - 1", {"x": 0.0})).startswith("OptimizeResult cost 0")


def test_intermediate_results_are_shown():
    found = gradwire.OptimizeResult(fun=0.5, nit=3)
    assert text(found) == "OptimizeResult fun 0.5 after 3 iterations"
