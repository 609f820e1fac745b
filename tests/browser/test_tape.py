"""The tape: instructions, and reverse mode on the graph of the program."""

import re

import httpx
import pytest
from playwright.sync_api import expect

from tests.browser.test_accessibility import PHONE, assert_accessible

PROGRAM = "h = tanh(x @ layer.w + layer.b)\nloss = mean((h - y)**2)"
VARIABLES = {"layer": {"w": [0.1, -0.2], "b": 0.3}, "x": [[1, 2], [3, 4]], "y": [0, 1]}


@pytest.fixture
def tape(visit):
    """Opens the tab, of the first example unless another program is given."""

    def start(program=None, variables="{}", **context):
        opened = visit(**context)
        if program is not None:
            opened.page.get_by_label("with respect to").fill("")
            opened.write_variables(variables)
            opened.write(program)
        opened.page.get_by_role("tab", name="Tape").click()
        return opened

    return start


def node(page, name):
    """The box of a node."""
    return page.locator(f'.node[aria-label^="{name}"]')


def numbers(text):
    """All numbers in a text."""
    plain = text.replace("−", "-")
    return [float(found) for found in re.findall(r"-?\d+(?:\.\d+)?(?:e-?\d+)?", plain)]


def shown(page, name, what):
    """The value, or the adjoint, that a node has."""
    expect(node(page, name)).to_have_count(1)
    parts = re.split(r", (value|adjoint|line) ", node(page, name).get_attribute("aria-label"))
    return numbers(dict(zip(parts[1::2], parts[2::2], strict=True))[what])


def flat(value):
    return [x for part in value for x in flat(part)] if isinstance(value, list) else [value]


def step_count(page):
    return int(
        page.get_by_label("Step", exact=True).and_(page.locator("input")).get_attribute("max")
    )


def press(page, name):
    page.get_by_role("button", name=name, exact=True).click()


def explained(opened):
    """Requests for explanations until now."""
    return [request for request in opened.requests if request.url.endswith("/v1/explain")]


def test_adjoints_are_the_gradients_that_the_service_answers(tape, service):
    page = tape().page
    paths = {"source layer.w": "layer.w", "source layer.b": "layer.b", "x,": "x", "y,": "y"}
    document = {"program": PROGRAM, "variables": VARIABLES, "sources": [*paths.values()]}
    answered = httpx.post(f"{service}/v1/gradient", json=document).json()
    for name, gradient in zip(paths, answered["gradients"], strict=True):
        assert shown(page, name, "adjoint") == pytest.approx(flat(gradient), rel=1e-5)
    assert shown(page, "target loss", "value") == pytest.approx([answered["value"]], rel=1e-5)
    assert shown(page, "target loss", "adjoint") == [1]


def test_the_value_of_an_intermediate_is_its_own(tape, service):
    page = tape().page
    document = {"program": PROGRAM, "variables": VARIABLES, "outputs": {"h": "h"}}
    answered = httpx.post(f"{service}/v1/evaluate", json=document).json()
    assert shown(page, "h =", "value") == pytest.approx(answered["outputs"]["h"], rel=1e-5)


def test_values_and_adjoints_follow_the_variables(tape):
    opened = tape("y = x**3", '{"x": 2}')
    expect(node(opened.page, "source x").locator(".adjoint")).to_have_text("∂ 12")
    opened.write_variables('{"x": 3}')
    expect(node(opened.page, "source x").locator(".adjoint")).to_have_text("∂ 27")
    expect(node(opened.page, "target y").locator(".value")).to_have_text("27")


def test_steps_show_values_forward_then_adjoints_backward(tape):
    page = tape().page
    nodes = 11
    expect(page.locator(".node")).to_have_count(nodes)
    press(page, "Restart")
    expect(page.locator(".node .value:not(.hidden)")).to_have_count(4)
    counts = []
    for _ in range(step_count(page)):
        counts.append(
            tuple(
                page.locator(f".node .{kind}:not(.hidden)").count() for kind in ("value", "adjoint")
            )
        )
        press(page, "Step")
    forward = [(values, 0) for values in range(4, nodes + 1)]
    assert counts == [*forward, *[(nodes, adjoints) for adjoints in range(1, nodes + 1)]]
    expect(page.locator(".sentence")).to_contain_text("One sweep forward and one backward")
    expect(page.get_by_role("button", name="Step", exact=True)).to_be_disabled()
    assert "adjoint" in node(page, "source layer.w").get_attribute("aria-label")


def test_a_step_says_what_it_does_and_lights_its_edges(tape):
    page = tape("a = x * w\ny = sin(a) + x", '{"x": 2, "w": 3}').page
    sentence = page.locator(".sentence")
    press(page, "Restart")
    press(page, "Step")
    expect(sentence).to_have_text("Forward: a = x · w is computed from x and w.")
    expect(page.locator(".lit.forward")).to_have_count(2)
    for text, edges in [
        ("y is the target. Its derivative with respect to itself is 1.", 0),
        (
            "the adjoint of v₃ is that of y times the derivative of y = v₃ + x with respect to v₃.",
            1,
        ),
        (
            "the adjoint of a is that of v₃ times the derivative of v₃ = sin(a) with respect to a.",
            1,
        ),
    ]:
        while text not in sentence.text_content():
            press(page, "Step")
        expect(sentence).to_have_text(f"Backward: {text}")
        expect(page.locator(".lit.backward")).to_have_count(edges)
    press(page, "Back")
    expect(sentence).to_contain_text("the adjoint of v₃ is")


def test_it_plays_to_its_end_in_six_seconds_and_pauses(tape):
    opened = tape(movable=True)
    page = opened.page
    press(page, "Play")
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    press(page, "Pause")
    at = page.locator(".player input").input_value()
    opened.later(600)
    assert page.locator(".player input").input_value() == at
    press(page, "Play")
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    assert page.locator(".player input").input_value() == str(step_count(page))
    expect(page.locator(".node .adjoint.hidden")).to_have_count(0)


def test_nothing_moves_by_itself_where_that_is_not_wanted(tape):
    page = tape(reduced_motion="reduce").page
    expect(page.get_by_role("button", name="Step", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Play")).to_have_count(0)
    press(page, "Restart")
    press(page, "Step")
    moving = page.locator(".flow, .node text").evaluate_all(
        "parts => parts.map(part => getComputedStyle(part)).filter("
        "style => style.animationName !== 'none' || style.transitionDuration !== '0s').length"
    )
    assert page.locator(".flow").count() > 0
    assert moving == 0


def test_a_node_shows_its_line_and_its_instructions(tape):
    page = tape().page
    node(page, "h =").hover()
    expect(page.locator(".cm-pointed")).to_have_text("h = tanh(x @ layer.w + layer.b)")
    expect(page.locator(".node.pointed")).to_have_count(1)
    rows = page.get_by_label("Instructions", exact=True).locator("tr.pointed")
    expect(rows.filter(has_text="tanh(")).to_have_count(1)
    expect(rows.filter(has_text="∂")).not_to_have_count(0)
    page.mouse.move(1, 1)
    expect(page.locator(".cm-pointed, .pointed")).to_have_count(0)


def test_an_instruction_shows_its_line_and_its_node(tape):
    page = tape().page
    page.locator("tr", has_text="tanh(").hover()
    expect(page.locator(".cm-pointed")).to_contain_text("tanh")
    expect(page.locator(".node.pointed")).to_have_count(1)
    expect(page.locator(".node.pointed")).to_contain_text("h = tanh")


def test_a_line_shows_its_nodes_and_its_instructions(tape):
    page = tape().page
    page.locator(".cm-line", has_text="loss").hover()
    titles = page.locator(".node.pointed .title")
    expect(titles).to_have_text(["v₇ = h − y", "v₉ = v₇ ** 2", "v₁₀ = sum(v₉)", "loss = v₁₀ / 2"])
    lines = page.get_by_label("Instructions", exact=True).locator("tr.pointed td:nth-child(4)")
    assert set(lines.all_text_contents()) == {"2"}


def test_arrow_keys_go_along_edges(tape):
    page = tape().page
    expect(page.locator(".node")).to_have_count(11)
    entry = page.locator('.node[tabindex="0"]')
    expect(entry).to_have_count(1)
    entry.focus()
    page.keyboard.press("End")
    focused = page.locator(".node:focus")
    expect(focused).to_have_attribute("aria-label", re.compile("^target loss"))
    for title in ("v₁₀ =", "v₉ =", "v₇ ="):
        page.keyboard.press("ArrowUp")
        expect(focused).to_have_attribute("aria-label", re.compile(f"^{title}"))
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowRight")
    expect(focused).to_have_attribute("aria-label", re.compile("^h ="))
    expect(page.locator(".cm-pointed")).to_contain_text("tanh")
    page.keyboard.press("ArrowLeft")
    expect(focused).to_have_attribute("aria-label", re.compile("^y,"))
    page.keyboard.press("ArrowDown")
    expect(focused).to_have_attribute("aria-label", re.compile("^v₇ ="))


def test_a_table_has_all_nodes(tape):
    page = tape().page
    page.get_by_text("All 12 nodes as a table").click()
    rows = page.get_by_label("Nodes", exact=True).locator("tbody tr")
    expect(rows).to_have_count(12)
    expect(rows.filter(has_text="layer.w").first).to_contain_text("[−3.45219, −4.60292]")


def test_instructions_have_costs_and_by_one_click_times(tape):
    opened = tape()
    page = opened.page
    table = page.get_by_label("Instructions, as a table")
    row = table.locator("tr", has_text="tanh(")
    expect(row).to_contain_text("float64[2]")
    expect(row.locator(".count").nth(1)).to_have_text("16")
    expect(page.get_by_text("recorded 12 → differentiated 24 → optimised")).to_be_visible()
    expect(table.locator(".derivative .mark")).not_to_have_count(0)
    expect(row.locator(".seconds")).to_have_text("")
    press(page, "Measure")
    expect(row.locator(".seconds")).to_contain_text("µs")
    expect(page.locator(".measured")).to_contain_text("in all")
    opened.write(PROGRAM + " * 2")
    expect(page.locator(".measured")).not_to_contain_text("in all")


def test_rows_are_reached_by_arrow_keys(tape):
    page = tape().page
    rows = page.get_by_label("Instructions, as a table").locator("tr[data-index]")
    rows.first.focus()
    for _ in range(4):
        page.keyboard.press("ArrowDown")
    expect(rows.nth(4)).to_be_focused()
    expect(page.locator(".cm-pointed")).to_contain_text("tanh")
    page.keyboard.press("ArrowUp")
    expect(rows.nth(3)).to_be_focused()


def test_the_drawing_is_zoomed_and_fitted(tape):
    page = tape().page
    drawing = page.locator("svg")
    width = drawing.bounding_box()["width"]
    press(page, "Larger")
    press(page, "Larger")
    box = node(page, "target loss").bounding_box()
    press(page, "Larger")
    larger = node(page, "target loss").bounding_box()
    assert larger["width"] == pytest.approx(1.25 * box["width"], rel=0.02)
    press(page, "Fit")
    assert drawing.bounding_box()["width"] == width


def test_it_is_asked_only_while_it_is_shown(tape, visit):
    opened = visit()
    expect(opened.page.get_by_label("Value", exact=True)).to_contain_text("0.716854")
    assert explained(opened) == []
    opened.page.get_by_role("tab", name="Tape").click()
    expect(node(opened.page, "target loss")).to_be_visible()
    assert len(explained(opened)) == 1
    opened.page.get_by_role("tab", name="Answer").click()
    opened.write(PROGRAM + " + 1")
    expect(opened.page.get_by_label("Value", exact=True)).to_contain_text("1.71685")
    assert len(explained(opened)) == 1


def test_a_problem_has_its_line_and_the_last_graph_stays(tape):
    opened = tape()
    expect(node(opened.page, "target loss")).to_be_visible()
    opened.write("a = 1\nfoo(x)")
    expect(opened.page.locator(".tape").get_by_role("alert")).to_contain_text("line 2")
    expect(node(opened.page, "target loss")).to_be_visible()


def test_without_derivatives_there_are_values_alone(tape):
    page = tape("y = x**2", '{"x": 3}').page
    page.get_by_label("Compute the").select_option("evaluate")
    expect(page.locator(".sentence")).to_contain_text("There is no sweep backward")
    expect(node(page, "target y").locator(".value")).to_have_text("9")
    expect(page.locator(".node .adjoint:not(.hidden)")).to_have_count(0)


def test_other_derivatives_show_the_gradient_of_the_sum(tape):
    opened = tape("y = x**2", '{"x": [3, 4]}')
    page = opened.page
    for query, x in ("jacobian", 3), ("hessian", 5):
        opened.write_variables(f'{{"x": [{x}, 4]}}')
        page.get_by_label("Compute the").select_option(query)
        expect(page.locator(".legend").first).to_contain_text("the sum of the target's elements")
        expect(node(page, "source x").locator(".adjoint")).to_have_text(f"∂ [{2 * x}, 8]")


LINES = "\n".join(f"s = s + sin(s * w) * {i}" for i in range(1, 101))
LOOP = "s = x\nfor i in range(200):\n    s = s + sin(s) * w\ny = s"


@pytest.mark.parametrize(
    ("program", "drawn"),
    [(f"s = x\n{LINES}", "of"), (LOOP, "")],
)
def test_of_long_programs_few_nodes_are_drawn(tape, program, drawn):
    page = tape(program, '{"x": 0.5, "w": 0.01}').page
    expect(node(page, "source x").locator(".adjoint")).to_be_visible()
    expect(page.locator(".node")).not_to_have_count(0)
    assert page.locator(".node").count() <= 60
    if drawn:
        expect(page.locator(".legend").first).to_contain_text("with names are drawn")
        page.locator("summary").click()
        page.get_by_role("button", name=re.compile("^Show .* more")).first.click()
    node(page, "source x").hover()
    expect(page.locator(".node.pointed")).to_have_count(1)


def test_too_many_named_values_are_a_table(tape):
    program = "\n".join(["a0 = x", *[f"a{i} = sin(a{i - 1})" for i in range(1, 90)]])
    page = tape(program, '{"x": 0.5}').page
    expect(page.get_by_text("too many to draw")).to_contain_text("The program has 90 nodes")
    expect(page.locator(".node")).to_have_count(0)
    page.locator("summary").click()
    expect(page.get_by_label("Nodes", exact=True).locator("tr[data-index]")).to_have_count(90)


def test_axe_finds_nothing_in_an_opened_table_beside_measured_times(tape):
    opened = tape(viewport=PHONE)
    page = opened.page
    press(page, "Measure")
    expect(page.locator(".measured")).to_contain_text("in all")
    page.locator("summary").click()
    press(page, "Back")
    assert_accessible(opened)
