import gradwire
import gradwire.adapters.pytensor
import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from pytensor.graph.replace import vectorize_graph

RNG = np.random.default_rng(0)
W, X, Y = RNG.normal(size=3), RNG.normal(size=(5, 3)), RNG.normal(size=5)
# The module's names since PyTensor 3, and before.
PULLBACK = vars(pytensor.gradient).get("pullback") or pytensor.gradient.Lop
PUSHFORWARD = vars(pytensor.gradient).get("pushforward") or pytensor.gradient.Rop
TEXT = gradwire.program("mean((tanh(x @ w) - y)**2)", "w", "x", "y")


def plain(w, x, y):
    return pt.mean((pt.tanh(x @ w) - y) ** 2)


def loss(w, x, y):
    return np.mean((np.tanh(x @ w) - y) ** 2)


@pytest.fixture(autouse=True)
def interpreted():
    """Make functions run in Python instead of compiling C code, which takes seconds."""
    with pytensor.config.change_flags(linker="py", cxx=""):
        yield


#: Of text, the service says the shapes; with a function of Python, most tests tell its length.
KINDS = pytest.mark.parametrize(
    ("adapted", "w"), [("python", "untold"), ("text", "told")], indirect=True
)


@pytest.fixture
def adapted(client, request):
    f = loss if request.param == "python" else TEXT
    return gradwire.adapters.pytensor.function(f, client=client)


@pytest.fixture(params=["told", "untold"])
def w(request):
    return pt.tensor("w", shape=(3 if request.param == "told" else None,), dtype="float64")


@KINDS
def test_a_value_with_its_gradient_is_one_request(adapted, w, requests):
    value = adapted(w, X, Y)
    both = pytensor.function([w], [value, pytensor.grad(value, w)])
    known = plain(w, X, Y)
    expected = pytensor.function([w], [known, pytensor.grad(known, w)])(W)
    both(W)
    with requests(1):
        found = both(W)
    np.testing.assert_allclose(found[0], expected[0])
    np.testing.assert_allclose(found[1], expected[1])
    assert value.type.shape == ()


def asked(compiled):
    """The outputs of Gradwire's nodes in a compiled function."""
    return [
        len(node.outputs)
        for node in compiled.maker.fgraph.toposort()
        if isinstance(node.op, gradwire.adapters.pytensor._RoutineOp)
    ]


def test_unused_outputs_are_not_requested(client, w):
    adapted = gradwire.adapters.pytensor.function(loss, client=client)
    value = adapted(w, pt.as_tensor(X), Y)
    assert asked(pytensor.function([w], value)) == [1]
    gradient = pytensor.grad(value, w)
    assert asked(pytensor.function([w], [value, gradient])) == [2]
    assert asked(pytensor.function([w], gradient)) == [2]


@KINDS
def test_second_derivatives_are_one_request(adapted, w, requests):
    v = pt.vector("v")
    products = []
    for f in (adapted, plain):
        along = pytensor.gradient.hessian_vector_product(f(w, X, Y), [w], [v])
        products.append(pytensor.function([w, v], along))
    products[0](W, Y[:3])
    with requests(1):
        found = products[0](W, Y[:3])
    np.testing.assert_allclose(found, products[1](W, Y[:3]))
    matrices = [pytensor.gradient.hessian(f(w, X, Y), w) for f in (adapted, plain)]
    found, expected = pytensor.function([w], matrices)(W)
    np.testing.assert_allclose(found, expected)


def test_array_outputs_can_be_differentiated_in_either_mode(client):
    w = pt.tensor("w", shape=(3,), dtype="float64")

    def curve(w, x, ids):
        return {"h": np.tanh(x @ w)[ids], "count": np.sum(x > 0)}

    ids = pt.lvector("ids")
    adapted = gradwire.adapters.pytensor.function(curve, client=client)
    found = adapted(w, X, ids)
    known = pt.tanh(pt.as_tensor(X) @ w)[ids]
    v, s = pt.vector("v"), pt.vector("s")
    outputs = [
        *[
            found["h"],
            PULLBACK(found["h"], w, s),
            PUSHFORWARD(found["h"], w, v),
        ],
        *[known, PULLBACK(known, w, s), PUSHFORWARD(known, w, v)],
        found["count"],
    ]
    *values, count = pytensor.function([w, v, s, ids], outputs)(W, Y[:3], Y[:2], [0, 3])
    for one, other in zip(values[:3], values[3:], strict=True):
        np.testing.assert_allclose(one, other)
    assert count == np.sum(X > 0)


@KINDS
def test_a_vectorized_graph_is_one_request(adapted, w, requests):
    value = adapted(w, X, Y)
    gradient = pytensor.grad(value, w)
    ws = pt.tensor("ws", shape=(None, None, 3), dtype="float64")
    many = pytensor.function([ws], vectorize_graph([value, gradient], {w: ws}))
    points = RNG.normal(size=(2, 4, 3))
    many(points)
    with requests(1):
        values, gradients = many(points)
    single = pytensor.function([w], [value, gradient])
    for i, j in np.ndindex(2, 4):
        one, slope = single(points[i, j])
        np.testing.assert_allclose(values[i, j], one)
        np.testing.assert_allclose(gradients[i, j], slope)


def test_float_dtypes_are_kept(client):
    adapted = gradwire.adapters.pytensor.function(lambda x: np.sum(x**2), client=client)
    x = pt.fvector("x")
    value = adapted(x)
    found = pytensor.function([x], [value, pytensor.grad(value, x)])(np.ones(2, np.float32))
    assert [part.dtype for part in found] == [np.float32] * 2


@pytest.mark.filterwarnings("ignore:.*does not allow us to add:UserWarning")
def test_errors_are_those_of_the_service(client):
    adapted = gradwire.adapters.pytensor.function(
        gradwire.program("x @ w", "x", "w"), client=client
    )
    with pytest.raises(gradwire.ShapeMismatch, match="inner sizes"):
        adapted(np.ones((3, 4)), np.ones((5, 2)))
    w = pt.vector("w")
    compiled = pytensor.function([w], adapted(np.ones(3), w))
    assert compiled(np.ones(3)) == 3.0
    with pytest.raises(gradwire.ShapeMismatch, match="inner sizes"):
        compiled(np.ones(2))


def test_an_output_of_unexpected_shape_is_reported(client):
    adapted = gradwire.adapters.pytensor.function(lambda x, w: x @ w, client=client)
    x = pt.matrix("x")
    with pytest.raises(TypeError, match=r"shape \(4,\).*specify_shape"):
        pytensor.function([x], adapted(x, np.ones(3)))(np.ones((4, 3)))
    told = adapted(pt.specify_shape(x, (None, 3)), np.ones(3))
    assert told.type.shape == (None,)
    assert np.array_equal(pytensor.function([x], told)(np.ones((4, 3))), [3.0] * 4)
