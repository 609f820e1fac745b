import importlib
import io

import gradwire
import numpy as np
import pytest
from gradwire.display.canvas import COLOURS
from gradwire.display.sources import BROKEN, EXPLODING, VANISHING, marks, sources
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from PIL import Image

NORMAL = np.random.default_rng(3).standard_normal


def axes_of(figure):
    return {axes.get_title(loc="left"): axes for axes in figure.axes}


def drawn(figure) -> Figure:
    """The figure, after drawing everything in it once."""
    picture = io.BytesIO()
    figure.savefig(picture, format="png")
    width, height = Image.open(picture).size
    assert 300 < width < 2000
    assert 100 < height < 2000
    return figure


def test_one_step_has_a_bar_a_ridge_and_a_heatmap_per_source(client):
    b = NORMAL((20, 30))
    point = {"a": NORMAL(100), "b": b, "c": NORMAL(8), "d": 1.0, "n": np.int64(1)}
    program = "sum(a) * 1e-9 + sum(b**2) + 1e6 * sum(c) + 0 * d * n"
    answer = client.gradient(program, point)
    figure = drawn(gradwire.plot_gradients(answer))
    norms = axes_of(figure)["norm"]
    assert [label.get_text() for label in norms.get_yticklabels()] == ["a", "b", "c", "d"]
    ends = [bar.get_x() + bar.get_width() for bar in norms.patches]
    assert ends[:3] == pytest.approx([1e-8, np.linalg.norm(2 * b), 1e6 * 8**0.5])
    shown = [to_hex(bar.get_facecolor()) for bar in norms.patches]
    assert shown == [COLOURS[mark] for mark in (VANISHING, "", EXPLODING, VANISHING)]
    words = {text.get_text() for axes in figure.axes for text in axes.texts}
    assert {"1e-8", "2.83e6", "100% zero"} <= words
    (legend,) = figure.legends
    assert [text.get_text().split(":")[0] for text in legend.get_texts()] == [VANISHING, EXPLODING]
    assert len(figure.axes) == 2 + 4


def test_many_steps_are_drawn_as_lines(client):
    w = np.ones(4)
    answers = []
    for step in range(5):
        point = {"w": w * 0.5**step, "b": 1.0, "dead": 0.0, "t": float(step)}
        program = "sum(w**2) + 3 * b + sqrt(dead) * (t - 2 > 0)"
        answers.append(client.gradient(program, point, sources=["w", "b", "dead"]))
    figure = drawn(gradwire.plot_gradients(answers))
    lines = {line.get_label(): line for line in axes_of(figure)["norm"].lines}
    np.testing.assert_allclose(lines["w"].get_ydata(), 4 * 0.5 ** np.arange(5))
    np.testing.assert_allclose(lines["b"].get_ydata(), 3.0)
    broken = [not np.isfinite(answer.gradients[2]) for answer in answers]
    assert any(broken)
    assert list(lines[BROKEN].get_xdata()) == list(np.flatnonzero(broken))
    assert np.isnan(lines["all"].get_ydata()[broken]).all()


def test_steps_may_be_nested_arrays():
    path = [{"w": np.full(4, 0.5**step), "b": None} for step in range(3)]
    lines = axes_of(drawn(gradwire.plot_gradients(path, steps=True)))["norm"].lines
    np.testing.assert_allclose(lines[0].get_ydata(), [2.0, 1.0, 0.5])
    one = axes_of(drawn(gradwire.plot_gradients(path)))["norm"]
    assert [label.get_text() for label in one.get_yticklabels()] == ["0.w", "1.w", "2.w"]


def test_nonfinite_values_are_noted(client):
    figure = drawn(gradwire.plot_gradients({"a": np.array([np.nan, 1.0]), "b": [np.ones(3) * 1j]}))
    assert "1 not finite" in {text.get_text() for text in axes_of(figure)["norm"].texts}
    names = [label.get_text() for label in axes_of(figure)["norm"].get_yticklabels()]
    assert names == ["a", "b.0"]


def test_of_very_many_sources_only_the_outstanding_are_drawn():
    many = {f"k{i}": np.full(3, 1e9 if i == 170 else 1.0) for i in range(200)}
    figure = drawn(gradwire.plot_gradients(many))
    names = [label.get_text() for label in axes_of(figure)["norm"].get_yticklabels()]
    assert len(names) == 24
    assert names[-1] == "k170"
    assert "176 more are not drawn" in {text.get_text() for text in figure.legends[0].get_texts()}


def test_sliced_and_ragged_gradients_are_drawn(client):
    table = {"table": np.ones((1000, 3)), "ids": np.array([7, 900, 7])}
    answer = client.gradient("table[ids]**2", table, sources="table", sparse_gradients=True)
    figure = drawn(gradwire.plot_gradients(answer))
    assert "99.80% zero" in {text.get_text() for text in axes_of(figure)["sizes of elements"].texts}
    drawn(gradwire.plot_gradients({"r": gradwire.RaggedArray.of([[1.0], [], [2.0, 3.0]])}))


@pytest.mark.parametrize("value", [0.0, np.nan, 1e-300, 1e300])
def test_constant_gradients_are_drawn(client, value):
    drawn(gradwire.plot_gradients({"a": np.full(3, value), "b": np.float64(value)}))
    answer = client.gradient("sum(x) * v", {"x": [1.0, 2.0], "v": value}, sources="x")
    drawn(gradwire.plot_gradients([answer, answer]))
    drawn(gradwire.plot_gradients([answer]))


def test_answers_without_gradients_are_refused(client):
    answer = client.gradient("1 * x", {"x": 1.0, "y": 2.0}, sources="y")
    with pytest.raises(ValueError, match="no gradients to draw"):
        gradwire.plot_gradients(answer)
    with pytest.raises(ValueError, match="no gradients to draw"):
        gradwire.plot_gradients([])


def test_matplotlib_may_be_missing(monkeypatch):
    def without(module):
        raise ModuleNotFoundError("No module named 'matplotlib'", name="matplotlib")

    monkeypatch.setattr(importlib, "import_module", without)
    with pytest.raises(ImportError, match="plot_gradients needs matplotlib: pip install 'gradw"):
        gradwire.plot_gradients({"a": 1.0})


@given(st.lists(st.floats(1e-30, 1e30), min_size=1, max_size=9))
def test_outliers_are_marked(sizes):
    found = sources({f"k{i}": np.full(2, size) for i, size in enumerate(sizes)})
    assert [source.rms for source in found] == pytest.approx(sizes)
    median = np.median([source.rms for source in found])
    for source, mark in zip(found, marks(found), strict=True):
        assert (mark == VANISHING) == (source.rms * 1000 < median)
        assert (mark == EXPLODING) == (source.rms > 1000 * median)
