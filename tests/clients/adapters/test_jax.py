import gradwire
import gradwire.adapters.jax
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.test_util import check_grads

RNG = np.random.default_rng(0)
W, X, Y = RNG.normal(size=3), RNG.normal(size=(5, 3)), RNG.normal(size=5)
TEXT = gradwire.program("mean((tanh(x @ w) - y)**2)", "w", "x", "y")


@pytest.fixture(params=[True, False], ids=["float64", "float32"])
def x64(request):
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", request.param)
    yield request.param
    jax.config.update("jax_enable_x64", before)


@pytest.fixture
def wide():
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


def plain(w, x, y):
    return jnp.mean((jnp.tanh(x @ w) - y) ** 2)


def loss(w, x, y):
    return np.mean((np.tanh(x @ w) - y) ** 2)


def curve(w, x):
    return {"h": np.tanh(x @ w), "count": np.sum(x > 0)}


def plain_curve(w, x):
    return {"h": jnp.tanh(x @ w), "count": jnp.sum(x > 0)}


@pytest.fixture
def arrays(x64):
    return jnp.asarray(W), jnp.asarray(X), jnp.asarray(Y)


#: Functions of Python are recorded, of text the service is asked; in most tests below, in float64.
KINDS = pytest.mark.parametrize(
    ("adapted", "x64"), [("python", False), ("text", True)], indirect=True
)


@pytest.fixture
def adapted(client, request):
    f = loss if request.param == "python" else TEXT
    return gradwire.adapters.jax.function(f, client=client)


def close(a, b):
    assert jax.tree.structure(a) == jax.tree.structure(b)
    for one, other in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        tolerance = 1e-10 if one.dtype == np.float64 else 1e-5
        assert np.allclose(one, other, rtol=tolerance, atol=tolerance)


@KINDS
@pytest.mark.parametrize("compiled", [False, True])
def test_a_value_with_its_gradient_is_one_request(adapted, arrays, requests, compiled):
    derive = jax.value_and_grad(adapted, argnums=(0, 1))
    derive = jax.jit(derive) if compiled else derive
    close(derive(*arrays), jax.value_and_grad(plain, argnums=(0, 1))(*arrays))
    with requests(1):
        jax.block_until_ready(derive(*arrays))


@KINDS
@pytest.mark.parametrize("compiled", [False, True])
def test_a_batch_is_one_request(adapted, arrays, requests, compiled):
    w, x, y = arrays
    xs, ys = jnp.stack([x, 2 * x, -x]), jnp.stack([y, y, 2 * y])

    def each(f):
        mapped = jax.vmap(jax.value_and_grad(f), (None, 0, 0))
        return jax.jit(mapped) if compiled else mapped

    close(each(adapted)(w, xs, ys), each(plain)(w, xs, ys))
    with requests(1):
        jax.block_until_ready(each(adapted)(w, xs, ys))

    def total(f):
        return jax.value_and_grad(lambda w: jnp.sum(jax.vmap(f, (None, 1, 1), 0)(w, xs, ys)))

    xs, ys = jnp.moveaxis(xs, 0, 1), ys.T
    close(total(adapted)(w), total(plain)(w))
    with requests(1):
        jax.block_until_ready(total(adapted)(w))


@KINDS
def test_nested_batches_are_one_request(adapted, arrays):
    w, x, y = arrays
    ws = jnp.stack([w, 2 * w])
    xs = jnp.stack([x, 2 * x, -x])

    def table(f):
        rows = jax.vmap(jax.grad(f), (None, 0, None))
        return jax.vmap(rows, (0, None, None))(ws, xs, y)

    close(table(adapted), table(plain))


HIGHER = {
    "hessian": jax.hessian,
    "reverse twice": lambda f: jax.jacrev(jax.grad(f)),
    "forward twice": lambda f: jax.jacfwd(jax.jacfwd(f)),
    "of a product": lambda f: lambda w, x, y: jax.grad(lambda u: jax.grad(f)(u, x, y) @ w)(w),
    "along": lambda f: lambda w, x, y: jax.jvp(lambda u: jax.grad(f)(u, x, y), (w,), (w,))[1],
    "third": lambda f: jax.grad(lambda w, x, y: jnp.sum(jax.hessian(f)(w, x, y) ** 2)),
}


@pytest.mark.parametrize("order", HIGHER)
@pytest.mark.usefixtures("wide")
def test_higher_order_derivatives_equal_those_of_jax(client, order):
    second = HIGHER[order]
    adapted = gradwire.adapters.jax.function(loss, client=client)
    given = jnp.asarray(W), jnp.asarray(X), jnp.asarray(Y)
    close(second(adapted)(*given), second(plain)(*given))
    close(jax.jit(second(adapted))(*given), second(plain)(*given))


@pytest.mark.usefixtures("wide")
def test_hessian_products_and_the_whole_hessian_are_one_request_each(client, requests):
    adapted = gradwire.adapters.jax.function(loss, client=client)
    product = jax.jit(lambda w, v: jax.jvp(lambda u: jax.grad(adapted)(u, X, Y), (w,), (v,))[1])
    w = jnp.asarray(W)
    product(w, w)
    with requests(1):
        jax.block_until_ready(product(w, w))
    whole = jax.jit(lambda w: jax.hessian(adapted)(w, X, Y))
    whole(w)
    with requests(1):
        jax.block_until_ready(whole(w))


@pytest.mark.usefixtures("wide")
def test_array_outputs_can_be_differentiated_in_either_mode(client):
    adapted = gradwire.adapters.jax.function(curve, client=client)
    w, x = jnp.asarray(W), jnp.asarray(X)
    close(adapted(w, x), plain_curve(w, x))
    for jacobian in (jax.jacfwd, jax.jacrev):
        close(
            jacobian(lambda w: adapted(w, x)["h"])(w), jacobian(lambda w: plain_curve(w, x)["h"])(w)
        )
    check_grads(lambda w, x: adapted(w, x)["h"], (w, x), order=3)


@pytest.mark.usefixtures("wide")
def test_complex_gradients_follow_jax_s_convention(client):
    z = jnp.asarray([1 + 2j, -3j])
    t = jnp.asarray([0.5 - 1j, 2 + 1j])
    real, complex_ = (lambda z: np.sum(np.abs(z * z - z) ** 2)), (lambda z: np.exp(1j * z) * z)
    plain = (lambda z: jnp.sum(jnp.abs(z * z - z) ** 2)), (lambda z: jnp.exp(1j * z) * z)
    adapted = [gradwire.adapters.jax.function(f, client=client) for f in (real, complex_)]
    close(jax.grad(adapted[0])(z), jax.grad(plain[0])(z))
    close(jax.jvp(adapted[0], (z,), (t,)), jax.jvp(plain[0], (z,), (t,)))
    close(jax.jvp(adapted[1], (z,), (t,)), jax.jvp(plain[1], (z,), (t,)))
    close(jax.vjp(adapted[1], z)[1](t), jax.vjp(plain[1], z)[1](t))
    norms = [
        lambda z, f=f: jnp.sum(jnp.abs(jax.vjp(f, z)[1](t)[0]) ** 2) for f in (adapted[1], plain[1])
    ]
    close(jax.grad(norms[0])(z), jax.grad(norms[1])(z))


@pytest.mark.usefixtures("wide")
def test_linear_maps_can_be_transposed_also_in_loops(client):
    step = gradwire.adapters.jax.function(lambda h, w: np.tanh(w * h) + h, client=client)

    def run(f, w):
        return jnp.sum(jax.lax.scan(lambda h, _: (f(h, w), h), jnp.ones(3), None, 4)[1] ** 2)

    w = jnp.asarray(W)
    close(
        jax.jit(jax.grad(lambda w: run(step, w)))(w),
        jax.grad(lambda w: run(lambda h, w: jnp.tanh(w * h) + h, w))(w),
    )


@jax.tree_util.register_pytree_node_class
class Custom:
    def __init__(self, w, name):
        self.w, self.name = w, name

    def tree_flatten(self):
        return (self.w,), self.name

    @classmethod
    def tree_unflatten(cls, name, parts):
        return cls(parts[0], name)


def test_any_pytree_is_accepted_and_returned(client, x64):
    def f(model, power, how):
        assert how == "sum"
        return Custom({"y": np.sum(model.w["a"] ** power)}, model.name)

    adapted = gradwire.adapters.jax.function(f, client=client)
    model = Custom({"a": jnp.asarray([1.0, 2.0])}, "model")
    answer = adapted(model, 3, how="sum")
    assert (answer.w["y"], answer.name) == (9.0, "model")
    gradient = jax.grad(lambda m: adapted(m, 3, how="sum").w["y"])(model)
    assert np.array_equal(gradient.w["a"], [3.0, 12.0])
    assert gradient.w["a"].dtype == (np.float64 if x64 else np.float32)


def test_integers_are_not_differentiated_and_float16_is_kept(client):
    adapted = gradwire.adapters.jax.function(
        lambda table, ids: np.sum(table[ids] ** 2), client=client
    )
    table, ids = jnp.arange(4.0, dtype=jnp.float16), jnp.asarray([1, 3, 3])
    value, gradient = jax.jit(jax.value_and_grad(adapted))(table, ids)
    assert (value, value.dtype, gradient.dtype) == (19.0, jnp.float16, jnp.float16)
    assert gradient.tolist() == [0.0, 2.0, 0.0, 12.0]


def test_bfloat16_gives_such_results_and_gradients(client):
    def plain(w, x):
        return jnp.sum((x @ w) ** 2)

    adapted = gradwire.adapters.jax.function(lambda w, x: np.sum((x @ w) ** 2), client=client)
    w, x = jnp.asarray([0.1, 2], jnp.bfloat16), jnp.asarray([[1, 3], [0.3, 4]], jnp.bfloat16)
    for compiled in (jax.jit, lambda f: f):
        found = compiled(jax.value_and_grad(adapted))(w, x)
        for array, expected in zip(found, jax.value_and_grad(plain)(w, x), strict=True):
            assert array.dtype == jnp.bfloat16
            np.testing.assert_allclose(array.astype(float), expected.astype(float), rtol=2**-6)
    hessian = jax.hessian(adapted)(w, x)
    assert hessian.dtype == jnp.bfloat16
    expected = jax.hessian(plain)(w, x)
    np.testing.assert_allclose(hessian.astype(float), expected.astype(float), rtol=2**-6)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_pythons_floats_have_the_dtype_of_the_arrays_beside_them(client, dtype):
    def plain(x, rate):
        return x * rate

    adapted = gradwire.adapters.jax.function(plain, client=client)
    x = jnp.asarray([0.5, 1.5], dtype)
    for changed in (jax.jit, lambda f: jax.vmap(f, (0, None)), lambda f: f):
        found, expected = changed(adapted)(x, 0.1), changed(plain)(x, 0.1)
        assert found.dtype == expected.dtype == x.dtype
        np.testing.assert_array_equal(found, expected)
    slope = jax.grad(lambda x, rate: adapted(x, rate).sum(), (0, 1))(x, 0.1)
    expected = jax.grad(lambda x, rate: plain(x, rate).sum(), (0, 1))(x, 0.1)
    assert [part.dtype for part in slope] == [part.dtype for part in expected]
    np.testing.assert_array_equal(slope[0], expected[0])


@pytest.mark.usefixtures("wide")
def test_float64_within_a_context_is_kept(client):
    jax.config.update("jax_enable_x64", False)
    adapted = gradwire.adapters.jax.function(lambda x: np.sum(x**2), client=client)
    with jax.enable_x64(True):
        x = jnp.asarray([1.0 + 1e-12])
        value, gradient = jax.jit(jax.value_and_grad(adapted))(x)
    assert (float(value), gradient.dtype) == ((1.0 + 1e-12) ** 2, np.float64)


def test_large_arrays_do_not_deadlock(client):
    adapted = gradwire.adapters.jax.function(lambda x: np.sum(x * x), client=client)
    x = jnp.ones(1_000_000)
    gradient = jax.jit(lambda x: jax.grad(adapted)(jnp.sin(x)))(x)
    assert np.allclose(gradient, 2 * np.sin(1.0))


def test_errors_are_those_of_the_service(client):
    adapted = gradwire.adapters.jax.function(gradwire.program("x @ w", "x", "w"), client=client)
    with pytest.raises(gradwire.ShapeMismatch, match="inner sizes"):
        adapted(jnp.ones((3, 4)), jnp.ones((5, 2)))
    with pytest.raises(gradwire.ShapeMismatch, match="inner sizes"):
        jax.jit(adapted)(jnp.ones((3, 4)), jnp.ones((5, 2)))


def test_an_error_while_compiled_code_runs_is_raised(client):
    adapted = jax.jit(gradwire.adapters.jax.function(lambda x, i: x[i], client=client))
    assert adapted(jnp.ones(3), 2) == 1.0
    with pytest.raises((jax.errors.JaxRuntimeError, ValueError), match="an index is out of range"):
        jax.block_until_ready(adapted(jnp.ones(3), 7))
