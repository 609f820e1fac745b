"""Typing a program: its answer appears, and its problems."""

from playwright.sync_api import expect

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
    page = visit().page
    page.get_by_role("textbox", name="Program").press("Control+a")
    page.keyboard.type("logsume")
    option = page.get_by_role("option", name="logsumexp")
    expect(option.first).to_be_visible()
    # A key that comes right after the list is one that was meant for the text.
    page.wait_for_timeout(100)
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


def test_a_value_that_is_not_finite_has_its_place(visit):
    opened = visit()
    opened.page.get_by_label("with respect to").fill("")
    opened.write_variables('{"p": [0, 0.5, 0.5]}')
    opened.write("a = 1\n-sum(p * log(p))")
    warning = opened.page.get_by_text("Not finite in the value")
    expect(warning).to_be_visible()
    expect(opened.page.get_by_text("xlogy(x, y) is x * log(y)").first).to_be_visible()


def test_variables_that_are_not_json_are_underlined_and_kept(visit):
    opened = visit()
    opened.write_variables('{"x": [1, 2}')
    expect(opened.page.locator(".variables .cm-lintRange-error")).to_have_count(1)


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


def test_a_damaged_link_says_so(visit):
    opened = visit("#v1=abc")
    expect(opened.page.locator(".notice")).to_contain_text("The link is damaged")
