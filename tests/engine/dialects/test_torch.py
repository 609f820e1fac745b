"""PyTorch's names compute what PyTorch says they do."""

import itertools

import numpy as np
import pytest
from gradwire_engine import Leaf
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import multigammaln, polygamma

X = np.array([[0.5, -1.5, 2.0], [1.0, 0.25, -0.75]])
Y = np.array([[1.0, 2.0, -1.0], [0.5, 3.0, 4.0]])
V = np.array([3.0, 1.0, 2.0])
S = np.array([[2.0, 0.5], [0.5, 1.0]])
P = np.array([[0.2, 0.3, 0.5], [0.6, 0.4, 0.0]])
K = np.array([2, 0])
VARIABLES = {"x": X, "y": Y, "v": V, "s": S, "p": P, "k": K}


def softplus(x):
    return np.log1p(np.exp(x))


def log_softmax(x, axis=-1):
    return x - np.log(np.exp(x).sum(axis, keepdims=True))


D = np.abs(X - Y)
HUBER = np.where(D < 2, D**2 / 2, 2 * (D - 1))
BCE = P * softplus(-X) + (1 - P) * softplus(X)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("torch.sum(x, dim=1)", X.sum(1)),
        ("torch.sum(x, 1, True)", X.sum(1, keepdims=True)),
        ("torch.mean(x, dim=(0, 1), keepdim=True)", X.mean(keepdims=True)),
        ("torch.prod(x, 0)", X.prod(0)),
        ("torch.std(v)", V.std(ddof=1)),
        ("torch.std(x, dim=1, keepdim=True)", X.std(1, ddof=1, keepdims=True)),
        ("torch.std(x, 1, correction=0)", X.std(1)),
        ("torch.std(x, dim=1, unbiased=False)", X.std(1)),
        ("torch.std(v, False)", V.std()),
        ("torch.var(x, dim=0)", X.var(0, ddof=1)),
        ("np.std(v)", V.std()),
        ("torch.max(x)", 2.0),
        ("torch.min(x, y)", np.minimum(X, Y)),
        ("torch.max(x, 1)[0]", X.max(1)),
        ("torch.max(x, dim=1, keepdim=True)[1]", X.argmax(1)[:, None]),
        ("torch.amax(x, dim=1)", X.max(1)),
        ("torch.amin(x, 0, True)", X.min(0, keepdims=True)),
        ("torch.argmax(x, dim=1)", X.argmax(1)),
        ("torch.any(x > 1, dim=1)", (X > 1).any(1)),
        ("torch.logsumexp(x, 1)", np.log(np.exp(X).sum(1))),
        ("torch.softmax(x, dim=0)", np.exp(log_softmax(X, 0))),
        ("torch.special.log_softmax(x, 1)", log_softmax(X)),
        ("torch.cumsum(x, dim=1)", X.cumsum(1)),
        ("torch.cumprod(x, 0)", X.cumprod(0)),
        ("torch.sort(v)[1]", [1, 2, 0]),
        ("torch.topk(v, 2)[0]", [3, 2]),
        ("torch.topk(v, 2, largest=False)[0]", [1, 2]),
        ("torch.cat((x, y), dim=1)", np.concatenate([X, Y], 1)),
        ("torch.stack([x, y], dim=2)", np.stack([X, Y], 2)),
        ("torch.transpose(x, 0, 1)", X.T),
        ("torch.permute(x, (1, 0))", X.T),
        ("torch.t(x)", X.T),
        ("torch.unsqueeze(v, 1)", V[:, None]),
        ("torch.squeeze(torch.unsqueeze(v, 0), dim=0)", V),
        ("torch.flatten(x)", X.ravel()),
        ("torch.flatten(x[None], start_dim=1)", X.reshape(1, 6)),
        ("torch.flatten(x[None], 0, 1)", X),
        ("torch.reshape(x, (3, -1))", X.reshape(3, 2)),
        ("torch.clamp(x, min=0)", X.clip(min=0)),
        ("torch.clamp(x, -1, 1)", X.clip(-1, 1)),
        ("torch.where(x > 0, x, y)", np.where(X > 0, X, Y)),
        ("torch.gather(x, 1, k[:, None])", [[2.0], [1.0]]),
        ("torch.gather(x, 0, [[1, 0]])", [[1.0, -1.5]]),
        ("torch.index_select(x, 1, k)", X[:, K]),
        ("torch.take(x, [5, 0])", [-0.75, 0.5]),
        ("torch.split(v, 2)[1]", [2]),
        ("torch.split(x, [1, 2], dim=1)[1]", X[:, 1:]),
        ("torch.chunk(v, 2)[0]", [3, 1]),
        ("torch.unbind(x, dim=1)[2]", X[:, 2]),
        ("torch.flip(x, [1])", X[:, ::-1]),
        ("torch.roll(v, 1)", np.roll(V, 1)),
        ("torch.tile(v, (2,)) + torch.repeat_interleave(v, 2)", np.tile(V, 2) + np.repeat(V, 2)),
        ("torch.tril(s) + torch.triu(s, diagonal=1)", S),
        ("torch.diag(v)", np.diag(V)),
        ("torch.diag_embed(x)", [np.diag(X[0]), np.diag(X[1])]),
        ("torch.zeros(2, 3) + torch.ones((2, 3)) + torch.full((2, 3), 2.0)", np.full((2, 3), 3.0)),
        ("torch.arange(1, 7, 2)", [1, 3, 5]),
        ("torch.linspace(0, 1, steps=3)", [0, 0.5, 1]),
        ("torch.eye(2)", np.eye(2)),
        ("torch.zeros_like(x) + torch.numel(x)", np.full((2, 3), 6)),
        ("torch.meshgrid(v, [1, 2])[1]", np.meshgrid(V, [1, 2], indexing="ij")[1]),
        ("torch.tensor([1, 2], dtype=torch.long).dtype == int64", True),
        ("torch.tensor([1.0, 2.0], dtype=torch.float).dtype == float32", True),
        ("torch.add(x, y, alpha=2)", X + 2 * Y),
        ("torch.sub(x, y) + torch.mul(x, y) + torch.div(x, y)", X - Y + X * Y + X / Y),
        ("torch.pow(y * y, 1.5)", np.abs(Y) ** 3),
        ("torch.fmod(x, y)", np.fmod(X, Y)),
        ("torch.remainder(x, y)", np.mod(X, Y)),
        ("torch.lerp(x, y, 0.25)", X + 0.25 * (Y - X)),
        ("torch.addcmul(x, x, y, value=2)", X + 2 * X * Y),
        ("torch.addcdiv(x, x, y)", X + X / Y),
        ("torch.addmm(s, x, torch.t(y), beta=2, alpha=3)", 2 * S + 3 * X @ Y.T),
        ("torch.atan2(x, y)", np.arctan2(X, Y)),
        ("torch.round(x, decimals=1)", np.round(X, 1)),
        ("torch.special.expit(x)", 1 / (1 + np.exp(-X))),
        ("torch.special.xlogy(p, p + 1)", P * np.log(P + 1)),
        ("torch.mm(x, torch.t(y))", X @ Y.T),
        ("torch.bmm(x[None], torch.t(y)[None])", (X @ Y.T)[None]),
        ("torch.mv(x, v)", X @ V),
        ("torch.dot(v, v)", V @ V),
        ("torch.outer(v, v)", np.outer(V, V)),
        ('torch.einsum("ij,kj->ik", x, y)', X @ Y.T),
        ("torch.tensordot(x, y, dims=([1], [1]))", X @ Y.T),
        ("torch.norm(x)", np.linalg.norm(X)),
        ("torch.norm(x, p=1, dim=1)", np.abs(X).sum(1)),
        ("torch.norm(x, 1, (0, 1))", np.abs(X).sum()),
        ("torch.linalg.norm(x, 1)", np.linalg.norm(X, 1)),
        ("torch.linalg.vector_norm(x, 3, dim=1)", (np.abs(X) ** 3).sum(1) ** (1 / 3)),
        ("torch.linalg.matrix_norm(x)", np.linalg.norm(X)),
        ("torch.linalg.inv(s) @ torch.inverse(s)", np.linalg.inv(S @ S)),
        ("torch.linalg.det(s) + torch.logdet(s)", np.linalg.det(S) + np.log(np.linalg.det(S))),
        ("torch.logdet(-s[:1, :1])", np.nan),
        ("torch.linalg.solve(s, x)", np.linalg.solve(S, X)),
        ("torch.linalg.solve(s, torch.t(x), left=False)", np.linalg.solve(S.T, X).T),
        ("torch.linalg.solve(torch.stack([s, 2 * s]), s)", [np.eye(2)[0], np.eye(2)[1] / 2]),
        ("torch.linalg.solve_triangular(s, x, upper=True)", np.linalg.solve(np.triu(S), X)),
        (
            "torch.linalg.solve_triangular(s, torch.t(x), upper=True, left=False)",
            X.T @ np.linalg.inv(np.triu(S)),
        ),
        ("torch.linalg.cholesky(s, upper=True)", np.linalg.cholesky(S).T),
        ("torch.cholesky_solve(x, torch.linalg.cholesky(s))", np.linalg.solve(S, X)),
        ("torch.linalg.diagonal(torch.stack([s, s]))", [[2, 1], [2, 1]]),
        ("torch.polygamma(1, y * y)", polygamma(1, Y**2)),
        ("torch.mvlgamma(v + 1, p=2)", multigammaln(V + 1, 2)),
        ("torch.quantile(x, 0.5, dim=1)", np.median(X, 1)),
        ("torch.median(x)", 0.25),
        ("torch.median(x, dim=1)[0]", [0.5, 0.25]),
        ("torch.median(x, 1, keepdim=True)[1]", [[0], [1]]),
        ("torch.nansum(torch.where(x > 0, x, nan), dim=1)", [2.5, 1.25]),
        ("torch.logcumsumexp(v, dim=0)", np.log(np.cumsum(np.exp(V)))),
        ("torch.trapezoid(v, dx=2)", 2 * (1.5 + 1 + 1)),
        ("torch.cov(x)", np.cov(X)),
        ("torch.cov(x, correction=0)", np.cov(X, bias=True)),
        ("torch.searchsorted([1.0, 2.0], v, right=True)", [2, 1, 2]),
        ("torch.bucketize(v, [1.0, 2.0])", [2, 0, 1]),
        ("torch.select(x, 1, 2)", X[:, 2]),
        ("torch.narrow(x, 1, 1, 2)", X[:, 1:]),
        ("torch.masked_fill(x, x < 0, 7.0)", np.where(X < 0, 7, X)),
        ("torch.cdist(x, y)", np.linalg.norm(X[:, None] - Y[None], axis=-1)),
        ("torch.linalg.svd(s)[1] - torch.linalg.svdvals(s)", [0, 0]),
        ("torch.linalg.svd(x, full_matrices=False)[1]", np.linalg.svd(X)[1]),
        ("torch.linalg.eigh(s)[0]", np.linalg.eigvalsh(S)),
        ("torch.linalg.vander(v)", np.vander(V, increasing=True)),
        ("torch.matrix_exp(torch.diag(v))", np.diag(np.exp(V))),
        ("torch.linalg.lstsq(s, x)[0]", np.linalg.solve(S, X)),
        ("F.embedding(k, torch.t(x))", X.T[K]),
        ("F.cosine_similarity(x, x)", [1, 1]),
        ("F.pad(x, (1, 0, 0, 2), value=3.0)", np.pad(X, ((0, 2), (1, 0)), constant_values=3)),
        ("torch.abs(torch.fft.fft(x, dim=0))", np.abs(np.fft.fft(X, axis=0))),
        ("torch.fft.irfft(torch.fft.rfft(v, 4))", [3, 1, 2, 0]),
        ("torch.real(torch.fft.fft2(x))", np.fft.fft2(X).real),
        ("torch.real(torch.fft.ifftn(x, dim=(1,)))", np.fft.ifft(X).real),
        ("torch.fft.fftshift(x, dim=1)", np.fft.fftshift(X, 1)),
        ("F.relu(x)", np.maximum(X, 0)),
        ("torch.nn.functional.leaky_relu(x)", np.where(X > 0, X, 0.01 * X)),
        ("F.elu(x, alpha=2.0)", np.where(X > 0, X, 2 * np.expm1(X))),
        ("F.softplus(x)", softplus(X)),
        ("F.softplus(x, beta=2)", softplus(2 * X) / 2),
        ("F.softplus(x, threshold=1)", np.where(X > 1, X, softplus(X))),
        ("F.gelu(x, approximate='tanh') - gelu(x, 'tanh')", 0 * X),
        ("F.gelu(x) - gelu(x)", 0 * X),
        ("F.silu(x)", X / (1 + np.exp(-X))),
        ("F.mish(x)", X * np.tanh(softplus(X))),
        ("F.softsign(x)", X / (1 + np.abs(X))),
        ("F.logsigmoid(x)", -softplus(-X)),
        ("F.tanhshrink(x)", X - np.tanh(X)),
        ("F.softmin(x, dim=1)", np.exp(log_softmax(-X))),
        ("F.softmin([[0.5, -1.5]], 1)", np.exp(log_softmax(-X[:1, :2]))),
        ("F.glu(v[:2], 0)", [3 / (1 + np.exp(-1))]),
        ("F.linear(x, y, [1.0, 2.0])", X @ Y.T + [1, 2]),
        ("F.normalize(x)", X / np.linalg.norm(X, axis=1, keepdims=True)),
        ("F.one_hot(k, 3)", np.eye(3)[K]),
        ("F.cross_entropy(x, k)", -log_softmax(X)[[0, 1], K].mean()),
        ("F.cross_entropy(x, k, reduction='sum')", -log_softmax(X)[[0, 1], K].sum()),
        ("F.cross_entropy(x, p)", -(P * log_softmax(X)).sum(1).mean()),
        (
            "F.cross_entropy(x, k, label_smoothing=0.3)",
            -((0.7 * np.eye(3)[K] + 0.1) * log_softmax(X)).sum(1).mean(),
        ),
        ("F.cross_entropy(x[0], k[0])", -log_softmax(X)[0, 2]),
        ("F.nll_loss(torch.log_softmax(x, 1), k)", -log_softmax(X)[[0, 1], K].mean()),
        ("F.mse_loss(x, y)", ((X - Y) ** 2).mean()),
        ("F.mse_loss(x, y, reduction='none')", (X - Y) ** 2),
        ("F.l1_loss(x, y, reduction='sum')", D.sum()),
        ("F.huber_loss(x, y, delta=2.0)", HUBER.mean()),
        ("F.smooth_l1_loss(x, y, beta=2.0)", HUBER.mean() / 2),
        ("F.binary_cross_entropy_with_logits(x, p)", BCE.mean()),
        (
            "F.binary_cross_entropy_with_logits(x, p, pos_weight=v, reduction='none')",
            V * P * softplus(-X) + (1 - P) * softplus(X),
        ),
        ("F.binary_cross_entropy(torch.sigmoid(x), p)", BCE.mean()),
        (
            "F.kl_div(torch.log_softmax(x, 1), p[:, :2] @ [[0, 1, 0], [0, 0, 1.0]])",
            (
                np.array(
                    [[0, 0.2 * np.log(0.2), 0.3 * np.log(0.3)]] * 1
                    + [[0, 0.6 * np.log(0.6), 0.4 * np.log(0.4)]]
                )
                - np.array([[0, 0.2, 0.3], [0, 0.6, 0.4]]) * log_softmax(X)
            ).mean(),
        ),
        (
            "F.layer_norm(x, [3])",
            (X - X.mean(1, keepdims=True)) / np.sqrt(X.var(1, keepdims=True) + 1e-5),
        ),
    ],
)
def test_value(ask, text, expected):
    found = ask.value(text, VARIABLES)
    assert_allclose(np.asarray(found), np.asarray(expected), rtol=1e-12, atol=1e-14)


def test_names_know_their_gradients(ask):
    found = ask.gradients("F.cross_entropy(x, k)", {"x": X, "k": K}, sources="x")
    assert_allclose(found, (np.exp(log_softmax(X)) - np.eye(3)[K]) / 2)
    tied = np.array([2.0, 2.0])
    assert ask.gradients("torch.amax(x, 0)", {"x": tied})["x"].tolist() == [0.5, 0.5]
    assert ask.gradients("torch.max(x, 0)[0]", {"x": tied})["x"].tolist() == [1, 0]


#: Real functions ``f`` of vectors, and their second derivatives in ``r`` and ``t``, block by block.
R, T, W = np.array([1.5, 2.0]), np.array([0.3, -0.4]), np.array([0.7, -1.2])
PRODUCTS = {
    # z = (r0 t0 t1, r1): twice into the first place.
    "t t": W[0] * R[0] * (1 - np.eye(2)),
    "r t": W[0] * np.array([T[::-1], [0, 0]]),
    "r r": np.zeros((2, 2)),
}
POLAR = {
    "r r": np.zeros((2, 2)),
    "r t": np.diag(-W * np.sin(T)),
    "t t": np.diag(-W * R * np.cos(T)),
}


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("real(torch.polar(r, t))", POLAR),
        ("torch.polar(r, t).real", POLAR),
        ("torch.index_reduce(r, 0, k, t, 'prod')", PRODUCTS),
        ("torch.scatter_reduce(r, 0, k, t, 'prod')", PRODUCTS),
    ],
)
def test_second_derivatives(ask, text, blocks):
    given = {"r": R, "t": T, "w": W, "k": np.array([0, 0])}
    answer = ask.answer(f"sum(w * {text})", given, kind="hessian", sources=["r", "t"])
    found = answer.derivatives["hessian"]
    for (i, first), (j, second) in itertools.product(enumerate("rt"), repeat=2):
        block = blocks.get(f"{first} {second}")
        expected = blocks[f"{second} {first}"].T if block is None else block
        assert_allclose(found[i][j], expected, atol=1e-14)


def test_second_derivatives_of_products_are_right_where_factors_are_0(ask):
    given = {"r": R, "t": np.array([0.0, 0.0]), "k": np.array([0, 0])}
    text = "sum(torch.index_reduce(r, 0, k, t, 'prod'))"
    answer = ask.answer(text, given, kind="hessian", sources=["t"])
    assert_allclose(answer.derivatives["hessian"][0][0], R[0] * (1 - np.eye(2)))


@pytest.mark.parametrize(
    "text", ["torch.sum(x, axis=n - 1)", "torch.sum(x, n - 1)", "sum(torch.ones(3, n), n - 2)"]
)
def test_integer_variables_are_static_wherever_they_stand(ask, text):
    found = ask.value(text, {"x": X, "n": Leaf(np.asarray(2))})
    assert_array_equal(found, X.sum(1) if "x" in text else [3, 3])
