"""The optimiser keeps every value, and leaves no work that is double, constant or unused."""

import gradwire_engine.ops  # noqa: F401  (fills the registry)
import numpy as np
import pytest
from gradwire_engine import Leaf
from gradwire_engine.answer import Limits
from gradwire_engine.autodiff.matrices import jacobian
from gradwire_engine.autodiff.reverse import gradient
from gradwire_engine.backends.walk.backend import NUMPY_BACKEND
from gradwire_engine.backends.walk.executable import WalkExecutable
from gradwire_engine.check import interpret
from gradwire_engine.ops.arrays.shape import Reshape
from gradwire_engine.ops.base import FUNCTIONS
from gradwire_engine.ops.builder import Builder
from gradwire_engine.ops.pointwise.arithmetic import Add, Multiply
from gradwire_engine.optimize.expressions import united
from gradwire_engine.optimize.simplify import optimize
from gradwire_engine.tape import ArrayType
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from tests.engine.conftest import called
from tests.tables import cases

SHAPES = [(), (3,), (2, 1), (2, 3)]
UNARY = ["negative", "sin", "tanh", "exp", "copy", "stop_gradient", "square", "abs"]
BINARY = ["add", "multiply", "subtract", "divide", "power", "maximum", "less"]
STEPS = st.lists(
    st.tuples(st.sampled_from([*UNARY, *BINARY]), st.integers(0, 99), st.integers(0, 99)),
    min_size=1,
    max_size=25,
)


def build(steps, *, rows=False):
    """A tape of random steps over inputs and literals, with the gradient of its last value.

    With ``rows`` the derivatives of the gradients too, for all seeds at once.
    """
    b = Builder(Limits())
    values = [b.input(ArrayType(np.dtype(float), shape)) for shape in SHAPES]
    inputs = list(values)
    values += [b.constant(c, weak=True) for c in (0.0, 1.0, 2.0, 1.0, -1.0)]
    values += [b.constant(np.ones((2, 3))), FUNCTIONS["zeros"].record(b, (3,))]
    for name, first, second in steps:
        operands = [values[first % len(values)], values[second % len(values)]]
        made = FUNCTIONS[name].record(b, *operands[: 1 if name in UNARY else 2])
        values.append(
            made if made.dtype.kind == "f" else FUNCTIONS["astype"].record(b, made, "float64")
        )
    bars = [bar for bar in gradient(b, [values[-1]], inputs) if bar is not None]
    hessian = [row for bar in bars if rows for row in jacobian(b, bar, inputs) if row is not None]
    return b.tape([values[-1], *bars, *hessian])


@pytest.mark.parametrize("rows", [False, True])
@given(STEPS, st.integers(0, 2**32 - 1))
def test_optimised_tapes_give_the_same_values(rows, steps, seed):
    rng = np.random.default_rng(seed)
    tape = build(steps, rows=rows)
    inputs = [rng.choice([-1.5, 0.0, 0.5, 1.0, 2.0], size=shape) for shape in SHAPES]
    better = optimize(tape, NUMPY_BACKEND)
    assert len(better.instructions) <= len(tape.instructions) + len(tape.outputs)
    before, after = interpret(tape, inputs), interpret(better, inputs)
    infinite = any(np.isinf(value).any() for value in before.values())
    for old, new in zip(tape.outputs, better.outputs, strict=True):
        assert tape.instructions[old].type[:2] == better.instructions[new].type[:2]
        assert np.shape(before[old]) == np.shape(after[new])
        # An answer that is not finite is computed again as recorded. Here a sum may be infinite
        # where its terms, each times infinity, were infinite of both signs; beside a diagonal is 0,
        # where the product of a seed's 0 with infinity was NaN.
        sure = ~np.isnan(before[old]) | (not infinite and not rows)
        same = np.isclose(before[old], after[new], rtol=1e-12, equal_nan=True)
        assert (same | ~sure).all()


@given(STEPS, st.integers(0, 2**32 - 1))
def test_an_exact_tape_walked_and_its_generated_code_give_the_same_bits(steps, seed):
    rng = np.random.default_rng(seed)
    inputs = [rng.choice([-1.5, 0.0, 0.5, 1.0, 2.0], size=shape) for shape in SHAPES]
    executable = WalkExecutable(optimize(build(steps), NUMPY_BACKEND, exact=True), exact=True)
    walked, generated = [executable.replay(inputs, lambda: None).outputs for _ in range(2)]
    for one, other in zip(walked, generated, strict=True):
        assert np.asarray(one).dtype == np.asarray(other).dtype
        assert np.asarray(one).tobytes() == np.asarray(other).tobytes()


def work(tape):
    """The number of instructions that compute: all but views."""
    return sum(not isinstance(each.op, Reshape) for each in tape.instructions)


@given(STEPS)
@example([("power", 10, 28)])
@example([("power", 0, 2)])
def test_optimising_twice_leaves_no_more_to_do(steps):
    once = optimize(build(steps), NUMPY_BACKEND)
    assert work(optimize(once, NUMPY_BACKEND)) <= work(once)
    exact = optimize(build(steps), NUMPY_BACKEND, exact=True)
    assert optimize(exact, NUMPY_BACKEND, exact=True).instructions == exact.instructions


def operations(ask, text, variables, kind="evaluate"):
    from gradwire_engine.ops.constants import Constant, Input

    leaves = {key: Leaf(np.asarray(value, float)) for key, value in variables.items()}
    call = called(ask.engine, text, leaves, kind)
    call.compile(ask.poll)
    instructions = call.entry.paths[0].executable.tape.instructions
    return [i.op.name for i in instructions if not isinstance(i.op, Constant | Input)]


@cases("text, expected")
def test_what_is_left_to_do(ask, text, expected):
    assert operations(ask, text, {"x": 2, "v": [1, 2, 3]}) == expected


def test_forward_and_backward_share_their_parts(ask):
    assert operations(ask, "exp(sin(x))", {"x": 2}, "gradient").count("exp") == 1
    assert operations(ask, "tanh(x)", {"x": 2}, "gradient").count("tanh") == 1


@pytest.mark.parametrize(
    ("text", "matrices"),
    [
        ("sum(exp(sin(x)) * cos(x) / (1 + x**2))", ["on_diagonal"]),
        ("sum(tanh(x.reshape(2, 2))**2)", ["on_diagonal"]),
        ("sum(tanh(a @ x)**3)", ["contract", "multiply"]),
        (
            "sum(tanh(a @ x)**2) + sum(x**4)",
            ["add", "contract", "multiply", "on_diagonal"],
        ),
    ],
)
def test_a_hessian_is_made_of_as_few_matrices_as_by_hand(ask, text, matrices):
    leaves = {"a": Leaf(np.eye(4) + 0.3), "x": Leaf(np.arange(4.0))}
    call = called(ask.engine, text, leaves, "hessian", sources="x")
    call.compile(ask.poll)
    made = [i for i in call.entry.paths[0].executable.tape.instructions if i.args]
    names = [i.op.name for i in made if i.type.size == 16 and i.op.name != "reshape"]  # type: ignore[union-attr]
    assert sorted(names) == matrices


def test_elements_are_computed_before_they_are_repeated(ask):
    names = operations(ask, "sin(broadcast_to(x, (1000, 1000)))[0, 0]", {"x": 2})
    assert names.index("sin") < names.index("broadcast_to")


def test_literals_on_the_identity_of_another_dtype_stay(ask):
    assert ask.value("x*1.0", {"x": np.int64(3)}).dtype == "float64"
    assert ask.value("x**1", {"x": np.array(True)}).dtype == "int64"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("y = sin(x)\nz = sin(x)\ngrad(y*z, y)", np.sin(2)),
        ("y = 2.0\nz = 2.0\ngrad(y*y*z, y)", 8),
        ("y = x*1\ngrad(x*y, y)", 2),
        ("y = copy(x)\ngrad(x*y, y)", 2),
        ("y = --x\ngrad(y*y*x, y)", 8),
        ("y = x\nz = x**2\nw = x*x\ngrad(z*w, w)", 4),
    ],
)
def test_rule_01_equal_values_keep_their_names_until_calculus_is_done(ask, text, expected):
    assert ask.value(text, {"x": 2}) == pytest.approx(expected)


def test_guards_survive(ask):
    text = "y = x\nif x > 1:\n  y = 5.0\ny"
    assert [ask.value(text, {"x": x}) for x in (0, 2, 0.5)] == [0, 5, 0.5]


def test_failures_are_not_folded_away(ask):
    from gradwire_engine.errors import EngineError

    with pytest.raises(EngineError):
        ask.value("y = [1, 2, 3]\nz = zeros(2)\ntake(z, array([5]))")


def simplified(recording, *shapes):
    """Operations that are left of what is recorded, and whether the value is that of before."""
    b = Builder(Limits())
    inputs = [b.input(ArrayType(np.dtype(float), shape)) for shape in shapes]
    tape = b.tape([recording(b, *inputs)])
    better = optimize(tape, NUMPY_BACKEND)
    rng = np.random.default_rng(1)
    values = [rng.normal(size=shape) for shape in shapes]
    before, after = interpret(tape, values), interpret(better, values)
    old, new = before[tape.outputs[0]], after[better.outputs[0]]
    assert np.array_equal(old, new)
    assert np.shape(old) == np.shape(new)
    return [i.op.name for i in better.instructions if i.op.name not in ("input", "constant")]


def of(name):
    return FUNCTIONS[name].record


@pytest.mark.parametrize(
    ("recording", "shapes", "left"),
    [
        (lambda b, x, y: of("where")(b, True, x, y), [(3,), (3,)], []),
        (lambda b, x, y: of("where")(b, False, x, y), [(2, 3), (3,)], ["broadcast_to"]),
        (lambda b, x, y: of("where")(b, of("greater")(b, x, y), x, x), [(3,), (3,)], []),
        (lambda b, x: of("logical_and")(b, of("greater")(b, x, 0.0), True), [(3,)], ["greater"]),
        (
            lambda b, x: of("logical_or")(b, True, of("greater")(b, x, 0.0)),
            [(3,)],
            ["broadcast_to"],
        ),
        (lambda b, x: of("power")(b, x, 0.0), [(3,)], ["broadcast_to"]),
        (lambda b, x: of("reshape")(b, of("reshape")(b, x, (6,)), (3, 2)), [(2, 3)], ["reshape"]),
        (lambda b, x: of("reshape")(b, of("reshape")(b, x, (6,)), (2, 3)), [(2, 3)], []),
        (lambda b, x: of("transpose")(b, of("transpose")(b, x)), [(2, 3)], []),
        (
            lambda b, x: of("transpose")(b, of("transpose")(b, x, (1, 2, 0)), (1, 2, 0)),
            [(2, 3, 4)],
            ["transpose"],
        ),
        (
            lambda b, x, y: of("transpose")(b, of("outer")(b, x, y)),
            [(3,), (4,)],
            ["reshape", "reshape", "multiply"],
        ),
        (
            lambda b, x, y: of("where")(b, b.constant(np.ones((2, 3), bool)), x, y),
            [(3,), (2, 1)],
            ["broadcast_to"],
        ),
        (
            lambda b, x, y: of("where")(b, b.constant(np.array([True, False])), x, y),
            [(2,), (2,)],
            ["where"],
        ),
        (lambda b, x: of("matmul")(b, of("diag")(b, of("ones")(b, 2)), x), [(2, 3)], []),
        (lambda b, x: of("matmul")(b, x, of("diag")(b, of("ones")(b, 3))), [(2, 3)], []),
    ],
)
def test_what_is_known_beforehand_is_not_computed(recording, shapes, left):
    assert simplified(recording, *shapes) == left


@pytest.mark.parametrize("rows", [0, 1, 2])
def test_jacobians_of_products_of_few_or_no_rows(ask, rows):
    x, w = np.arange(6.0).reshape(2, 3), np.arange(9.0).reshape(3, 3) - 4
    answer = ask.answer(f"x[:{rows}] @ w", {"x": x, "w": w}, kind="jacobian")
    by_x, by_w = (answer.derivatives["jacobian"][name] for name in "xw")
    ones = np.eye(3)
    assert_array_equal(by_x, np.einsum("ik,lj->ijkl", np.eye(2)[:rows], w))
    assert_array_equal(by_w, np.einsum("ik,jl->ijkl", x[:rows], ones))


def test_an_operation_has_one_rule_in_united_tables():
    def rule(op, args, values):
        return args[0]

    assert united({Add: rule}, {Multiply: rule}) == {Add: rule, Multiply: rule}
    with pytest.raises(TypeError, match="two rules for add"):
        united({Add: rule, Multiply: rule}, {Add: rule})
