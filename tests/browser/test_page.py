"""Typing a program: its answer appears, and its problems."""

import json

import numpy as np
from playwright.sync_api import expect

from tests.browser.links import text_of

FIRST = "0.716854"


def test_the_first_example_is_answered(visit):
    page = visit().page
    expect(page.get_by_label("Value", exact=True)).to_contain_text(FIRST)
    expect(page.get_by_label("Gradients", exact=True)).to_contain_text("−1.15073")


def test_what_is_typed_is_answered_in_the_sources_structure(visit):
    opened = visit()
    opened.page.get_by_label("with respect to").fill('{"a": ["x"], "b": null}')
    opened.write_variables('{"x": [1, 2], "y": 3}')
    opened.write("sum(x**2) * y")
    gradients = opened.page.get_by_label("Gradients", exact=True)
    expect(gradients).to_contain_text("[6, 12]")
    expect(gradients.locator("dt")).to_have_text(["a", "[0]", "b"])


def test_an_answer_follows_each_key(visit):
    opened = visit()
    opened.page.get_by_label("with respect to").fill("")
    opened.write_variables('{"x": 3}')
    opened.page.get_by_role("textbox", name="Program").press("Control+a")
    opened.page.keyboard.type("x**2")
    expect(opened.page.get_by_label("Gradients", exact=True)).to_contain_text("6")
    opened.page.keyboard.type(" + x")
    expect(opened.page.get_by_label("Gradients", exact=True)).to_contain_text("7")


def test_operations_are_completed(visit):
    opened = visit(movable=True)
    page = opened.page
    page.get_by_role("textbox", name="Program").press("Control+a")
    page.keyboard.type("logsume")
    option = page.get_by_role("option", name="logsumexp")
    expect(option.first).to_be_visible()
    # A key that comes right after the list is one that was meant for the text.
    opened.later(100)
    page.keyboard.press("Enter")
    expect(page.get_by_role("textbox", name="Program")).to_contain_text("logsumexp(")


def test_a_problem_is_underlined_where_it_is_and_the_last_answer_stays(visit):
    opened = visit()
    page = opened.page
    expect(page.get_by_label("Value", exact=True)).to_contain_text(FIRST)
    opened.write("x @ layer.w\nfoo(x)")
    problem = page.get_by_role("alert")
    expect(problem).to_contain_text("line 2")
    expect(page.locator(".cm-lintRange-error")).to_have_text("foo")
    expect(page.get_by_text("The last answer:")).to_be_visible()
    expect(page.get_by_label("Value", exact=True)).to_contain_text(FIRST)


def test_a_missing_gradient_has_its_reason_and_line(visit):
    opened = visit()
    opened.page.get_by_label("with respect to").fill("")
    opened.write_variables('{"x": 2, "w": 3}')
    opened.write("y = 2\nx * stop_gradient(w) * y")
    gradients = opened.page.get_by_label("Gradients", exact=True)
    expect(gradients).to_contain_text("stop_gradient ends the path line 2")


def test_finite_differences_by_one_click(visit):
    page = visit().page
    page.get_by_role("button", name="Compare with finite differences").click()
    expect(page.locator(".check")).to_contain_text("layer.w agrees")
    expect(page.locator(".check")).to_contain_text("layer.b agrees")


def test_differences_that_are_too_coarse_are_made_finer(visit):
    opened = visit()
    page = opened.page
    page.get_by_label("with respect to").fill("")
    opened.write_variables('{"x": 1e6, "k": 0}')
    opened.write("sin(x)**2 + abs(k) + floor(k)")
    expect(page.get_by_label("Value", exact=True)).to_contain_text("0.122495")
    page.get_by_role("button", name="Compare with finite differences").click()
    expect(page.locator(".check")).to_contain_text("x agrees")
    expect(page.locator(".check")).to_contain_text("k is undecided")
    expect(page.locator(".check")).to_contain_text("decide nothing at kinks")


def test_sources_that_cannot_be_read_are_the_problem(visit):
    opened = visit()
    page = opened.page
    expect(page.get_by_label("Value", exact=True)).to_contain_text(FIRST)
    for text in ("[x, y]", '{"a": "x"', '["x",]'):
        page.get_by_label("with respect to").fill("")
        expect(page.get_by_role("alert")).to_have_count(0)
        page.get_by_label("with respect to").fill(text)
        for tab in ("Tape", "Code", "Answer"):
            page.get_by_role("tab", name=tab).click()
            expect(page.get_by_role("alert")).to_contain_text("The sources cannot be read")
    page.wait_for_url(lambda url: json.dumps(text)[1:-1] in text_of(url))
    page.reload()
    expect(page.get_by_label("with respect to")).to_have_value(text)
    page.get_by_label("Compute the").select_option("evaluate")
    expect(page.get_by_role("alert")).to_have_count(0)


def test_a_value_that_is_not_finite_has_its_place(visit):
    opened = visit()
    opened.page.get_by_label("with respect to").fill("")
    opened.write_variables('{"p": [0, 0.5, 0.5]}')
    opened.write("a = 1\n-sum(p * log(p))")
    warning = opened.page.get_by_text("Not finite in the value")
    expect(warning).to_be_visible()
    expect(opened.page.get_by_text("xlogy(x, y) is x * log(y)").first).to_be_visible()


def test_characters_of_two_units_do_not_move_a_problem(visit):
    opened = visit()
    opened.write("'😀😀'; foo(x)")
    expect(opened.page.locator(".cm-lintRange-error")).to_have_text("foo")


def test_a_click_on_a_place_goes_to_its_line(visit):
    opened = visit()
    opened.write("\n" * 300 + "foo(x)" + "\n" * 300)
    problem = opened.page.get_by_role("alert")
    problem.get_by_role("button", name="line 301").click()
    editor = opened.page.get_by_role("textbox", name="Program")
    expect(editor).to_be_focused()
    opened.page.keyboard.type("# here ")
    expect(editor).to_contain_text("# here foo(x)")


def test_all_digits_of_an_answer_can_be_read(visit):
    opened = visit()
    page = opened.page
    page.get_by_label("with respect to").fill("")
    opened.write_variables('{"x": [[[1, 2, 3]], [[4, 5, 6]]]}')
    opened.write("sum(x**3) / 7")
    page.get_by_text("All digits, as JSON").click()
    whole = page.get_by_label("The answer with all digits")
    # A gradient in three axes is shown as a picture above.
    expect(whole).to_contain_text("1.7142857142857142")
    answer = json.loads(whole.inner_text())
    assert answer["value"] == 63.0
    expected = 3 * np.array([[[1, 2, 3]], [[4, 5, 6]]]) ** 2 / 7
    np.testing.assert_allclose(answer["gradients"]["x"], expected, rtol=1e-15)


def test_large_integers_are_shown_as_they_are(visit):
    opened = visit()
    opened.page.get_by_label("with respect to").fill("")
    opened.write_variables('{"n": {"value": 123456788, "dtype": "int64"}}')
    opened.write("n + 1")
    expect(opened.page.get_by_label("Value", exact=True)).to_contain_text("123456789")


def test_the_sign_of_zero_is_sent(visit):
    opened = visit()
    opened.page.get_by_label("with respect to").fill("")
    opened.write_variables('{"x": -0.0}')
    opened.write("1 / x")
    expect(opened.page.get_by_label("Value", exact=True)).to_contain_text("−∞")


def test_variables_that_cannot_be_read_are_underlined_and_are_the_problem(visit):
    opened = visit()
    page = opened.page
    expect(page.get_by_label("Value", exact=True)).to_contain_text(FIRST)
    for text, marked in (
        ('{"x": [1, 2}', "}"),
        ('{"x": NaN}', "N"),
        ('{"x": 9007199254740993}', "9"),
    ):
        opened.write_variables(text)
        expect(page.locator(".variables .cm-lintRange-error")).to_have_text(marked)
        for tab in page.get_by_role("tab").all():
            tab.click()
            expect(page.get_by_role("alert")).to_contain_text("The variables cannot be read")
        page.get_by_role("tab", name="Answer").click()
        expect(page.get_by_text("The last answer:")).to_be_visible()


def test_a_slow_answer_is_announced_and_no_other_is_taken_for_it(visit):
    opened = visit()
    page = opened.page
    page.get_by_label("with respect to").fill("")
    opened.write_variables('{"x": 1}')
    expect(page.get_by_role("alert")).to_contain_text("'layer' is not defined")
    opened.write("for i in range(40000000):\n    x = sin(x)\nx")
    expect(page.locator(".answer").get_by_role("status").first).to_have_text("Computing…")
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(page.get_by_text("The last answer:")).to_be_visible()
    opened.write("x * 7")
    expect(page.get_by_label("Value", exact=True)).to_contain_text("7")
    expect(page.locator(".answer").get_by_role("status").first).to_have_text("")


def test_the_address_keeps_what_was_typed(visit):
    opened = visit()
    opened.page.get_by_label("with respect to").fill("")
    opened.write_variables('{"x": [1, 2]}')
    opened.write("sum(x**3)")
    expect(opened.page.get_by_label("Gradients", exact=True)).to_contain_text("[3, 12]")
    before = opened.page.url
    opened.write("sum(x**3) * 1")
    expect(opened.page).not_to_have_url(before)
    opened.page.reload()
    expect(opened.page.get_by_label("Gradients", exact=True)).to_contain_text("[3, 12]")
