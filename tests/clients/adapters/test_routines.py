import gradwire
import numpy as np
import pytest
from gradwire.adapters.routines import Nested
from gradwire.tracing.shapes import Aval

RNG = np.random.default_rng(0)
A, B, IDS = RNG.normal(size=(4, 3)), RNG.normal(size=3), np.array([2, 0])


def several(pair, ids):
    a, b = pair
    return {"product": np.sin(a @ b)[ids], "count": np.sum(a > 0), "sum": np.sum(a * b)}


@pytest.fixture
def nested(client):
    def arguments(leaves):
        return ((leaves[0], leaves[1]), leaves[2]), {}

    return Nested(several, client, arguments, ["a", "b", "ids"])


def avals(*arrays):
    return tuple([Aval(array.shape, array.dtype) for array in arrays])


def told(routine, *arrays):
    """The results of a routine, after checking that they have the announced types."""
    found = routine(*arrays)
    assert avals(*found) == routine.types(avals(*arrays))
    return found


def test_types_are_known_without_a_request(nested, requests):
    with requests(0):
        types = nested.routine.types(avals(A, B, IDS))
    assert [str(aval) for aval in types] == ["float64[2]", "int64[]", "float64[]"]
    assert nested.structure(avals(A, B, IDS)).keys == ("product", "count", "sum")
    with requests(1):
        product, count, total = told(nested.routine, A, B, IDS)
    assert np.allclose(product, np.sin(A @ B)[IDS])
    assert (count, total) == (np.sum(A > 0), pytest.approx(np.sum(A * B)))


def test_pushed_and_pulled_are_transposes_of_each_other(nested, requests):
    sources, targets = (0, 1), (0, 2)
    pushed = nested.routine.pushed(sources, targets)
    pulled = nested.routine.pulled(sources, targets)
    assert (pushed.transposed, pulled.transposed) == (pulled, pushed)
    tangents = RNG.normal(size=A.shape), RNG.normal(size=B.shape)
    cotangents = RNG.normal(size=2), RNG.normal(size=())
    with requests(2):
        along = told(pushed, A, B, IDS, *tangents)
        back = told(pulled, A, B, IDS, *cotangents)
    pairs = [*zip(cotangents, along, strict=True)], [*zip(tangents, back, strict=True)]
    forward, backward = (sum(np.sum(x * y) for x, y in side) for side in pairs)
    assert forward == pytest.approx(backward)
    e = 1e-6
    moved = nested.routine(A + e * tangents[0], B + e * tangents[1], IDS)
    still = nested.routine(A, B, IDS)
    for i, derivative in zip(targets, along, strict=True):
        assert np.allclose((moved[i] - still[i]) / e, derivative, atol=1e-4)


def test_mapped_results_equal_those_of_single_examples(nested, requests):
    many = np.stack([B, -B, 2 * B], axis=1)
    mapped = nested.routine.mapped((None, 1, None))
    with requests(1):
        found = told(mapped, A, many, IDS)
    for i in range(3):
        each = nested.routine(A, many[:, i], IDS)
        for one, other in zip(found, each, strict=True):
            assert np.allclose(one[i], other)
    pushed = nested.routine.pushed((1,), (2,)).mapped((None, None, None, 0))
    directions = RNG.normal(size=(5, 3))
    (along,) = told(pushed, A, B, IDS, directions)
    assert np.allclose(along, directions @ A.sum(0))
    (back,) = told(pushed.transposed, A, B, IDS, np.ones(5))
    assert np.allclose(back, np.tile(A.sum(0), (5, 1)))
    assert nested.routine.mapped((None, None, None)) is nested.routine


def test_a_number_comes_with_its_gradient(client, requests):
    def arguments(leaves):
        return leaves, {}

    f = gradwire.program("sum(a * b**2)", "a", "b")
    routine = Nested(f, client, arguments, ["a", "b"]).routine
    assert [str(aval) for aval in routine.types(avals(B, B))] == ["float64[]"]
    both = routine.with_gradient((1,))
    with requests(1):
        value, gradient = told(both, B, B)
    assert value == pytest.approx(np.sum(B**3))
    assert np.allclose(gradient, 2 * B**2)
    assert routine.with_gradient((1,)) is both


def test_python_numbers_do_not_promote_dtypes(client):
    routine = Nested(lambda a, s: a * s, client, lambda leaves: (leaves, {}), ["a", "s"]).routine
    (found,) = routine(np.ones(2, np.float32), 0.1)
    assert found.dtype == np.float32


def test_nonlinear_routines_have_no_transpose(nested):
    with pytest.raises(TypeError, match="not linear"):
        _ = nested.routine.transposed
