import sys
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pytest
from gradwire.display import following as module
from gradwire.display.curves import curves
from gradwire.display.following import LiveFigure, following
from gradwire.optimization.handles import JobProgress

from tests.clock import Clock


def progress(iteration: int, value: float | None = 0.5) -> JobProgress:
    return JobProgress(iteration, value, 0.25, 1.0, 10.0, 2.0)


def polylines(svg: str) -> list[list[list[float]]]:
    """The points of each curve."""
    found = ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}polyline")
    return [
        [[float(n) for n in point.split(",")] for point in line.attrib["points"].split()]
        for line in found
    ]


def test_curves_go_from_left_to_right_and_down():
    svg = curves([0, 5, 10], [("value", [4.0, 3.0, 2.0]), ("gradient", [1e0, 1e-2, 1e-4])])
    for line in polylines(svg):
        x, y = np.array(line).T
        np.testing.assert_allclose(np.diff(x), x[1] - x[0], atol=0.2)
        np.testing.assert_allclose(np.diff(y), y[1] - y[0], atol=0.2)  # both axes fit their values
        assert y[1] > y[0]


@pytest.mark.parametrize("values", [[], [np.nan], [1.0, 1.0], [-1.0, np.inf]])
def test_curves_of_any_values_are_drawn(values):
    for line in polylines(curves(range(len(values)), [("value", values)])):
        assert np.isfinite(line).all()


def test_titles_are_text():
    assert "a &lt; b" in curves([0], [("a < b", [1.0])])


def test_bars_are_shown_on_request(capfd):
    with following("minimize", 20, True) as report:
        report(progress(10))
        report(progress(20, None))
    shown = capfd.readouterr().err
    assert "minimize" in shown
    assert "10/20" in shown or "20/20" in shown
    assert "gradient 0.25" in shown


@pytest.mark.parametrize("wanted", [None, False])
def test_without_a_terminal_nothing_is_shown(capfd, wanted):
    with following("minimize", None, wanted) as report:
        report(progress(10))
    assert capfd.readouterr().err == ""


def test_bars_need_tqdm(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with following("minimize", None, None) as report:
        report(progress(1))
    with pytest.raises(ModuleNotFoundError, match=r"gradwire\[progress\]"):
        following("minimize", None, True).__enter__()


@pytest.fixture
def shown(monkeypatch) -> list[str]:
    """The figures that a notebook has shown in place of its first."""
    shown: list[str] = []
    display = SimpleNamespace(
        HTML=lambda html: html,
        display=lambda html, display_id: SimpleNamespace(update=shown.append),
    )
    monkeypatch.setattr(module, "import_module", lambda name: display)
    return shown


def test_figures_are_drawn_twice_a_second(shown):
    clock = Clock()
    figure = LiveFigure("minimize", None, clock)
    for i in range(100):
        figure.update(progress(i))
        clock.advance(0.125)
    drawn = [int(figure.partition("iteration ")[2].partition(":")[0]) for figure in shown]
    assert drawn == list(range(4, 100, 4))


def test_figures_keep_a_bounded_number_of_points(shown):
    clock = Clock()
    figure = LiveFigure("minimize", 5000, clock)
    for i in range(2 * module.MOST_POINTS):
        if i == 2 * module.MOST_POINTS - 1:
            clock.advance(module.REDRAWN_AFTER_SECONDS)
        figure.update(progress(i))
    assert "iteration 999 of 5,000: value 0.5, gradient 0.25, 10 per second, 2 s left" in shown[-1]
    svg = shown[-1][shown[-1].index("<svg") : shown[-1].index("</svg>") + 6]
    (value, _) = polylines(svg)
    assert module.MOST_POINTS // 2 <= len(value) <= module.MOST_POINTS
