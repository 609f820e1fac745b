"""The first non-finite value: the instruction that made it, and what would not have."""

import numpy as np
import pytest
from gradwire_engine.errors import DeadlineExceeded


@pytest.mark.parametrize(
    ("text", "forward", "backward"),
    [
        ("y = x\nz = log(y)\nz + 1", 2, 2),
        ("y = x*2\nz = 1/y", 2, 2),
        ("y = sqrt(x)\nz = y + 1", None, 1),
        ("y = sqrt(x)\nz = y*2", None, 1),
        ("y = x + 1\nz = exp(y*2000)", 2, 2),
        ("a = where(x > 0, log(x), 0.0)\nz = a + 1/x", 2, 2),
        ("a = where(x > 0, log(x), -inf)\nz = exp(a)\nz + sqrt(x)", None, 3),
        ("a = sigmoid(2/x)\nz = stop_gradient(a) + log(x)", 2, 2),
    ],
)
def test_the_instruction_that_made_it_is_named(ask, text, forward, backward):
    answer = ask.answer(text, {"x": 0.0})
    lines = {direction: where.node.line for direction, where in answer.nonfinite.items()}
    assert (lines.get("forward"), lines.get("backward")) == (forward, backward)


def test_what_was_made_of_finite_operands_comes_before_what_came_so(ask):
    answer = ask.answer("y = 2*x\nz = y*10", {"x": [np.nan, 1e307, 1.0]}, kind="evaluate")
    where = answer.nonfinite["forward"]
    assert (where.node.line, where.instruction) == (2, "multiply")
    assert where.operands[0] == ((3,), 2.0, 2e307, 1)


def test_what_came_so_is_named_where_nothing_made_it(ask):
    answer = ask.answer("y = 2*a.x", {"a": {"n": 1.0, "x": [np.inf, 3.0, np.nan]}})
    assert list(answer.nonfinite) == ["forward"]
    where = answer.nonfinite["forward"]
    assert (where.node.id, where.instruction) == ("a.x", "input")
    assert where.operands == (((3,), 3.0, 3.0, 2),)
    constant = ask.answer("y = x\nz = y + inf", {"x": 1.0}).nonfinite["forward"]
    assert (constant.instruction, constant.node.line) == ("constant", 2)
    assert constant.operands == (((), None, None, 1),)


def test_a_seed_is_named_by_its_field(ask):
    answer = ask.answer("x", {"x": 1.0}, seeds=[np.array(np.nan)], target=["x"], sources="x")
    (where,) = answer.nonfinite.values()
    assert where.node.pointer == "/output_gradients"


def test_complex_operands_are_measured_by_their_size(ask):
    x = np.array([3 + 4j, 0, np.inf])
    where = ask.answer("1/x", {"x": x}, kind="evaluate").nonfinite["forward"]
    assert where.operands[-1] == ((3,), 0.0, 5.0, 1)


@pytest.mark.parametrize(
    ("text", "variables", "hint"),
    [
        ("sqrt(sum(x*x))", {"x": [0.0, 0.0]}, "norm"),
        ("sum(x**2)**0.5", {"x": [0.0, 0.0]}, "norm"),
        ("sqrt(x**2 + y**2)", {"x": 0.0, "y": 0.0}, "hypot"),
        ("-sum(x*log(x))", {"x": [0.0, 1.0]}, "xlogy"),
        ("3*log(x)", {"x": 0.0}, None),
        ("x/y", {"x": [0.0, 1.0], "y": [0.0, 1.0]}, "divide_no_nan"),
        ("x/y", {"x": 1.0, "y": 0.0}, None),
        ("sum(log(softmax(x)))", {"x": [0.0, 1000.0]}, "log_softmax"),
        ("e = exp(x - max(x))\nsum(log(e/sum(e)))", {"x": [0.0, 1000.0]}, "log_softmax"),
        ("log(sum(exp(x)))", {"x": [0.0, 1000.0]}, "logsumexp"),
        ("log(1 + exp(x))", {"x": 1000.0}, "softplus"),
        ("log1p(exp(x))", {"x": 1000.0}, "softplus"),
        ("sum(exp(x)/sum(exp(x)))", {"x": [0.0, 1000.0]}, "softmax"),
        ("exp(x)", {"x": 1000.0}, None),
    ],
)
def test_a_hint_names_what_stays_finite(ask, text, variables, hint):
    answer = ask.answer(text, variables)
    (first, *_) = answer.nonfinite.values()
    assert (first.hint or "").partition("(")[0] == (hint or "")


def test_what_hints_name_is_finite_there(ask):
    variables = {"x": [0.0, 0.0], "p": [0.0, 1.0], "s": [0.0, 1000.0]}
    better = [
        "norm(x)",
        "sum(hypot(x, x))",
        "sum(xlogy(p, p))",
        "sum(divide_no_nan(x, p))",
        "sum(log_softmax(s))",
        "logsumexp(s)",
        "sum(softplus(s))",
        "sum(softmax(s))",
    ]
    for text in better:
        assert "forward" not in ask.answer(text, variables).nonfinite, text
    for text in better[:1] + better[4:]:
        assert ask.answer(text, variables).nonfinite == {}, text


def test_results_of_several_arrays_are_looked_at(ask):
    answer = ask.answer("s, l = slogdet(x)\nl*2", {"x": np.diag([1.0, 0.0])}, kind="evaluate")
    assert answer.nonfinite["forward"].instruction == "slogdet"


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["evaluate", "gradient"])
def test_what_a_loop_made_is_looked_at_by_the_result(ask, kind):
    text = "y = x\nfor i in range(20):\n  for j in range(10):\n    y = y + 0.1 * y**2\nsum(y)"
    answer = ask.answer(text, {"x": np.ones(3)}, kind=kind)
    assert answer.nonfinite["forward"].instruction == "power"


def test_looking_takes_no_more_memory_than_a_replay(ask):
    import tracemalloc

    text = "y = x\nfor i in range(60):\n  y = sin(y)\nlog(y - y)"
    tracemalloc.start()
    assert ask.value(text, {"x": np.ones(100_000)})[0] == -np.inf
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10 * 800_000


def test_looking_ends_at_the_deadline(ask):
    text = "y = x\n" + "y = sin(y)\n" * 100 + "log(y - y)"
    ask.value(text, {"x": np.ones(3)})
    polls = ask.polls

    def stop():
        nonlocal polls
        polls -= 1
        if polls < 0:
            raise DeadlineExceeded("the time is up")

    polls = 50
    with pytest.raises(DeadlineExceeded):
        ask.answer(text, {"x": np.ones(3)}, kind="evaluate", poll=stop)


@pytest.mark.parametrize(
    ("text", "direction", "instruction"),
    [
        ("y = x\nfor i in range(900):\n  t = y + 2.0\n  y = log(t - i)", "forward", "log"),
        ("y = x\nwhile y < 40:\n  y = y * 1.2\n  y = y + sqrt(y - y)", "backward", "divide"),
        ("y = x\nfor u in V:\n  for v in V:\n    y = 1 / (v - u)", "forward", "divide"),
    ],
)
def test_in_a_loop_the_instruction_of_its_body_is_named(ask, text, direction, instruction):
    where = ask.answer(text, {"x": 1.0, "V": np.arange(50.0)}).nonfinite[direction]
    assert (where.node.line, where.instruction) == (4, instruction)
    assert not any(operand.nonfinite for operand in where.operands)
