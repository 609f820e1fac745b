import dataclasses
import re

import gradwire
import numpy as np
import pytest
from gradwire.display.html import ABOVE, BELOW, ODD, Markup, element
from hypothesis import given
from hypothesis import strategies as st

from tests.clients.display.pages import Page


def page(answer) -> Page:
    return Page(answer._repr_html_())


def test_a_gradient_is_a_nested_table(client):
    layers = [{"w": np.ones((2, 3)), "b": np.zeros(3)}, {"w": np.ones(3, np.float32), "b": 0.5}]
    program = "h = tanh(x @ layers[0].w + layers[0].b)\nsum(h @ layers[1].w + layers[1].b)"
    x = {"value": np.ones((4, 2)), "trainable": False}
    answer = client.gradient(program, {"layers": layers, "x": x, "u": 3.0})
    text = page(answer).text
    assert text.startswith("Gradient of 13.57 source type at gradient norm layers.0.w float64[2,3]")
    assert "layers.1.w float32[3] 1 1 1 3.856 3.856 3.856 6.679" in text
    assert "none: the variable is not trainable" in text
    assert "h = tanh(x @ layers[0].w + layers[0].b)" in text
    times = "parse N, compile N, replay N, encode N, queue N, other N, total N ms"
    assert re.search(times.replace("N", r"[\d.]+"), text)
    assert answer.program[:15] in text
    assert answer.request_id in text


def test_matrices_are_shown_by_numbers_or_by_blocks(client):
    valley = "(1 - x)**2 + 100 * (y - x**2)**2"
    text = page(client.hessian(valley, {"x": 1.0, "y": 1.0})).text
    assert "hessian 2 × 2, eigenvalues 0.3994 … 1002 x y x 802 -400 y -400 200" in text
    polar = client.jacobian("stack([r * cos(a), r * sin(a)])", {"r": 2.0, "a": 0.5}, target=None)
    assert "jacobian 2 × 2 r a value[0]" in page(polar).text
    u = np.linspace(0.0, 1.0, 1000)
    band = client.jacobian("u[1:] * u[:-1]", {"u": u}, sources="u", format="coo")
    assert "jacobian 999 × 1,000" in page(band).text
    x = np.arange(40.0)
    blocks = client.hessian("sum(x**2) * s", {"x": x, "s": 1.0})
    assert "x s x 0 … 2, mean 0.05" in page(blocks).text


def test_a_hessian_of_many_sources_is_a_table_of_gradients(client):
    many = {f"k{i}": np.ones(3) for i in range(9)}
    answer = client.hessian(" + ".join(f"sum({name}**2)" for name in many), many)
    assert "hessian 27 × 27, eigenvalues 2 … 2" in page(answer).text
    assert "k8 float64[3] 1 1 1 2 2 2 3.464" in page(answer).text


def test_checks_show_right_wrong_and_undecided(client):
    right = client.check("sum(x**2)", {"x": [1.0, 2.0]})
    assert "Check of 5: all right" in page(right).text
    double = "sum(custom_gradient(lambda x: x, lambda z_bar, z, x: 2 * z_bar)(x))"
    wrong = page(client.check(double, {"x": [1.0, 2.0]})).text
    assert "Check of 3: WRONG" in wrong
    assert " WRONG, error 1 at " in wrong
    tie = client.check("max(maximum(a, b))", {"a": [1.0, 2.0], "b": [1.0, 2.0]})
    assert not tie.ok
    assert "Check of 2: undecided" in page(tie).text
    assert " undecided, error 0.5 at [1]" in page(tie).text


def test_words_are_separated_without_the_style(client):
    """Spaces in the text must separate them; ``Page`` checks this in all these tests."""
    answer = client.hessian("sum(x**3)", {"x": np.arange(1.0, 3.0)})
    plain = re.sub(r"<style>.*?</style>|<[^>]*>", "", answer._repr_html_())
    assert plain.startswith("Hessian of 9")
    with pytest.raises(AssertionError):
        Page("<div><span>Hessian</span><span>of</span></div>")


def test_each_kind_has_a_card(client):
    x = {"x": np.array([2.0, 3.0])}
    assert "4 9" in page(client.evaluate("x**2", x)).text
    assert "jvp norm float64[2] 4 9 8 18 19.7" in page(client.jvp("x**2", x, x)).text
    assert "4 6" in page(client.hvp("sum(x**2)", x, x)).text
    with client.tape("h = tanh(x)\nsum(h**2)", x, persistent=True) as tape:
        assert f"Tape {tape.id}, watches x" in page(tape).text
        shown = page(tape.show()).text
        assert "of a persistent tape" in shown
        assert "1 tanh 0 float64[2] 1" in shown
        assert "at gradient" not in page(tape.gradient(sources="h")).text


def test_loops_are_shown_with_their_body(client):
    program = "s = 0.0\nfor i in range(1000):\n    s = s + sin(s + x)\ns"
    with client.tape(program, {"x": 0.1}, persistent=True) as tape:
        assert " sin " in page(tape.show()).text
        assert "\N{NO-BREAK SPACE}sin " in repr(tape.show())


def test_updates_outputs_and_nonfinite_values_are_shown(client):
    program = "a = log(sum(x))\nx.assign_add([1.0, 2.0])\na + 0*sqrt(w)"
    answer = client.gradient(program, {"x": [0.0, 0.0], "w": 0.0}, outputs=["a"])
    text = page(answer).text
    assert "outputs output type value a float64 -inf" in text
    assert "updates variable type new value x float64[2] 1 2" in text
    assert "First non-finite value, forward: log" in text
    assert "line 1: a = log(sum(x))" in text
    assert "  updates\n  variable  type        new value\n" in repr(answer)


def test_warnings_are_shown_with_their_places(client):
    node = gradwire.Node("log", line=2, column=5)
    notices = tuple(gradwire.Notice(f"code_{i}", "may be <wrong>", node) for i in range(20))
    answer = client.evaluate("a = 2\nb = log(a)")
    warned = dataclasses.replace(answer, warnings=notices)
    text = page(warned).text
    assert "may be <wrong> (code_0) line 2: b = log(a) ^" in text
    assert "… and 12 more" in text
    assert "! may be <wrong> (code_0)\n  line 2: b = log(a)\n" in repr(warned)
    assert "! … and 12 more" in repr(warned)


def test_names_and_texts_are_escaped(client):
    name = "<script>alert(1)</script>"
    answer = client.gradient(
        '# <img src=x onerror="alert(1)">\nsum(x)',
        {"x": 2.0, "y": {name: 1.0, '"><b>': np.ones(3)}},
    )
    assert name in page(answer).text


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"])))
def test_all_content_of_elements_is_escaped(text):
    found = Page(element("div", text, Markup("<img>"), title=text, colspan=None))
    assert "".join(found.words) == text
    assert found.attributes == [("title", text)]


@pytest.mark.parametrize("kind", ["wide", "many", "deep", "huge"])
def test_huge_responses_have_small_cards(client, kind):
    rng = np.random.default_rng(0)
    answers = {
        "wide": lambda: client.gradient("sum(x**2)", {"x": rng.standard_normal((1000, 1000))}),
        "many": lambda: client.gradient(
            "sum(k1)", {f"k{i}": rng.standard_normal((30, 30)) for i in range(1500)}
        ),
        "deep": lambda: client.evaluate(
            "x", {"x": rng.standard_normal((300, 300))}, outputs={"a": {"b": {"c": {"d": "x"}}}}
        ),
        "huge": lambda: client.jacobian(
            "A @ x", {"A": rng.standard_normal((500, 500)), "x": np.ones(500)}, sources="x"
        ),
    }
    text = answers[kind]()._repr_html_()
    Page(text)
    assert len(text) < 300_000


def test_every_dtype_and_form_has_a_card(client):
    values = {
        "i": np.arange(30),
        "b": np.arange(40) % 3 == 0,
        "c": np.exp(1j * np.arange(600.0)).reshape(30, 20),
        "e": np.zeros((0, 3)),
        "n": np.array([[np.nan, np.inf, 1.0] * 9] * 9),
        "h": np.linspace(0, 1, 400, dtype=np.float16),
        "r": gradwire.RaggedArray.of([[1.0, 2.0], [], [3.0]]),
        "l": gradwire.RaggedArray.of([np.arange(float(n)) for n in range(50)]),
        "t": np.ones((2, 3, 4, 5)),
    }
    text = page(client.evaluate("i", values, outputs=list(values))).text
    assert "162 not finite" in text
    assert "e float64[0,3] [] []" in text
    assert "|·| 1 … 1, mean 1 [[ 1" in text
    assert "row_splits=array([0, 2, 2, 3])" in text


def test_large_arrays_open_to_their_numbers(client):
    text = page(client.evaluate("x", {"x": np.arange(30.0) / 8})).text
    assert "0 … 3.62, mean 1.81 [0. 0.125 0.25 " in text
    assert " 3.625]" in text


def test_colour_shows_sign_and_size(client):
    x = np.array([4.0, -4.0, 1.0, 0.0, np.nan])
    html = client.evaluate("x", {"x": x})._repr_html_()
    found = re.findall(r'<td title="([^"]*)"(?: style="background:rgba\(([^"]*)\)")?>', html)
    assert found == [
        ("4.0", f"{ABOVE},0.40"),
        ("-4.0", f"{BELOW},0.40"),
        ("1.0", f"{ABOVE},0.20"),  # the square root of a quarter of it
        ("0.0", ""),
        ("nan", f"{ODD},.45"),
    ]
