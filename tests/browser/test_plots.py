"""The tab of plots: curves, contours with descents, bars and matrices."""

import json
import math
import re

import pytest
from playwright.sync_api import expect

from tests.browser.links import fragment_of
from tests.browser.test_accessibility import PHONE, assert_accessible
from tests.tables import cases

NUMBER = r"(−?[\d.]+(?:e[−-]?\d+)?)"


@pytest.fixture
def plot(visit):
    """Opens a program with its variables, and the tab of plots."""

    def start(program, variables, sources=None, query="gradient", **context):
        document = {"program": program, "variables": variables, "query": query}
        if sources is not None:
            document["sources"] = sources
        opened = visit(fragment_of(document), **context)
        opened.page.get_by_role("radio", name="JSON").check()
        opened.page.get_by_role("tab", name="Plot").click()
        return opened

    return start


def numbers(text, pattern):
    """The numbers that a pattern's groups match, read as the page writes them."""
    found = re.search(pattern, text)
    assert found, text
    return [float(group.replace("−", "-")) for group in found.groups()]


def readout(page):
    return page.locator(".plot-readout").inner_text()


def at_fraction(page, across, down):
    """Pixels of a place within the axes."""
    box = page.locator(".plot .border").bounding_box()
    return box["x"] + across * box["width"], box["y"] + down * box["height"]


def pixels_of_one(page, axis):
    """How far apart numbers that differ by one are on an axis."""
    ticks = page.locator(f".tick[text-anchor={'middle' if axis == 'x' else 'end'}]").all()
    first, last = ticks[0], ticks[-1]
    numbers = [float(tick.text_content().replace("−", "-")) for tick in (first, last)]
    pixels = [float(tick.get_attribute(axis)) for tick in (first, last)]
    return (pixels[1] - pixels[0]) / (numbers[1] - numbers[0])


def typed(page):
    """The variables in their editor."""
    return json.loads(page.get_by_role("textbox", name="Variables, as JSON").inner_text())


def test_the_tangent_has_the_gradients_slope_and_touches_the_curve(plot):
    opened = plot("sin(x) * x", {"x": 2})
    page = opened.page
    expect(page.locator(".plot-readout")).to_contain_text("slope 0.077003")
    slope = math.sin(2) + 2 * math.cos(2)
    assert numbers(readout(page), f"value {NUMBER}, slope {NUMBER}") == pytest.approx(
        [2 * math.sin(2), slope], rel=1e-5
    )
    # And so has the line in the picture, by the ticks of both axes.
    line = page.locator(".tangent")
    x1, y1, x2, y2 = (float(line.get_attribute(name)) for name in ("x1", "y1", "x2", "y2"))
    unit_x, unit_y = (pixels_of_one(page, axis) for axis in "xy")
    assert (y2 - y1) / unit_y / ((x2 - x1) / unit_x) == pytest.approx(slope, rel=1e-4)


def test_moving_the_point_moves_the_variable_and_the_answer(plot):
    opened = plot("layer.w[1]**2 * y", {"layer": {"w": [1, 2]}, "y": 3}, "layer.w")
    page = opened.page
    page.get_by_role("combobox", name="Show the").select_option("curve")
    page.get_by_role("combobox", name="along").select_option("layer.w[1]")
    slider = page.get_by_role("slider", name="Point of the curve along layer.w[1]")
    expect(slider).to_have_attribute("aria-valuenow", "2")
    page.mouse.move(*at_fraction(page, 0.5, 0.5))
    page.mouse.down()
    page.mouse.move(*at_fraction(page, 0.7, 0.5), steps=4)
    page.mouse.up()
    moved = typed(page)["layer"]["w"]
    assert moved[0] == 1
    assert moved[1] == pytest.approx(-2 + 0.7 * 8, abs=0.05)
    expect(page.locator(".plot-readout")).to_contain_text(f"layer.w[1] = {moved[1]:g},")
    expect(page.locator(".plot-readout")).not_to_contain_text("about")
    value, slope = numbers(readout(page), f"value {NUMBER}, slope {NUMBER}")
    assert value == pytest.approx(3 * moved[1] ** 2, rel=1e-5)
    assert slope == pytest.approx(6 * moved[1], rel=1e-5)
    slider.press("ArrowLeft")
    assert typed(page)["layer"]["w"][1] == pytest.approx(moved[1] - 0.08, abs=1e-9)
    slider.press("Home")
    assert typed(page)["layer"]["w"] == [1, -2]
    page.get_by_role("tab", name="Answer").click()
    expect(page.get_by_label("Value", exact=True)).to_contain_text("12")


def test_a_curve_is_one_request_and_moving_its_point_asks_for_no_other(plot):
    opened = plot("x**3", {"x": 1})
    page = opened.page
    expect(page.get_by_role("slider", name="Point of the curve along x")).to_be_visible()
    expect(page.locator(".plot-readout")).to_contain_text("slope 3")
    batched = [one for one in opened.requests if '"batch"' in (one.post_data or "")]
    places = json.loads(batched[-1].post_data)["variables"]["x"]
    assert len(places) == 201
    assert (places[0], places[-1]) == (-1, 3)
    page.get_by_role("slider", name="Point of the curve along x").press("ArrowRight")
    expect(page.locator(".plot-readout")).to_contain_text("x = 1.04, value 1.12486")
    assert [one for one in opened.requests if '"batch"' in (one.post_data or "")] == batched
    slider = page.get_by_role("slider", name="Point of the curve along x")
    page.get_by_role("button", name="Zoom out").click()
    expect(slider).to_have_attribute("aria-valuemax", "5.04")
    slider.press("+")
    expect(slider).to_have_attribute("aria-valuemax", "3.04")
    page.get_by_role("button", name="Reset").click()
    expect(slider).to_have_attribute("aria-valuemax", "3.12")


def test_no_plot_is_asked_for_while_another_tab_is_shown(plot):
    opened = plot("x**2", {"x": 1}, movable=True)
    page = opened.page
    expect(page.locator(".plot-readout")).to_contain_text("slope 2")
    page.get_by_role("tab", name="Answer").click()
    before = len(opened.requests)
    opened.write("x**2 * 7")
    expect(page.get_by_label("Gradients", exact=True)).to_contain_text("14")
    opened.later(150)
    later = [one.post_data or "" for one in opened.requests[before:]]
    assert any("* 7" in body for body in later)
    assert not any('"batch"' in body for body in later)
    page.get_by_role("tab", name="Plot").click()
    expect(page.locator(".plot-readout")).to_contain_text("slope 14")


def test_a_target_of_several_elements_is_drawn_as_their_sum(plot):
    page = plot("stack([x, x**2, 1 / x])", {"x": 2}).page
    expect(page.locator(".plot-readout")).to_contain_text("sum of 3 elements 6.5, slope 4.75")
    expect(page.locator(".part")).to_have_count(3)


def test_a_complex_target_is_drawn_by_its_real_part(plot):
    page = plot("exp(complex(0.0 * x, x))", {"x": 1}).page
    expect(page.locator(".plot-readout")).to_contain_text(
        "real part of the value 0.540302, slope −0.841471"
    )


def test_values_alone_have_a_curve_too(plot):
    page = plot("x**2, x + 1", {"x": 3}, query="evaluate").page
    expect(page.locator(".plot-readout")).to_contain_text(
        "sum of 2 elements about 13, slope about 7"
    )


def test_values_that_are_not_finite_are_hatched(plot):
    page = plot("log(x)", {"x": 1}).page
    expect(page.locator(".gap")).to_have_count(1)
    assert page.locator(".gap").bounding_box()["width"] == pytest.approx(
        page.locator(".plot .border").bounding_box()["width"] / 4, rel=0.03
    )


def test_a_problem_with_the_examples_is_shown_as_such(plot):
    page = plot("ones(2) * x if x > 1 else x", {"x": 2}).page
    expect(page.get_by_role("alert")).to_contain_text("different shapes")
    expect(page.get_by_text("elsewhere in the picture")).to_be_visible()


def test_the_descent_ends_in_the_bowl_and_follows_the_pointer(plot):
    page = plot("(x - 1)**2 + 3 * (y + 0.5)**2", {"x": 2, "y": -1}).page
    end = f"rest near x = {NUMBER}, y = {NUMBER}"
    for across, down in [(0.9, 0.1), (0.1, 0.8)]:
        page.mouse.move(*at_fraction(page, across, down))
        expect(page.locator(".cursor")).to_be_visible()
        at = numbers(readout(page), f"^x = {NUMBER}, y = {NUMBER}: value")
        assert at == pytest.approx([-2 + 8 * across, 1 - 4 * down], abs=0.05)
        assert numbers(readout(page), end) == pytest.approx([1, -0.5], abs=0.02)


def test_the_descent_reaches_rosenbrocks_minimum_along_its_valley(plot):
    page = plot("(1 - x)**2 + 100 * (y - x**2)**2", {"x": -1.2, "y": 1}).page
    expect(page.locator(".rest")).to_be_visible()
    x, y = numbers(readout(page), f"rest near x = {NUMBER}, y = {NUMBER}")
    assert (x, y) == (pytest.approx(1, abs=0.03), pytest.approx(1, abs=0.05))
    expect(page.locator(".contour")).to_have_count(11)


def test_a_click_or_enter_moves_both_variables(plot):
    page = plot("(x - 1)**2 + 3 * (w[0] + 0.5)**2", {"x": 2, "w": [-1, 5]}, ["x", "w"]).page
    page.get_by_role("combobox", name="Show the").select_option("contours")
    page.mouse.click(*at_fraction(page, 0.25, 0.25))
    assert typed(page) == {"x": pytest.approx(0, abs=0.03), "w": [pytest.approx(0, abs=0.03), 5]}
    clicked = typed(page)
    picture = page.get_by_role("application", name="Contours over x and w[0]")
    page.mouse.move(1, 1)
    picture.press("ArrowRight")
    picture.press("Shift+ArrowDown")
    assert typed(page) == clicked
    picture.press("Enter")
    assert typed(page)["x"] == pytest.approx(clicked["x"] + 8 / 50, abs=0.021)
    assert typed(page)["w"][0] == pytest.approx(clicked["w"][0] - 5 * 4 / 50, abs=0.021)


def test_bars_are_sorted_and_lead_to_curves(plot):
    page = plot("x @ w + 100 * b", {"x": [1, -7, 3], "w": [0.5, 2, -4], "b": 1}).page
    rows = page.locator(".bars tbody tr")
    expect(rows).to_have_count(7)
    names = page.locator(".bars tbody th").all_inner_texts()
    assert names == ["b", "w[1]", "x[2]", "w[2]", "x[1]", "w[0]", "x[0]"]
    values = [float(text.replace("−", "-")) for text in rows.locator("td.number").all_inner_texts()]
    assert values == [100, -7, -4, 3, 2, 1, 0.5]
    widths = [bar.bounding_box()["width"] for bar in rows.locator(".bar").all()]
    assert widths == sorted(widths, reverse=True)
    assert widths[1] == pytest.approx(0.07 * widths[0], rel=0.05)
    page.get_by_role("button", name="w[2]").click()
    expect(page.get_by_role("slider", name="Point of the curve along w[2]")).to_have_attribute(
        "aria-valuenow", "-4"
    )


def test_the_zeros_of_a_banded_hessian_are_counted_and_shown(plot):
    page = plot(
        "sum((x[1:] - x[:-1]**2)**2) + y**2", {"x": [1, 2, 3, 1, 2, 3, 1], "y": 2}, query="hessian"
    ).page
    # Seven on the diagonal, six on each side of it, one for y.
    zeros = 64 - 7 - 2 * 6 - 1
    percent = f"{100 * zeros / 64:.1f}"
    expect(page.locator("#matrix-counts")).to_have_text(
        f"8 × 8: {zeros} of 64 elements are zero ({percent} %)"
    )
    drawn = page.wait_for_function(
        """() => {
          const canvas = document.querySelector(".matrix-plot canvas");
          if (!canvas?.width) return false;
          const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
          const drawn = Array.from({ length: data.length / 4 }, (_, i) => data[4 * i + 3] > 0);
          return drawn.includes(true) && drawn;
        }"""
    ).json_value()
    expected = [i == j or (i < 7 and j < 7 and abs(i - j) == 1) for i in range(8) for j in range(8)]
    assert drawn == expected
    picture = page.get_by_role("application", name="Hessian matrix")
    for key in ["ArrowDown", "ArrowRight"]:
        picture.press(key)
    expect(page.locator(".plot-readout")).to_have_text("∂²/∂x[0] ∂x[1] = −4")


def test_a_jacobian_has_its_blocks_names(plot):
    page = plot("w @ x", {"w": [[1, 2], [3, 4]], "x": [5, 6]}, query="jacobian").page
    expect(page.locator("#matrix-counts")).to_contain_text("2 × 6: 4 of 12")
    expect(page.locator(".matrix-plot text")).to_have_text(["value", "w", "x"])
    page.mouse.move(*at_fraction(page, 5.5 / 6, 0.75))
    expect(page.locator(".plot-readout")).to_have_text("∂value[1] / ∂x[1] = 4")


@cases("program, variables, query, shown")
def test_plots_are_accessible_and_fit_on_a_phone(plot, program, variables, query, shown):
    opened = plot(program, variables, None, query, viewport=PHONE)
    expect(opened.page.locator(shown).first).to_be_attached()
    assert_accessible(opened, "'#panel'")
