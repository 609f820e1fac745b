"""Prefixes choose where names come from."""

import numpy as np
import pytest
import scipy.linalg
from gradwire_engine.catalogue import catalogue
from gradwire_engine.dialects import DIALECTS
from gradwire_engine.errors import BadArgument, UnknownOperation
from gradwire_engine.frontends.text import parse_text
from numpy.testing import assert_allclose

X = np.array([[0.5, -1.5], [1.0, 0.25]])
S = np.array([[2.0, 0.5], [0.5, 1.0]])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("scipy.linalg.cholesky(s)", np.linalg.cholesky(S).T),
        ("scipy.linalg.cholesky(s, True)", np.linalg.cholesky(S)),
        ("np.linalg.cholesky(s)", np.linalg.cholesky(S)),
        ("scipy.linalg.norm(x) + jnp.linalg.norm(x)", 2 * np.linalg.norm(X)),
        ("scipy.linalg.svd(s)[1] - scipy.linalg.svd(s, compute_uv=False)", [0, 0]),
        ("scipy.linalg.svd(x[:1])[2].shape[0] + torch.linalg.svd(x[:1])[2].shape[0]", 4),
        ("scipy.linalg.eigh(s, eigvals_only=True)", np.linalg.eigvalsh(S)),
        ("scipy.linalg.eigh(s, 2.0 * s + x.T @ x)[0]", scipy.linalg.eigvalsh(S, 2 * S + X.T @ X)),
        ("scipy.linalg.eigvalsh(s, s)", [1, 1]),
        ("scipy.linalg.qr(s)[1] - np.linalg.qr(s)[1]", 0 * S),
        ("scipy.linalg.qr(x, mode='economic')[0] @ scipy.linalg.qr(x, mode='r')[0]", X),
        ("scipy.linalg.solve(s, x, assume_a='pos')", np.linalg.solve(S, X)),
        ("scipy.linalg.solve(s, x, True, assume_a='sym')", np.linalg.solve(S, X)),
        ("abs(scipy.fft.fft(x) + np.fft.fft(x))", 2 * np.abs(np.fft.fft(X))),
        ("scipy.special.softmax(x)", np.exp(X) / np.exp(X).sum()),
        ("special.log_softmax(x)", X - np.log(np.exp(X).sum())),
        ("scipy.special.logsumexp(x, 0, [[2.0, 1.0]])", np.log((np.exp(X) * [2, 1]).sum(0))),
        ("special.expit(x)", 1 / (1 + np.exp(-X))),
        ("scipy.linalg.cho_solve((np.linalg.cholesky(s), True), x)", np.linalg.solve(S, X)),
        ("torch.pi + tf.constant(1.0)", np.pi + 1),
        ("[f(s[0, 0]) for f in [torch.neg, np.square, tf.square]]", [-2, 4, 4]),
    ],
)
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
