"""The examples of the page: each is answered, and right."""

import base64
import json
import re
import subprocess
from pathlib import Path

import httpx
import numpy as np
import pytest
from playwright.sync_api import expect
from scipy.special import ellipk
from scipy.stats import norm

PAGE = Path(__file__).parents[2] / "clients/page"
COUNT = 12


@pytest.fixture(scope="module")
def examples():
    """Titles, texts, queries and requests, by the page's own code."""
    if not (PAGE / "node_modules/.made").exists():
        pytest.skip("the page's tools are not installed: make page")
    bundle = ["node_modules/.bin/esbuild", "tests/requests.ts", "--bundle", "--log-level=warning"]
    flags = ["--format=esm", "--platform=node"]
    script = subprocess.run([*bundle, *flags], cwd=PAGE, capture_output=True, check=True).stdout
    node = ["node", "--input-type=module", "-"]
    return json.loads(subprocess.run(node, input=script, capture_output=True, check=True).stdout)


@pytest.fixture
def answered(examples, service):
    """The request and the answer of the example with this title."""

    def answer(title, path=None, **fields):
        (example,) = (one for one in examples if one["title"] == title)
        url = f"{service}/v1/{path or example['query']}"
        reply = httpx.post(url, json={**example["request"], **fields}, timeout=None)
        assert reply.status_code == 200, reply.text
        return example["request"]["variables"], reply.json()

    return answer


def nulls(tree):
    """How many leaves are null."""
    if isinstance(tree, dict | list):
        return sum(nulls(part) for part in (tree.values() if isinstance(tree, dict) else tree))
    return int(tree is None)


@pytest.mark.parametrize("number", range(COUNT))
def test_an_example_is_answered_without_any_complaint(examples, service, number):
    example = examples[number]
    query = example["query"]
    reply = httpx.post(f"{service}/v1/{query}", json=example["request"], timeout=None)
    answer = reply.json()
    assert reply.status_code == 200, answer
    assert not {"nonfinite", "warnings"} & set(answer), answer
    derivative = answer["gradients" if query == "gradient" else query]
    # One example is about gradients that are null.
    assert nulls(derivative) == len(answer.get("unconnected", {}))
    assert (nulls(derivative) == 2) == (example["title"] == "Robust least squares")
    if query == "gradient":
        checked = httpx.post(f"{service}/v1/check", json=example["request"], timeout=None).json()
        assert checked["ok"], checked["checks"]


def test_all_have_a_title_and_two_sentences(examples):
    assert len({example["title"] for example in examples}) == len(examples) == COUNT
    for example in examples:
        sentences = re.split(r"(?<=[.!?])\s", example["about"])
        assert len(sentences) == 2, example["about"]
        assert all(sentence.endswith(".") for sentence in sentences)


def test_black_scholes_has_the_textbooks_greeks(answered):
    given, answer = answered("Black–Scholes Greeks")
    spot, strike, sigma, rate, years = (
        given[name] for name in ("spot", "strike", "volatility", "rate", "years")
    )
    d1 = (np.log(spot / strike) + (rate + sigma**2 / 2) * years) / (sigma * np.sqrt(years))
    d2 = d1 - sigma * np.sqrt(years)
    discounted = strike * np.exp(-rate * years)
    decay = spot * norm.pdf(d1) * sigma / (2 * np.sqrt(years)) + rate * discounted * norm.cdf(d2)
    greeks = {
        "spot": norm.cdf(d1),
        "volatility": spot * norm.pdf(d1) * np.sqrt(years),
        "rate": years * discounted * norm.cdf(d2),
        "years": decay,
        "strike": -np.exp(-rate * years) * norm.cdf(d2),
    }
    assert answer["value"] == pytest.approx(spot * norm.cdf(d1) - discounted * norm.cdf(d2))
    assert answer["gradients"] == pytest.approx(greeks)
    _, second = answered("Black–Scholes Greeks", "hessian", sources="spot")
    assert second["hessian"] == pytest.approx(norm.pdf(d1) / (spot * sigma * np.sqrt(years)))


def test_the_pendulum_has_the_period_of_the_elliptic_integral(answered):
    given, answer = answered("A pendulum with while")
    swing = 4 * np.sqrt(given["length"] / given["gravity"])
    assert answer["value"] == pytest.approx(swing * ellipk(np.sin(given["angle"] / 2) ** 2))


def test_keplers_equation_is_solved_and_differentiated(answered):
    given, answer = answered("An implicit function")
    time, eccentricity = given["time"], given["eccentricity"]
    anomaly = time
    for _ in range(200):
        anomaly = time + eccentricity * np.sin(anomaly)
    slope = 1 / (1 - eccentricity * np.cos(anomaly))
    x, y = answer["value"]
    assert x == pytest.approx(np.cos(anomaly) - eccentricity)
    assert y == pytest.approx(np.sqrt(1 - eccentricity**2) * np.sin(anomaly))
    assert answer["jacobian"]["time"][0] == pytest.approx(-np.sin(anomaly) * slope)


def test_the_sparse_hessian_has_three_diagonals(answered):
    _, answer = answered("A sparse Hessian")
    matrix = np.array(answer["hessian"]["x"]["x"])
    apart = abs(np.subtract.outer(range(24), range(24)))
    assert ((matrix != 0) == (apart <= 1)).all()
    np.testing.assert_allclose(matrix, matrix.T)


def test_the_gaussian_process_has_the_density_of_its_normal(answered):
    given, answer = answered("Gaussian process")
    t, noise = (np.frombuffer(bytes_of(given[name])) for name in ("t", "noise"))
    length, amplitude, deviation = (
        np.exp(given[f"log_{name}"]) for name in ("length", "amplitude", "deviation")
    )
    apart = t[:, None] - t[None, :]
    kernel = amplitude**2 * np.exp(-(apart**2) / (2 * length**2)) + deviation**2 * np.eye(40)
    y = np.sin(6 * t) + 0.3 * noise
    exponent = y @ np.linalg.solve(kernel, y) + np.linalg.slogdet(kernel)[1]
    assert answer["value"] == pytest.approx(-0.5 * (exponent + 40 * np.log(2 * np.pi)))


def bytes_of(leaf):
    """The bytes of a leaf."""

    return base64.b64decode(leaf["base64"])


def open_example(opened, title):
    """Open an example from the menu."""
    opened.page.get_by_role("button", name="Examples").click()
    opened.page.get_by_role("dialog", name="Examples").get_by_role("button", name=title).click()


def test_the_menu_opens_an_example_and_nothing_typed_is_lost(visit):
    opened = visit(movable=True)
    page = opened.page
    program = page.get_by_role("textbox", name="Program")
    opened.write("sum(x) * 42")
    # What follows within half a second is undone together with it.
    opened.later(600)
    open_example(opened, "Rosenbrock")
    expect(page.get_by_label("Value", exact=True)).to_contain_text("24.2")
    expect(page.locator(".about")).to_contain_text("both gradients vanish")
    program.press("Control+z")
    expect(program).to_contain_text("sum(x) * 42")
    program.press("Control+y")
    expect(program).to_contain_text("valley")
    page.go_back()
    expect(program).to_contain_text("sum(x) * 42")


def test_the_menu_works_by_keyboard(visit):
    page = visit().page
    page.get_by_role("button", name="Examples").focus()
    page.keyboard.press("Enter")
    menu = page.get_by_role("dialog", name="Examples")
    expect(menu.get_by_role("button")).to_have_count(COUNT)
    page.keyboard.press("Escape")
    expect(menu).to_be_hidden()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Value", exact=True)).to_contain_text("24.2")


def test_an_example_is_shown(visit):
    opened = visit()
    value = opened.page.get_by_label("Value", exact=True)
    expect(value).to_contain_text("0.716854")
    for title in ("Logistic regression", "A sparse Hessian", "Robust"):
        before = value.inner_text()
        open_example(opened, title)
        expect(opened.page.locator(".about")).to_contain_text(title)
        expect(value).not_to_have_text(before)
        expect(opened.page.get_by_role("alert")).to_have_count(0)
