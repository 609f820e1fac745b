"""Gradients of single operations at ties, kinks and singular points: S59 to S73.

Each row is a program, its variables and their gradients. Where TensorFlow's answer is not the
most useful one the row says so; the rest is TensorFlow's.
"""

from math import e, inf, log

import numpy as np
import pytest

M = [[4.0, 1.0], [1.0, 3.0]]


def rule(*rows):
    """A test of each row, named by its program and values."""
    ids = [f"{text} at {list(variables.values())}" for text, variables, _ in rows]
    return pytest.mark.parametrize(("text", "variables", "expected"), rows, ids=ids)


async def holds(wire, text, variables, expected):
    """The gradients are the expected ones, NaN being NaN."""
    found = await wire.gradients(text, variables)
    assert list(found) == list(variables)
    for name, wanted in zip(found, expected, strict=True):
        if wanted is None:
            assert found[name] is None
        else:
            got = np.array(found[name], dtype=float)  # the words of the wire are floats to NumPy
            np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-12)


@pytest.mark.rule("S59")
@rule(
    ("tf.gather(x, [2, 0, 2])", {"x": [1, 2, 3]}, [[1, 0, 2]]),
    ("x[[2, 0, 2]] * w", {"x": [1, 2, 3], "w": [1, 10, 100]}, [[10, 0, 101], [3, 1, 3]]),
    ("tf.gather(x, [1, 1])", {"x": [[1, 2], [3, 4]]}, [[[0, 0], [2, 2]]]),
)
async def test_a_gathered_source_has_a_dense_gradient_with_repeats_summed(
    wire, text, variables, expected
):
    await holds(wire, text, variables, expected)


@pytest.mark.rule("S60")
@rule(
    ("sum(tf.gather(x, [1, 1])) + sum(tf.gather(x, [0, 1]))", {"x": [1, 2, 3]}, [[1, 3, 0]]),
    ("sum(tf.gather(x, [1, 1])) + sum(x * x)", {"x": [1, 2, 3]}, [[2, 6, 6]]),
    ("tf.gather(x, [1], axis=1)", {"x": [[1, 2], [3, 4]]}, [[[0, 1], [0, 1]]]),
    ("x[1:] * x[:-1]", {"x": [1, 2, 3]}, [[2, 4, 2]]),
    ("tf.gather_nd(x, [[0, 1], [0, 1]])", {"x": [[1, 2], [3, 4]]}, [[[0, 2], [0, 0]]]),
    ("y = x * x\ntf.gather(y, [2, 2])", {"x": [1, 2, 3]}, [[0, 0, 12]]),
)
async def test_gathers_slices_and_dense_uses_add_up(wire, text, variables, expected):
    await holds(wire, text, variables, expected)


@pytest.mark.rule("S59")
@pytest.mark.parametrize("text", ["x[ids] * w", "tf.gather(x, ids) * w", "embedding(ids, x) * w"])
async def test_asked_for_by_slices_repeats_are_not_summed(wire, text):
    variables = {
        "x": [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]],
        "ids": {"value": [2, 0, 2], "dtype": "int32"},
        "w": [[1.0], [2.0], [4.0]],
    }
    listed = {"indices": [[2], [0], [2]], "values": [[1.0, 1.0], [2.0, 2.0], [4.0, 4.0]]}
    summed = {"indices": [[0], [2]], "values": [[2.0, 2.0], [5.0, 5.0]]}
    for asked, expected in ((True, listed), ("summed", summed)):
        found = await wire.gradients(text, variables, sources=["x"], sparse_gradients=asked)
        assert found == [expected | {"shape": [3, 2]}]


@pytest.mark.rule("S60")
async def test_slices_of_several_gathers_come_one_after_the_other(wire):
    text = "sum(tf.gather(x, [1, 1])) + 10 * sum(take(x, [0, -1], axis=0))"
    found = await wire.gradients(text, {"x": [1.0, 2.0, 3.0]}, sparse_gradients=True)
    expected = {"indices": [[1], [1], [0], [2]], "values": [1.0, 1.0, 10.0, 10.0], "shape": [3]}
    assert found == {"x": expected}


@pytest.mark.rule("S60")
@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("sum(x[[1, 1]]) + sum(x * x)", "x"),
        ("x[:, [1]]", "x"),
        ("x[1:]", "x"),
        ("x[1]", "x"),
        ("tf.gather_nd(x, [[0, 1], [0, 1]])", "x"),
        ("y = x * x\ny[[0, 0]]", "x"),
        ("y = x * x\ny[[0, 0]]", "y"),
    ],
)
async def test_what_is_read_otherwise_has_a_dense_gradient(wire, text, source):
    variables = {"x": [[1.0, 2.0], [3.0, 4.0]]}
    dense = await wire.gradients(text, variables, sources=source)
    assert await wire.gradients(text, variables, sources=source, sparse_gradients=True) == dense


@pytest.mark.rule("S61")
@rule(
    ("x + y", {"x": [1, 2, 3], "y": 1}, [[1, 1, 1], 3]),
    ("x * y", {"x": [[1], [2]], "y": [3, 4, 5]}, [[[12], [12]], [3, 3, 3]]),
    ("x ** y", {"x": [e, 1], "y": 2}, [[2 * e, 2], e**2]),
    ("where([True, False], x, y)", {"x": 1, "y": [2, 3]}, [1, [0, 1]]),
)
async def test_broadcasting_is_summed_back(wire, text, variables, expected):
    await holds(wire, text, variables, expected)


@pytest.mark.rule("S61")
@pytest.mark.parametrize("text", ["x + y", "where(True, x, y)", "x * y"])
async def test_shapes_that_do_not_fit_are_refused(wire, text):
    refused = await wire.code(text, {"x": [1.0, 2.0], "y": [1.0, 2.0, 3.0]})
    assert refused == ("shape_mismatch", "/program")


@pytest.mark.rule("S62")
@rule(
    ("x @ y", {"x": [[1, 2]], "y": [[3], [4]]}, [[[3, 4]], [[1], [2]]]),
    ("x @ y", {"x": [[[1, 2]], [[5, 6]]], "y": [[3], [4]]}, [[[[3, 4]], [[3, 4]]], [[6], [8]]]),
    ("einsum('bi,i->b', x, y)", {"x": [[1, 2], [5, 6]], "y": [3, 4]}, [[[3, 4], [3, 4]], [6, 8]]),
)
async def test_products_of_matrices_and_stacks(wire, text, variables, expected):
    await holds(wire, text, variables, expected)


@pytest.mark.rule("S62")
@pytest.mark.parametrize("y", [3.0, [1.0, 2.0, 3.0]], ids=str)
async def test_what_cannot_be_multiplied_is_refused(wire, y):
    assert await wire.code("x @ y", {"x": [[1.0, 2.0]], "y": y}) == ("shape_mismatch", "/program")


@pytest.mark.rule("S62")
@pytest.mark.parametrize(
    "text", ["tf.matmul(x, x)", "tf.matmul([x], x)", "tf.matmul(x, [x], True)"]
)
async def test_matmul_of_tensorflow_is_of_matrices(wire, text):
    variables = {"x": [1.0, 2.0]}
    assert await wire.code(text, variables) == ("shape_mismatch", "/program")
    assert await wire.value("matmul(x, x)", variables) == 5.0  # NumPy's takes vectors


@pytest.mark.rule("S63")
@rule(
    ("abs(x)", {"x": [0, -0.0]}, [[0, 0]]),
    ("relu(x)", {"x": 0}, [0]),
    ("tf.nn.relu6(x)", {"x": [0, 6]}, [[0, 0]]),
    ("tf.nn.leaky_relu(x, 0.2)", {"x": 0}, [0.2]),
    ("tf.nn.elu(x)", {"x": 0}, [1]),
    ("sign(x)", {"x": [0, 1]}, [[0, 0]]),
    ("x % 3", {"x": [7, 6, -7]}, [[1, 1, 1]]),
)
async def test_kinks(wire, text, variables, expected):
    await holds(wire, text, variables, expected)


@pytest.mark.rule("S64")
@rule(
    ("maximum(a, b)", {"a": 1, "b": 1}, [1, 0]),
    ("minimum(a, b)", {"a": 1, "b": 1}, [1, 0]),
    ("maximum(0, x)", {"x": 0}, [0]),
    ("maximum(x, 0)", {"x": 0}, [1]),
    ("maximum(x, x)", {"x": 2}, [1]),
)
async def test_ties_of_two_go_to_the_first(wire, text, variables, expected):
    await holds(wire, text, variables, expected)


@pytest.mark.rule("S65")
@rule(
    ("tf.reduce_max(x)", {"x": [1, 3, 3]}, [[0, 0.5, 0.5]]),
    ("tf.reduce_min(x)", {"x": [1, 1, 2]}, [[0.5, 0.5, 0]]),
    ("tf.math.segment_max(x, [0, 0, 1])", {"x": [4, 4, 1]}, [[0.5, 0.5, 1]]),
    ("tf.math.top_k(x, k=2)[0]", {"x": [3, 3, 3]}, [[1, 1, 0]]),
    ("sort(x) * [1, 10, 100]", {"x": [2, 1, 2]}, [[10, 1, 100]]),
    ("max_pool(x, 2)", {"x": [[[1, 1]]]}, [[[[1, 0]]]]),
)
async def test_ties_of_many_are_split_or_go_to_the_first_index(wire, text, variables, expected):
    await holds(wire, text, variables, expected)


@pytest.mark.rule("S66")
@rule(
    ("tf.clip_by_value(x, -1.0, 1.0)", {"x": [-2, -1, 0, 1, 2]}, [[0, 1, 1, 1, 0]]),
    ("clip(x, a, b)", {"x": [-2, -3, 0, 4], "a": -1, "b": 1}, [[0, 0, 1, 0], 2, 1]),
)
async def test_clipping_passes_on_and_within_the_bounds(wire, text, variables, expected):
    await holds(wire, text, variables, expected)


@pytest.mark.rule("S67")
@rule(
    ("sqrt(x)", {"x": 0}, [inf]),
    ("log(x)", {"x": 0}, [inf]),
    ("tf.math.divide_no_nan(x, y)", {"x": 1, "y": 0}, [0, 0]),
    ("xlogy(x, y)", {"x": 0, "y": 0}, [0, 0]),
    ("tf.math.xdivy(x, y)", {"x": 0, "y": 0}, [0, 0]),
    ("norm(x)", {"x": [0, 0]}, [[0, 0]]),  # TensorFlow: NaN; the subgradient of least norm
    ("arctan2(y, x)", {"y": 0, "x": 0}, [0, 0]),  # TensorFlow: NaN
)
async def test_singular_points(wire, text, variables, expected):
    await holds(wire, text, variables, expected)


@pytest.mark.rule("S67")
async def test_what_is_not_finite_is_told_with_its_place(wire):
    answer = await wire.answer("a = x + 0\ny = log(a)", {"x": 0.0})
    assert (answer["value"], answer["gradients"]) == ("-Infinity", {"x": "Infinity"})
    assert {phase: place["op"] for phase, place in answer["nonfinite"].items()} == {
        "forward": "log",
        "backward": "log",
    }


@pytest.mark.rule("S68")
@rule(
    ("x ** y", {"x": -2, "y": 2}, [-4, 0]),
    ("x ** y", {"x": [0, e], "y": 2}, [[0, 2 * e], e**2]),
    ("x ** 0", {"x": 0}, [0]),  # TensorFlow: NaN; x**0 is constant
    ("x ** 0.5", {"x": 0}, [inf]),
)
async def test_powers_of_zero_and_of_negative_numbers(wire, text, variables, expected):
    await holds(wire, text, variables, expected)


@pytest.mark.rule("S69")
@rule(
    ("where(x > 0, sqrt(x), 0)", {"x": [0, 4]}, [[0, 0.25]]),
    ("where(x > 0, log(x), 0)", {"x": [0, 4]}, [[0, 0.25]]),  # TensorFlow: NaN leaks
    ("where(x > 0, 1 / x, x * x)", {"x": [0, 4]}, [[0, -1 / 16]]),
    ("where(c, x, y)", {"c": [True, False], "x": [1, 2], "y": [3, 4]}, [None, [1, 0], [0, 1]]),
)
async def test_the_branch_of_where_not_taken_gives_zero(wire, text, variables, expected):
    await holds(wire, text, variables, expected)


@pytest.mark.rule("S70")
@rule(
    ("prod(x)", {"x": [2, 0, 4]}, [[0, 8, 0]]),
    ("prod(x)", {"x": [0, 3, 0]}, [[0, 0, 0]]),
    ("cumprod(x)", {"x": [2, 0, 4]}, [[1, 10, 0]]),  # TensorFlow's is wrong
)
async def test_products_with_zeros(wire, text, variables, expected):
    await holds(wire, text, variables, expected)


@pytest.mark.rule("S71")
@rule(
    ("logsumexp(x)", {"x": [1000, 0]}, [[1, 0]]),
    (
        "logsumexp(x)",
        {"x": ["-Infinity", "-Infinity"]},
        [[0, 0]],
    ),  # TensorFlow: NaN; fully masked rows
    ("softplus(x)", {"x": [-1000, 0, 1000]}, [[0, 0.5, 1]]),
    ("softmax(x) * [1, 0]", {"x": [1000, 1000]}, [[0.25, -0.25]]),
    (
        "tf.nn.softmax_cross_entropy_with_logits(labels=p, logits=z)",
        {"p": [0.5, 0.5], "z": [1000, 1000]},
        [[log(2), log(2)], [0, 0]],
    ),
    (
        "tf.nn.sigmoid_cross_entropy_with_logits(labels=p, logits=z)",
        {"p": [0.5, 0.25], "z": [1000, -1000]},
        [[-1000, 1000], [0.5, -0.25]],
    ),
)
async def test_what_overflows_when_written_out_is_stable(wire, text, variables, expected):
    await holds(wire, text, variables, expected)


@pytest.mark.rule("S72")
@rule(
    ("sort(x) * [1, 10, 100]", {"x": [3, 1, 2]}, [[100, 1, 10]]),
    ("x[argsort(x)] * [1, 10, 100]", {"x": [3, 1, 2]}, [[100, 1, 10]]),
    ("median(x)", {"x": [3, 1, 2]}, [[0, 0, 1]]),
    ("median(x)", {"x": [4, 1, 2, 3]}, [[0, 0, 0.5, 0.5]]),
)
async def test_sorting_permutes_the_gradient(wire, text, variables, expected):
    await holds(wire, text, variables, expected)


@pytest.mark.rule("S73")
@rule(
    ("det(x)", {"x": M}, [[[3, -1], [-1, 4]]]),
    ("det(x)", {"x": [[1, 2], [2, 4]]}, [[[4, -2], [-2, 1]]]),  # TensorFlow raises
    ("slogdet(x)[1]", {"x": M}, [np.linalg.inv(M)]),
    ("trace(inv(x))", {"x": M}, [-np.linalg.inv(M) @ np.linalg.inv(M)]),
    ("sum(log(diag(cholesky(x))))", {"x": M}, [np.linalg.inv(M) / 2]),
    ("sum(eigvalsh(x))", {"x": M}, [np.eye(2)]),
    ("sum(svd(x)[1] ** 2)", {"x": M}, [2 * np.array(M)]),
    ("sum(abs(qr(x)[1]) ** 2)", {"x": M}, [2 * np.array(M)]),
    (
        "sum(solve(a, b))",
        {"a": M, "b": [1, 2]},
        [
            -np.outer(np.linalg.solve(M, [1, 1]), np.linalg.solve(M, [1, 2])),
            np.linalg.solve(M, [1, 1]),
        ],
    ),
)
async def test_matrix_functions(wire, text, variables, expected):
    await holds(wire, text, variables, expected)


@pytest.mark.rule("S73")
@pytest.mark.parametrize("text", ["inv(x)", "solve(x, [1.0, 2.0])"])
async def test_a_singular_matrix_is_refused_where_its_inverse_is_needed(wire, text):
    response = await wire.post("/v1/gradient", text, {"x": [[1.0, 2.0], [2.0, 4.0]]})
    problem = response.json()
    assert (response.status_code, problem["code"]) == (422, "domain_error")
    assert "Input is not invertible." in problem["detail"]


@pytest.mark.rule("S73")
async def test_a_factor_that_does_not_exist_is_nan_and_told(wire):
    answer = await wire.answer("cholesky(x)", {"x": [[1.0, 2.0], [2.0, 1.0]]})
    assert answer["value"] == [["NaN", "NaN"], ["NaN", "NaN"]]
    assert answer["nonfinite"]["forward"]["op"] == "cholesky"
