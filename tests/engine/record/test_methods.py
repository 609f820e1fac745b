"""Methods are those of the library in which a text is written; see also the recorded answers."""

import numpy as np
import pytest
from gradwire_engine import errors
from numpy.testing import assert_allclose

from tests.tables import cases

X = np.array([[0.5, -1.5, 2.0], [1.0, 0.25, -0.75]])
VALUES = {"x": X, "F": np.diag([1.0, 2.0])}
#: Of methods that both libraries have: what NumPy's arrays give, and what PyTorch's tensors do.
DIFFERING = {
    "x.std()": (X.std(), X.std(ddof=1)),
    "x.var(0)": (X.var(0), X.var(0, ddof=1)),
    "x.max(1)[0]": (1.0 * X.max(1)[0], X.max(1)),
    "x.min(0)[1]": (X.min(0)[1], X.argmin(0)),
    "x.repeat(2, 1)": (X.repeat(2, 1), np.tile(X, (2, 1))),
    "x.sort(1)[0]": (np.sort(X, 1)[0], np.sort(X, 1)),
    "x.transpose(0, 1)": (X, X.T),
}
OF_TORCH = ["torch.abs(x)", "F.relu(x)", "nn.ReLU()", "x.exp()", "x.sum(dim=0)", "torch.pi"]
OF_NUMPY = ["np.abs(x)", "x.copy()", "F.T", "{'exp': 1.0}.exp", "x.sum(axis=0)", "math.pi"]


@pytest.mark.parametrize("text", DIFFERING)
@pytest.mark.parametrize("by_torch", [False, True])
def test_a_method_is_that_of_the_texts_library(ask, text, by_torch):
    for other in OF_TORCH if by_torch else OF_NUMPY:
        values = {**VALUES} if other == "F.T" else {"x": X}
        for program in (f"y = {other}\n{text}", f"z = {text}\ny = {other}\nz"):
            found = ask.value(program, values)
            assert_allclose(found, DIFFERING[text][by_torch], err_msg=program)


@pytest.mark.parametrize("text", DIFFERING)
def test_where_a_text_is_in_two_libraries_what_differs_is_refused(ask, text):
    with pytest.raises(errors.BadArgument, match="means one thing to NumPy's arrays") as caught:
        ask.value(f"np.sum(torch.abs(x))\n{text}", {"x": X})
    assert "torch." in (caught.value.hint or "")
    assert ask.value("np.sum(torch.abs(x)) + x.max() + x.sum(dim=0)[0]", {"x": X}) == 9.5


@cases("text, hint")
def test_what_tensors_do_elsewhere_is_refused_by_name(ask, text, hint):
    with pytest.raises(errors.EngineError) as caught:
        ask.value(text, {"x": X})
    assert hint in (caught.value.hint or "")


@cases("text, expected")
def test_everyday_numpy(ask, text, expected):
    assert_allclose(ask.value(text, {"x": X}), expected)
