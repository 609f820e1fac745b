"""Functions of functions: mapped ones beside loops, rules of their own, recomputed ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gradwire_engine import Engine, Leaf, Query
from gradwire_engine.errors import BadArgument, EngineError
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from tests.effort import examples
from tests.engine.conftest import called
from tests.tables import cases

RNG = np.random.default_rng(5)
XS, WS, K = RNG.normal(size=(4, 3)), RNG.normal(size=(4, 3)), np.array(0.7)
#: A function's body of an array x, an array w and a number k, all differentiable everywhere.
BODIES = st.recursive(
    st.sampled_from(["x", "w", "k", "x[1]", "x[::-1]", "1.5"]),
    lambda part: st.one_of(
        st.tuples(st.sampled_from(["sin", "tanh", "sum", "cumsum"]), part).map(
            lambda call: f"{call[0]}({call[1]} * x)"
        ),
        st.tuples(part, st.sampled_from("+-*"), part).map(lambda p: f"({' '.join(p)})"),
        st.tuples(part, part).map(lambda p: f"where({p[0]} > w, {p[1]}, x)"),
        part.map(lambda p: f"custom_gradient(lambda z: z, lambda g, y, z: g * y)({p} * x)"),
        part.map(lambda p: f"checkpoint(lambda z: sin(z) * exp(z * k))({p})"),
    ),
    max_leaves=6,
)


def ask(text: str, kind: Any = "gradient", **variables: Any) -> Any:
    engine = Engine()
    leaves = {name: Leaf(np.asarray(value, float)) for name, value in variables.items()}
    call = called(engine, text, leaves, kind)
    answer = call.replay(lambda: None)
    assert not answer.warnings
    if kind == "evaluate":
        return answer.value
    return answer.value, answer.gradients


def same(got: Any, want: Any) -> None:
    if isinstance(want, dict):
        assert got.keys() == want.keys()
        for key, item in want.items():
            same(got[key], item)
    elif isinstance(want, tuple):
        for item, other in zip(got, want, strict=True):
            same(item, other)
    elif want is None:
        assert got is None
    else:
        assert_allclose(np.asarray(got), np.asarray(want), rtol=1e-9, atol=1e-12)


@pytest.mark.thorough
@given(BODIES)
@examples(40)
def test_mapped_is_a_loop_to_second_order(body: str):
    """Values and gradients in what is mapped, shared and free; of the gradient, too."""
    function = f"def f(x, w):\n    return sin({body}) + x\n"
    ends = [
        ("vmap(f)(xs, ws)", "stack([f(x, w) for x, w in zip(xs, ws)])"),
        ("vmap(f, (0, None))(xs, ws[0])", "stack([f(x, ws[0]) for x in xs])"),
        ("vmap(grad(f))(xs, ws)", "stack([grad(f)(x, w) for x, w in zip(xs, ws)])"),
        (
            "vmap(jacobian(lambda x: vmap(f)(x * xs, ws)))(xs)",
            "stack([jacobian(lambda z: stack([f(z * y, w) for y, w in zip(xs, ws)]))(x)"
            " for x in xs])",
        ),
    ]
    variables = {"xs": XS, "ws": WS, "k": K}
    for mapped, looped in ends:
        same_or_refused(function, f"{mapped}**2", f"{looped}**2", variables)


def same_or_refused(start: str, got: str, want: str, variables: dict[str, Any]) -> None:
    answers: list[Any] = []
    for end in (got, want):
        try:
            engine = Engine()
            answer = called(engine, start + end, variables, "gradient")
            found = answer.replay(lambda: None)
            answers.append({"value": found.value, **found.gradients})
        except EngineError as error:
            answers.append(type(error))
    if isinstance(answers[1], type):
        assert answers[0] is answers[1]
    else:
        same(answers[0], answers[1])


def test_axes_are_mapped_where_they_are_and_put_where_they_shall_be():
    first = ask("vmap(lambda x, w: x * w, in_axes=[1, None], out_axes=-1)(a, w)", a=XS, w=WS[:, 0])
    same(first, ask("a * w[:, None]", a=XS, w=WS[:, 0]))
    nested = "vmap(f, in_axes=[{'p': 0, 'q': None}, 1], out_axes=[0, 1])({'p': a, 'q': b}, a.T)"
    value = ask(
        "def f(d, x):\n    return [d['p'] * x, d['q'] @ x]\n" + nested, "evaluate", a=XS, b=WS
    )
    same(value[0], XS * XS)
    same(value[1], WS @ XS.T)
    named = ask("vmap(lambda x, w: x @ w)(a, w=b)", "evaluate", a=XS, b=WS)
    same(named, np.sum(XS * WS, axis=1))
    same(ask("vmap(lambda x: k)(a)", a=XS, k=2)[1], {"a": None, "k": 4})
    assert np.shape(ask("vmap(lambda x: x @ x)(a[:0])", "evaluate", a=XS)) == (0,)


def test_a_whole_that_is_read_beside_its_part_gets_both_gradients():
    text = "vmap(lambda x: grad(sum(a * x), a))(a)"
    same(
        ask(text, "evaluate", a=XS),
        ask("stack([grad(sum(a * x), a) for x in a])", "evaluate", a=XS),
    )


@pytest.mark.parametrize("order", [[1.0, -1.0], [-1.0, 1.0]])
def test_rule_12_no_example_decides_for_another(order):
    for body in (
        "x if x > 0 else -x",
        "ones(int(x + 2)).sum()",
        "sum(ones(2)[stack([x, -1]) > 0])",
        "vmap(lambda y: x if x * y > 0 else y)(array([1.0, 1.0]))",
        "vmap(lambda y: y if y > 0 else x)(array([1.0, -1.0]))",
    ):
        with pytest.raises(BadArgument, match="decide differently") as caught:
            ask(f"vmap(lambda x: {body})(xs)", xs=order)
        assert caught.value.at
        assert "where" in (caught.value.hint or "")


def test_rule_12_loops_of_examples_end_where_each_ends():
    loop = "while_loop(lambda y: y < 3, lambda y: y * a + 2, x)"
    xs = np.array([1.0, -1.0, 4.0, 0.5])
    mapped = ask(f"sum(vmap(lambda x: {loop})(xs) ** 2)", xs=xs, a=0.9)
    same(mapped, ask(f"sum(stack([{loop} for x in xs]) ** 2)", xs=xs, a=0.9))


def test_rule_12_a_decision_that_all_share_is_guarded_for_all():
    engine = Engine()
    program = engine.parse("vmap(lambda x: x if x > 0 else -x * x)(xs)")
    for xs, want in ([1.0, 2.0], [1, 2]), ([-1.0, -2.0], [-1, -4]), ([3.0, 2.0], [3, 2]):
        call = engine.call(program, {"xs": Leaf(np.array(xs))}, Query("evaluate"))
        same(call.replay(lambda: None).value, want)
    mixed = engine.call(program, {"xs": Leaf(np.array([1.0, -1.0]))}, Query("evaluate"))
    with pytest.raises(BadArgument, match="decide differently"):
        mixed.replay(lambda: None)


@cases("text, words")
def test_mistakes_are_named_and_placed(text, words):
    with pytest.raises(EngineError, match=words) as caught:
        ask(text, a=XS, k=K)
    assert caught.value.at


@pytest.mark.rule("S46")
def test_the_identity_with_a_limited_gradient():
    """The clipping pattern: identity forwards, a limit backwards."""
    clipped = "custom_gradient(lambda x: x, lambda g, y, x: clip(g, -1, 1))"
    same(ask(f"sum(5 * {clipped}(x))", x=[1, 2])[1], {"x": [1, 1]})
    same(ask(f"k * {clipped}(x)", x=3, k=-7)[1], {"x": -1, "k": 3})


LOG1PEXP = """
def log1pexp(x):
    e = exp(x)
    def backward(g):
        return g * (1 - 1 / (1 + e))
    return log(1 + e), backward


f = custom_gradient(log1pexp)
"""


@pytest.mark.rule("S45")
def test_a_rule_is_differentiated_in_turn():
    """``log(1 + exp x)`` where the plain derivative is NaN: the sigmoid, and its own derivative."""
    x = np.array([-2.0, 0.0, 3.0])
    s = 1 / (1 + np.exp(-x))
    same(ask(LOG1PEXP + "vmap(grad(f))(x)", "evaluate", x=x), s)
    same(ask(LOG1PEXP + "vmap(grad(grad(f)))(x)", "evaluate", x=x), s * (1 - s))
    assert ask(LOG1PEXP + "f(x)", x=1000.0)[1]["x"] == 1.0


@pytest.mark.rule("S43")
def test_each_output_has_a_cotangent_zero_where_it_is_unused():
    text = """
def f(x):
    return [x, x * x], lambda g, h: 10 * g + h


y = custom_gradient(f)(x)
"""
    same(ask(text + "y[0]", x=3)[1], {"x": 10})
    same(ask(text + "y[1] * 2", x=3)[1], {"x": 2})
    same(ask(text + "y[0] + y[1]", x=3)[1], {"x": 11})


@pytest.mark.rule("S44")
def test_as_many_cotangents_as_arguments_none_where_nothing_flows():
    text = "custom_gradient(lambda x, k: x * k, lambda g, y, x, k: {})(x, k)"
    same(ask(text.format("[g, None]"), x=2, k=3)[1], {"x": 1, "k": None})
    with pytest.raises(BadArgument, match="each of 2 arguments"):
        ask(text.format("[g]"), x=2, k=3)


def test_a_function_with_a_rule_may_give_nothing():
    assert ask("custom_gradient(lambda t: [], lambda b, z, t: b)(sin)", "evaluate") == []


def test_nested_values_have_nested_cotangents():
    pair = "custom_gradient(lambda d, y: {'s': d['x'] * y, 't': y}, rule)"
    rule = "def rule(g, z, d, y):\n    return {'x': g['s'] * y}, g['s'] * d['x'] + g['t']\n"
    got = ask(f"{rule}r = {pair}({{'x': x}}, y)\nr['s'] * r['t']", x=3, y=2)
    same(got[0], 12.0)
    same(got[1], {"x": 4.0, "y": 12.0})


@pytest.mark.rule("S45")
def test_what_a_function_with_a_rule_reads_besides_is_constant_and_said_to_be():
    engine = Engine()
    program = engine.parse("custom_gradient(lambda x: x * k, lambda g, y, x: g)(x)")
    leaves = {"x": Leaf(np.array(2.0)), "k": Leaf(np.array(3.0))}
    answer = engine.call(program, leaves, Query("gradient")).replay(lambda: None)
    assert answer.gradients["k"] is None
    why = answer.unconnected["k"]
    assert why.reason == "stop_gradient"
    assert why.node
    assert why.node.column == 1


@given(BODIES)
@examples(30)
def test_recomputed_is_plain_to_second_order(body: str):
    start = f"def f(x, w):\n    return sin({body}) * exp(x)\n"
    end = "y = sum({}(x, w)**2)\ng = grad(y, [x, w])\nsum(g[0]**2) + sum(g[1]) + y"
    variables = {"x": XS[0], "w": WS[0], "k": K}
    same_or_refused(start, end.format("checkpoint(f)"), end.format("f"), variables)


def test_recomputing_lowers_the_predicted_peak_memory():
    """64 steps in 8 segments: of 64 kept results, 8 and those of one segment remain.

    In groups neither would keep more than a block of each.
    """

    def peak(segment: str) -> int:
        steps = "    x = sin(x) + cos(x) * x\n" * 8
        lines = f"y = {segment}(y)\n" * 8
        text = f"def segment(x):\n{steps}    return x\n\ny = x\n{lines}sum(y)"
        engine = Engine()
        values = {"x": Leaf(np.linspace(0, 1, 10_000))}
        call = called(engine, text, values, "gradient", sources="x", exact=True)
        call.replay(lambda: None)
        return call.entry.paths[0].executable.peak_bytes

    assert peak("checkpoint(segment)") < peak("segment") / 5


def test_a_request_for_many_examples_takes_all_of_them_along():
    text = """
f = custom_gradient(lambda z: z, lambda g, y, z: g * y)
root = custom_root(lambda x: x**3 + x - a, 1.0)
mapped = vmap(lambda x: checkpoint(lambda z: sin(z) * a)(x) * x)(w * a)
decided = vmap(lambda x: x * a if x * a > 0 else sin(x))(abs(w))
sum(f(mapped) * root + decided) + sum(grad(f)(root * a))
"""
    a, w = np.array([0.5, -2.0, 3.0]), WS[0]
    engine = Engine()
    leaves = {"a": Leaf(a), "w": Leaf(w)}
    query = Query("gradient", batch={"a": 0})
    call = engine.call(engine.parse(text), leaves, query)
    found = call.replay(lambda: None)
    for path in call.entry.paths:  # only recordings contain rules
        kept = {instruction.op.name for instruction in path.executable.tape.instructions}
        assert not kept & {"ruled", "vmap_placeholder"}
    for i, one in enumerate(a):
        value, gradients = ask(text, a=one, w=w)
        same(found.value[i], value)
        same({name: bar[i] for name, bar in found.gradients.items()}, gradients)


def test_products_of_functions_are_those_of_values():
    text = "f = lambda x, d: {'s': sum(x) * d['k'], 't': x * x}\n"
    pulled = "y, back = jax.vjp(f, x, {'k': k})\nback({'s': 2.0, 't': w})"
    value = ask(text + pulled, "evaluate", x=XS[0], w=WS[0], k=K)
    same(value[0], 2 * K + 2 * XS[0] * WS[0])
    same(value[1], {"k": 2 * np.sum(XS[0])})
    pushed = "jax.jvp(f, (x, {'k': k}), (w, {'k': 1.0}))[1]"
    value = ask(text + pushed, "evaluate", x=XS[0], w=WS[0], k=K)
    same(value, {"s": np.sum(WS[0]) * K + np.sum(XS[0]), "t": 2 * XS[0] * WS[0]})
