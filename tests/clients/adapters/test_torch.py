import subprocess
import sys

import gradwire
import gradwire.adapters.torch
import numpy as np
import pytest
import torch
from torch.func import functional_call, grad, grad_and_value, hessian, jacfwd, jacrev, jvp, vmap

# PyTorch itself uses a deprecated function for its derivative tables.
pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit.script`:DeprecationWarning")

RNG = np.random.default_rng(0)
W, X, Y = RNG.normal(size=3), RNG.normal(size=(5, 3)), RNG.normal(size=5)
TEXT = gradwire.program("mean((tanh(x @ w) - y)**2)", "w", "x", "y")


def plain(w, x, y):
    return torch.mean((torch.tanh(x @ w) - y) ** 2)


def loss(w, x, y):
    return np.mean((np.tanh(x @ w) - y) ** 2)


def curve(w, x):
    return {"h": np.tanh(x @ w), "count": np.sum(x > 0)}


def plain_curve(w, x):
    return {"h": torch.tanh(x @ w), "count": torch.sum(x > 0)}


#: Functions of Python are recorded, of text the service is asked; in most tests below, in float64.
KINDS = pytest.mark.parametrize(
    ("adapted", "tensors"), [("python", torch.float32), ("text", torch.float64)], indirect=True
)


@pytest.fixture
def tensors(request):
    return [torch.tensor(array, dtype=request.param) for array in (W, X, Y)]


@pytest.fixture
def adapted(client, request):
    f = loss if request.param == "python" else TEXT
    return gradwire.adapters.torch.function(f, client=client)


def close(a, b, **tolerances):
    assert type(a) is type(b)
    pairs = zip(a, b, strict=True) if isinstance(a, tuple) else [(a, b)]
    for one, other in pairs:
        torch.testing.assert_close(one, other, **tolerances)


@KINDS
def test_a_value_with_its_gradient_is_one_request(adapted, tensors, requests):
    w, x, y = tensors
    adapted(w, x, y)

    def gradients(f):
        u, v = w.clone().requires_grad_(), x.clone().requires_grad_()
        f(u, v, y).backward()
        return u.grad, v.grad

    with requests(1):
        found = gradients(adapted)
    close(found, gradients(plain))
    with requests(1), torch.no_grad():
        close(adapted(w.requires_grad_(), x, y), plain(w, x, y))


@KINDS
def test_transforms_of_functions_are_one_request_each(adapted, tensors, requests):
    w, x, y = tensors
    adapted(w, x, y)
    with requests(1):
        found = grad_and_value(adapted, argnums=(0, 1))(w, x, y)
    (gradients, value), (expected, also) = found, grad_and_value(plain, argnums=(0, 1))(w, x, y)
    close((*gradients, value), (*expected, also))


@KINDS
def test_a_batch_is_one_request(adapted, tensors, requests):
    w, x, y = tensors
    xs, ys = torch.stack([x, 2 * x, -x]), torch.stack([y, y, 2 * y], dim=1)
    adapted(w, x, y)
    each = [vmap(grad(f), (None, 0, 1)) for f in (adapted, plain)]
    with requests(1):
        found = each[0](w, xs, ys)
    close(found, each[1](w, xs, ys))
    total = [grad(lambda w, f=f: vmap(f, (None, 0, 1))(w, xs, ys).sum()) for f in (adapted, plain)]
    close(total[0](w), total[1](w))
    rows = [vmap(vmap(f, (None, 0, 1)), (0, None, None)) for f in (adapted, plain)]
    ws = torch.stack([w, -w])
    with requests(1):
        found = rows[0](ws, xs, ys)
    close(found, rows[1](ws, xs, ys))


@KINDS
def test_differentiating_a_gradient_takes_one_more_request(adapted, tensors, requests):
    w, x, y = tensors

    def product(f, v):
        u = w.clone().requires_grad_()
        (gradient,) = torch.autograd.grad(f(u, x, y), u, create_graph=True)
        (along,) = torch.autograd.grad(gradient @ v, u)
        return along

    product(adapted, w)
    with requests(2):
        found = product(adapted, w)
    close(found, product(plain, w))


HIGHER = {
    "hessian": hessian,
    "reverse twice": lambda f: jacrev(jacrev(f)),
    "forward twice": lambda f: jacfwd(jacfwd(f)),
    "along": lambda f: lambda w, x, y: jvp(lambda u: grad(f)(u, x, y), (w,), (w,))[1],
    "third": lambda f: grad(lambda w, x, y: torch.sum(hessian(f)(w, x, y) ** 2)),
}


@pytest.mark.parametrize("order", HIGHER)
def test_higher_order_derivatives_equal_those_of_torch(client, order):
    adapted = gradwire.adapters.torch.function(loss, client=client)
    given = [torch.tensor(array) for array in (W, X, Y)]
    close(HIGHER[order](adapted)(*given), HIGHER[order](plain)(*given))


def test_gradients_of_gradients_agree_with_differences(client):
    adapted = gradwire.adapters.torch.function(curve, client=client)
    given = [torch.tensor(array[:2]).requires_grad_() for array in (W[None, :], X)]
    arguments = (given[0][0].detach().requires_grad_(), given[1])

    def h(w, x):
        return adapted(w, x)["h"]

    torch.autograd.gradcheck(h, arguments, check_forward_ad=True)
    torch.autograd.gradgradcheck(h, arguments)


def test_arrays_and_integers_may_be_returned(client):
    w, x = (torch.tensor(array) for array in (W, X))
    found = gradwire.adapters.torch.function(curve, client=client)(w.requires_grad_(), x)
    expected = plain_curve(w, x)
    close(found["h"], expected["h"])
    close(found["count"], expected["count"])
    assert found["h"].requires_grad
    assert not found["count"].requires_grad


def test_python_numbers_take_the_dtype_of_the_tensors(client):
    adapted = gradwire.adapters.torch.function(lambda x, s: np.sum(s * x), client=client)
    for dtype in (torch.float16, torch.float32, torch.float64):
        x = torch.ones(3, dtype=dtype, requires_grad=True)
        value = adapted(x, s=0.1)
        value.backward()
        assert value.dtype == dtype
        torch.testing.assert_close(x.grad, torch.full((3,), 0.1, dtype=dtype))


def near(found, expected):
    """Equal up to a few roundings of bfloat16."""
    close(found, expected, rtol=2**-5, atol=2**-7)


def test_tensors_of_bfloat16_give_such_results_and_gradients(client):
    adapted = gradwire.adapters.torch.function(loss, client=client)
    w, x, y = [torch.tensor(array, dtype=torch.bfloat16) for array in (W, X, Y)]
    own, theirs = w.clone().requires_grad_(), w.clone().requires_grad_()
    value, expected = adapted(own, x, y), plain(theirs, x, y)
    value.backward()
    expected.backward()
    near(value.detach(), expected.detach())
    near(own.grad, theirs.grad)
    near(grad(adapted, argnums=(1, 2))(w, x, y), grad(plain, argnums=(1, 2))(w, x, y))
    near(jvp(adapted, (w, x, y), (w, x, y))[1], jvp(plain, (w, x, y), (w, x, y))[1])
    strided = x.T.contiguous().T
    batched = vmap(adapted, (None, 0, 0))(w, strided, y)
    near(batched, vmap(plain, (None, 0, 0))(w, strided, y))
    wide = gradwire.adapters.torch.function(lambda x: x.astype(np.float32), client=client)(x)
    assert (wide.dtype, wide.tolist()) == (torch.float32, x.tolist())


#: The same where NumPy has no bfloat16.
WITHOUT_ML_DTYPES = """
import sys
sys.modules["ml_dtypes"] = None
import gradwire
import gradwire.adapters.torch
import numpy as np
import torch
f = gradwire.adapters.torch.function(lambda x: 2.5 * x * x, client=gradwire.Client(sys.argv[1]))
x = torch.tensor([0.1, -3.0, float("inf")], dtype=torch.bfloat16, requires_grad=True)
y = f(x)
y.backward(torch.ones_like(y))
assert y.dtype == x.grad.dtype == torch.bfloat16
assert y.tolist() == (2.5 * x * x).tolist()
assert x.grad.tolist() == (5 * x).tolist()
number = gradwire.adapters.torch.function(np.sum, client=gradwire.Client(sys.argv[1]))(x)
assert (number.dtype, number.item()) == (torch.bfloat16, float("inf"))
"""


def test_bfloat16_needs_no_further_library(service_url):
    command = [sys.executable, "-c", WITHOUT_ML_DTYPES, service_url]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_complex_gradients_follow_torch_s_convention(client):
    adapted = gradwire.adapters.torch.function(lambda z: np.sum(np.abs(z) ** 2), client=client)
    z = torch.tensor([1 + 2j, -3j], requires_grad=True)
    adapted(z).backward()
    torch.testing.assert_close(z.grad, 2 * z.detach())


def test_modules_can_be_trained(client, requests):
    torch.manual_seed(0)
    model = torch.nn.Linear(3, 1, dtype=torch.float64)
    x, y = torch.tensor(X), torch.tensor(Y)

    def misfit(params, x, y):
        return np.mean((x @ params["weight"][0] + params["bias"] - y) ** 2)

    adapted = gradwire.adapters.torch.function(misfit, client=client)
    optimizer = torch.optim.LBFGS(
        model.parameters(), line_search_fn="strong_wolfe", max_iter=200, tolerance_change=1e-16
    )

    def closure():
        optimizer.zero_grad()
        value = adapted(dict(model.named_parameters()), x, y)
        value.backward()
        return value

    with requests(1):
        closure()
    optimizer.step(closure)
    outputs = functional_call(model, dict(model.named_parameters()), x)[:, 0]
    residual = outputs.detach().numpy() - Y
    assert np.allclose(np.column_stack([X, np.ones(5)]).T @ residual, 0, atol=1e-5)


def test_errors_are_those_of_the_service(client):
    adapted = gradwire.adapters.torch.function(gradwire.program("x @ w", "x", "w"), client=client)
    with pytest.raises(gradwire.ShapeMismatch, match="inner sizes"):
        adapted(torch.ones(3, 4), torch.ones(5, 2))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_pythons_numbers_have_the_dtype_of_the_tensors_beside_them(client, dtype):
    def scaled(x, rate):
        return (x * rate).sum()

    adapted = gradwire.adapters.torch.function(scaled, client=client)
    x = torch.tensor([0.5, -1.5], dtype=dtype, requires_grad=True)
    value = adapted(x, 0.1)
    assert value.dtype == dtype
    assert value.item() == pytest.approx(-0.1, rel=2**-6)
    value.backward()
    assert x.grad is not None
    assert x.grad.dtype == dtype
    torch.testing.assert_close(x.grad, torch.full((2,), 0.1, dtype=dtype))
    each = torch.func.vmap(adapted, (0, None))(x.detach()[:, None], 0.1)
    torch.testing.assert_close(each, x.detach() * 0.1)
    products = gradwire.adapters.torch.function(lambda x, rate: x * rate, client=client)
    _, along = torch.func.jvp(lambda x: products(x, 0.1), (x.detach(),), (x.detach(),))
    torch.testing.assert_close(along, x.detach() * 0.1)
