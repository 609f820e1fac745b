import base64
import re
from typing import Any

import gradwire
import numpy as np
from gradwire.tracing.functions import Function

from tests.clients.display.pages import Page


def loss(w, x, y):
    h = np.tanh(x @ w["a"] + w["b"])
    if h.sum() > 0:
        h = 2 * h
    return np.mean((h - y) ** 2)


def pictures(page):
    return [
        base64.b64decode(text).decode() for text in re.findall(r"svg\+xml;base64,([^\"]*)", page)
    ]


def test_a_function_shows_its_recording_and_graph(client):
    f: Any = Function(loss, client)
    assert "loss (w, x, y) not recorded yet" in Page(f._repr_html_()).text
    f({"a": np.ones(2), "b": 0.5}, np.ones((4, 2)), np.ones(4))
    f({"a": np.ones(3), "b": 0.5}, np.ones((5, 3)), np.ones(5))
    page = Page(f._repr_html_())
    assert "recorded 2 times w_a: float64[3], w_b: float64, x: float64[5,3]" in page.text
    assert "1 decision" in page.text
    assert "np.tanh(v1)" in page.text
    (picture,) = pictures(f._repr_html_())
    assert "float64[5, 3]" in picture
    assert "target" in picture


def test_derivatives_of_functions_are_shown_like_functions(client):
    f = gradwire.grad(Function(loss, client))
    f({"a": np.ones(2), "b": 0.5}, np.ones((4, 2)), np.ones(4))
    text = Page(f._repr_html_()).text
    assert text.startswith("grad(loss) (w, x, y) recorded once")
    assert "grad(v" in text


def test_without_a_service_the_text_is_shown(client):
    f: Any = Function(lambda x: np.sin(x) ** 2, client)
    f(1.0)
    f.own_client = gradwire.Client("http://127.0.0.1:9")
    page = Page(f._repr_html_())
    assert "np.sin(x)" in page.text
    assert "no picture: no Gradwire service at http://127.0.0.1:9" in page.text
    f.own_client.close()


async def test_functions_of_an_async_client_are_not_drawn(awaiting_client):
    f: Any = Function(lambda x: np.sin(x) ** 2, awaiting_client)
    await f(1.0)
    assert "np.sin(x)" in Page(f._repr_html_()).text


def test_arrays_of_other_kinds_have_cards(client):
    ragged = gradwire.RaggedArray.of([[1.0, 2.0], [], [3.0]])
    assert Page(ragged._repr_html_()).text.startswith("RaggedArray float64[3 rows of 0…2] 1 2")
    u = np.linspace(0.0, 1.0, 1000)
    band = client.jacobian("u[1:] * u[:-1]", {"u": u}, sources="u", format="coo").jacobian
    page = Page(band._repr_html_())
    assert "SparseArray float64[999,1000], 1,998 elements" in page.text
    assert page.images == 2
