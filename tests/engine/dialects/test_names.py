"""Prefixes choose where names come from."""

import numpy as np
import pytest
from gradwire_engine.catalogue import catalogue
from gradwire_engine.dialects import DIALECTS
from gradwire_engine.errors import BadArgument, UnknownOperation
from gradwire_engine.frontends.text import parse_text
from numpy.testing import assert_allclose

from tests.tables import cases

X = np.array([[0.5, -1.5], [1.0, 0.25]])
S = np.array([[2.0, 0.5], [0.5, 1.0]])


@cases("text, expected")
def test_value(ask, text, expected):
    assert_allclose(np.asarray(ask.value(text, {"x": X, "s": S})), expected, atol=1e-14)


def test_graphs_have_prefixed_names_too(ask):
    node = {"id": "z", "op": "tf.reduce_sum", "args": ["x"], "attrs": {"axis": 1}}
    program = {"nodes": [node], "outputs": "z"}
    assert_allclose(ask.value(program, {"x": X}), X.sum(1))


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("tf.reduce_summ(x)", "did you mean tf.reduce_sum?"),
        ("F.smooth_l1_los(x, x)", "did you mean torch.nn.functional.smooth_l1_loss?"),
        ("tf.logaddexp(x, x)", "without a prefix there is logaddexp"),
        ("np.tanhh(x)", "did you mean tanh?"),
    ],
)
def test_unknown_names_say_so_with_the_closest_of_the_dialect(ask, text, hint):
    with pytest.raises(UnknownOperation) as caught:
        ask.value(text, {"x": X})
    assert caught.value.hint == hint


@pytest.mark.parametrize(
    "text",
    [
        "tf.reduce_sum(x, dim=1)",
        "torch.sum(x, axes=1)",
        "torch.softmax(x)",
        "tf.gather(x, [0], batch_dims=1)",
        "tf.split(x, [1, 2])",
        "torch.split(x, 0)",
        "torch.chunk(x, 0)",
        "torch.split(x, [3])",
        "torch.topk(x, 3)",
        "tf.matmul(x, x, transpose_a=True, adjoint_a=True)",
        "tf.add_n(x[0, 0])",
        "F.mse_loss(x, x, reduction='most')",
        "torch.narrow(x, 0, 1, 2)",
        "tf.slice(x, [0], [1])",
        "tf.slice(x, [0, 1], [1, 3])",
        "F.pad(x, (1, 2, 3))",
    ],
)
def test_what_a_library_does_not_take_is_refused(ask, text):
    with pytest.raises(BadArgument):
        ask.value(text, {"x": X})


def test_a_variable_may_be_called_like_a_prefix(ask):
    assert ask.value("F = 3\nF * 2") == 6


@pytest.mark.thorough
def test_the_catalogue_lists_the_names_of_each_dialect():
    entries = {entry["name"]: entry for entry in catalogue()}
    assert len(entries) == len(catalogue())
    written = entries["sum"]["dialects"]
    assert "torch.sum(input, dim=None, keepdim=False, *, dtype=None)" in written
    assert "tf.math.reduce_sum(input_tensor, axis=None, keepdims=False)" in written
    own = entries["torch.nn.functional.cross_entropy"]
    assert own["family"] == "torch"
    assert own["doc"]
    assert "tf.linalg.matmul" in entries["tf.matmul"]["aliases"]
    listed = {alias for entry in catalogue() for alias in [entry["name"], *entry["aliases"]]}
    listed |= {text.partition("(")[0] for entry in catalogue() for text in entry["dialects"]}
    assert listed >= {name for dialect in DIALECTS for name in dialect.functions}


def test_every_listed_name_can_be_called_in_a_text():
    entries = catalogue()
    listed = {name for entry in entries for name in [entry["name"], *entry["aliases"]]}
    dotted = [name for name in listed if "." in name]
    program = parse_text("\n".join(f"{name}()" for name in dotted))
    assert [node.value[0] for node in program.body.nodes if node.kind == "call"] == dotted


def test_a_variable_may_be_called_like_a_family_of_functions(ask):
    assert ask.value("signal.sum() + signal.shape[0]", {"signal": X}) == X.sum() + 2
