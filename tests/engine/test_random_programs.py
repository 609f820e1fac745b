"""Random programs: both forms agree, derivatives are right, and what fails says so in words."""

from __future__ import annotations

from itertools import chain
from keyword import iskeyword
from typing import Any

import numpy as np
import pytest
from gradwire_engine import Answer, Engine, Leaf, Limits, Query
from gradwire_engine.dialects import DIALECTS
from gradwire_engine.errors import DeadlineExceeded, EngineError, InternalError
from gradwire_engine.ops.base import FUNCTIONS
from gradwire_engine.record.language import LANGUAGE
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from tests.effort import examples

RNG = np.random.default_rng(0)
VALUES = {
    "a": np.array(0.7),
    "b": np.array(-1.3),
    "x": RNG.normal(size=3),
    "m": RNG.normal(size=(2, 3)),
}
UNARY = {"sin": "sin", "tanh": "tanh", "negative": "-", "copy": "copy"}
BINARY = {"add": "+", "multiply": "*", "subtract": "-"}
LIMITS = Limits(array_bytes=1 << 24, total_bytes=1 << 26, instructions=20_000, flops=10**8)


def ask(
    program: Any, values: dict[str, Any], *, engine: Engine | None = None, **query: Any
) -> Answer:
    engine = engine or Engine()
    polls = 0

    def poll():
        nonlocal polls
        polls += 1
        if polls > 10_000:
            raise DeadlineExceeded("the time is up")

    leaves = {
        k: Leaf(np.asarray(v)) if not isinstance(v, dict | list | Leaf) else v
        for k, v in values.items()
    }
    asked = Query(**{"kind": "gradient", **query})
    return engine.call(engine.parse(program), leaves, asked).replay(poll)


class Pair:
    """A program in both forms, written together, with the shapes of its names."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.nodes: list[dict[str, Any]] = []
        self.shapes = {name: value.shape for name, value in VALUES.items()}

    def assign(self, text: str, node: dict[str, Any], shape: tuple[int, ...]) -> None:
        name = f"v{len(self.nodes)}"
        self.lines.append(f"{name} = {text}")
        self.nodes.append({"id": name, **node})
        self.shapes[name] = shape

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    @property
    def graph(self) -> dict[str, Any]:
        return {"nodes": self.nodes, "outputs": self.nodes[-1]["id"]}


@st.composite
def pairs(draw: st.DrawFn) -> Pair:
    pair = Pair()
    node: dict[str, Any]
    for _ in range(draw(st.integers(1, 8))):
        names = sorted(pair.shapes)
        one, two = draw(st.sampled_from(names)), draw(st.sampled_from(names))
        shape, other = pair.shapes[one], pair.shapes[two]
        kind = draw(
            st.sampled_from(["unary", "binary", "literal", "where", "cond", "axis", "loop"])
        )
        if kind == "unary":
            op = draw(st.sampled_from(sorted(UNARY)))
            pair.assign(f"{UNARY[op]}({one})", {"op": op, "args": [one]}, shape)
        elif kind == "binary":
            op = draw(st.sampled_from(sorted(BINARY)))
            assume(np.prod(np.maximum(other, 1)) < 99)
            node = {"op": op, "args": [one, two]}
            pair.assign(f"{one} {BINARY[op]} {two}", node, together(shape, other))
        elif kind == "literal":
            value = draw(st.sampled_from([2, -1, 0.5, 0]))
            pair.assign(f"{one} * {value}", {"op": "multiply", "args": [one, value]}, shape)
        elif kind == "where":
            node = {"op": "where", "args": [{"op": "greater", "args": [one, 0.1]}, one, two]}
            pair.assign(f"where({one} > 0.1, {one}, {two})", node, together(shape, other))
        elif kind == "cond":
            node = {
                "op": "cond",
                "args": [{"op": "less", "args": ["a", draw(st.sampled_from([0, 1]))]}],
            }
            node["attrs"] = {"then": {"outputs": one}, "else": {"outputs": two}}
            (limit,) = node["args"][0]["args"][1:]
            taken = shape if limit else other
            pair.assign(f"cond(a < {limit}, lambda: {one}, lambda: {two})", node, taken)
        elif kind == "axis" and shape:
            axis = draw(st.integers(-1, len(shape) - 1))
            op = draw(st.sampled_from(["sum", "mean"]))
            node = {"op": op, "args": [one], "attrs": {"axis": axis, "keepdims": True}}
            axis %= len(shape)
            reduced = (*shape[:axis], 1, *shape[axis + 1 :])
            pair.assign(f"{op}({one}, keepdims=True, axis={node['attrs']['axis']})", node, reduced)
        elif kind == "loop" and shape == other:
            attrs = {"index": "i", "carry": ["p", "q"], "body": {"outputs": ["q", "p"]}}
            node = {"op": "for", "args": [3, one, two], "attrs": attrs}
            pair.assign(f"fori_loop(0, 3, lambda i, p, q: (q, p), ({one}, {two}))", node, shape)
            swapped = f"v{len(pair.nodes) - 1}"
            del pair.shapes[swapped]
            node = {"op": "getitem", "args": [swapped], "attrs": {"index": 0}}
            pair.assign(f"{swapped}[0]", node, shape)
    assume(pair.nodes)
    last = pair.nodes[-1]["id"]
    pair.assign(
        f"sum({last}*{last})", {"op": "sum", "args": [{"op": "multiply", "args": [last, last]}]}, ()
    )
    return pair


def together(one: tuple[int, ...], two: tuple[int, ...]) -> tuple[int, ...]:
    return np.broadcast_shapes(one, two)


@given(pairs())
def test_text_and_graph_are_one_program(pair):
    engine = Engine()
    assert engine.parse(pair.text).id == engine.parse(pair.graph).id
    one, two = ask(pair.text, VALUES), ask(pair.graph, VALUES)
    assert one.value == two.value
    for name, gradient in one.gradients.items():
        assert np.array_equal(gradient, two.gradients[name])
    reasons = {path: why.reason for path, why in one.unconnected.items()}
    assert reasons == {path: why.reason for path, why in two.unconnected.items()}


@st.composite
def scripts(draw: st.DrawFn) -> str:
    """Statements over the variables, control flow among them; ``y`` is a scalar at the end."""
    lines = ["s = sum(m @ x)*a + b", "v = x*a"]

    def expression(depth: int = 0) -> str:
        if depth > 2 or draw(st.booleans()):
            return draw(st.sampled_from(["a", "b", "s", "sum(v)", "x[0]", "sum(v*x)", "0.5", "2"]))
        left, right = expression(depth + 1), expression(depth + 1)
        form = draw(st.sampled_from(["{} + {}", "{}*{}", "{} - {}", "sin({})*{}", "tanh({} + {})"]))
        return "(" + form.format(left, right) + ")"

    def statement(indent: str, depth: int) -> None:
        kind = draw(st.sampled_from("s v element if for while until function list".split()))
        kind = kind if depth < 2 else "s"
        if kind == "s":
            lines.append(f"{indent}s = tanh({expression()})")
        elif kind == "v":
            lines.append(f"{indent}v = tanh(v*{expression()}) + sin(x)")
        elif kind == "element":
            lines.append(f"{indent}v[{draw(st.integers(-3, 2))}] = {expression()}")
        elif kind == "if":
            lines.append(
                f"{indent}if {draw(st.sampled_from(['a > 0', 'a < b', 'x[1] > a', 's > v[0]']))}:"
            )
            statement(indent + "  ", depth + 1)
            lines.append(f"{indent}else:")
            statement(indent + "  ", depth + 1)
        elif kind == "for":
            lines.append(
                f"{indent}for i in range({draw(st.sampled_from([0, 1, 3, 3 if depth else 12]))}):"
            )
            statement(indent + "  ", depth + 1)
        elif kind == "while":
            lines.append(f"{indent}k = 0")
            lines.append(f"{indent}while k < 2:")
            statement(indent + "  ", depth + 1)
            lines.append(f"{indent}  k += 1")
        elif kind == "until":  # values decide how often
            lines.append(f"{indent}t{depth} = a*a")
            lines.append(f"{indent}while t{depth} < {draw(st.sampled_from([0, 2, 9]))}:")
            statement(indent + "  ", depth + 1)
            lines.append(f"{indent}  t{depth} = t{depth} + 1 + x[0]*x[0]")
        elif kind == "function":
            lines.append(f"{indent}f = lambda t, u=2: tanh(t*u) + s")
            lines.append(f"{indent}s = f({expression()}, u={expression()})")
        else:
            lines.append(f"{indent}s = sum([tanh(e*{expression()}) for e in v])")

    for _ in range(draw(st.integers(1, 5))):
        statement("", 0)
    return "\n".join([*lines, "y = tanh(s) + sum(sin(v))"])


@pytest.mark.thorough
@examples(60)
@given(scripts(), st.integers(0, 2**32 - 1))
def test_gradients_are_the_slopes(text, seed):
    rng = np.random.default_rng(seed)
    answer = ask(text, VALUES, unconnected="zero")
    along = {name: rng.normal(size=value.shape) for name, value in VALUES.items()}
    h = 1e-4

    def at(step: float) -> Any:
        moved = {name: value + step * along[name] for name, value in VALUES.items()}
        return ask(text, moved, kind="evaluate").value

    slope = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h)
    found = sum(np.sum(answer.gradients[name] * along[name]) for name in VALUES)
    scale = 1 + sum(np.sum(np.abs(answer.gradients[name])) for name in VALUES)
    assume(scale < 1e3)  # where values run away, differences tell nothing
    assert abs(found - slope) <= 1e-5 * scale


def values_of(rng: np.random.Generator, *leading: int) -> dict[str, Any]:
    """The variables with other values, of as many examples as ``leading`` says."""
    return {name: rng.normal(size=(*leading, *value.shape)) for name, value in VALUES.items()}


def transposed(text: str, rng: np.random.Generator) -> tuple[Any, Any]:
    """Forward and reverse mode: ``⟨w, J u⟩ = ⟨Jᵀ w, u⟩``."""
    text += (
        "\nd = [sum(jvp(v, x, u)*w), jvp(y, m, p)]\ne = [sum(vjp(v, x, w)*u), sum(grad(y, m)*p)]"
    )
    along = {"u": rng.normal(size=3), "w": rng.normal(size=3), "p": rng.normal(size=(2, 3))}
    found = ask(text, VALUES | along, kind="evaluate", outputs=["d", "e"]).value
    return found[0], found[1]


def symmetric(text: str, rng: np.random.Generator) -> tuple[Any, Any]:
    """Second derivatives in two variables, either first."""
    text += """
p, q = grad(y, [x, m])
pq = sum(grad(sum(p*u), m)*w)
qp = sum(grad(sum(q*w), x)*u)
"""
    along = {"u": rng.normal(size=3), "w": rng.normal(size=(2, 3))}
    found = ask(text, VALUES | along, kind="evaluate", outputs=["pq", "qp"]).value
    return found[0], found[1]


def mapped(text: str, rng: np.random.Generator) -> tuple[Any, Any]:
    """A batch, and each of its examples alone, whatever path it takes."""
    stacks = values_of(rng, 4)
    together = gradients(text, stacks, batch=dict.fromkeys(VALUES, 0))
    examples = [{name: stack[i] for name, stack in stacks.items()} for i in range(4)]
    return together, np.stack([gradients(text, example) for example in examples], axis=-1)


def replayed(text: str, rng: np.random.Generator) -> tuple[Any, Any]:
    """Other values: the tapes that are there where their guards hold, and a new recording."""
    engine, points = Engine(), [VALUES, *[values_of(rng) for _ in range(4)]]
    known = [gradients(text, point, engine=engine) for point in points]
    return known, [gradients(text, point) for point in points]


def recomputed(text: str, rng: np.random.Generator) -> tuple[Any, Any]:
    """A program as a function: what it computes kept for the derivative, or computed again."""
    body = "\n".join(f"  {line}" for line in [*text.splitlines(), "return y"])
    text, values = f"def program(a, b, x, m):\n{body}\n", values_of(rng)
    plain = gradients(text + "program(a, b, x, m)", values)
    return gradients(text + "checkpoint(program)(a, b, x, m)", values), plain


def by_nonzeros(text: str, rng: np.random.Generator) -> tuple[Any, Any]:
    """Jacobian and Hessian by coordinates, and as whole arrays."""
    values = values_of(rng)
    found: list[Any] = []
    for form in "coo", "dense":
        fields: dict[str, Any] = {"format": form, "unconnected": "zero"}
        rows = ask(text, values, kind="jacobian", target="v", sources=["x", "m"], **fields)
        second = ask(text, values, kind="hessian", sources=["x", "m"], **fields)
        parts = [*rows.derivatives["jacobian"], *chain(*second.derivatives["hessian"])]
        found.append(np.concatenate([whole(part).ravel() for part in parts]))
    return found[0], found[1]


def gradients(text: str, values: dict[str, Any], **asked: Any) -> Any:
    """The value and all elements of the gradients; of a batch the last axis counts examples."""
    answer = ask(text, values, unconnected="zero", **asked)
    parts = [answer.value, *[answer.gradients[name] for name in VALUES]]
    if "batch" in asked:
        return np.concatenate([np.reshape(part, (len(answer.value), -1)) for part in parts], 1).T
    return np.concatenate([np.ravel(part) for part in parts])


def whole(block: Any) -> Any:
    """The array that coordinates stand for; an array is that already."""
    if not isinstance(block, dict):
        return block
    dense = np.zeros(block["shape"])
    np.add.at(dense, tuple(block["indices"].T), block["values"])
    return dense


@pytest.mark.parametrize(
    "ways",
    [transposed, symmetric, mapped, replayed, recomputed, by_nonzeros],
    ids=lambda f: f.__name__,
)
@examples(40)
@given(scripts(), st.integers(0, 2**32 - 1))
def test_two_ways_to_one_answer_agree(ways, text, seed):
    one, other = ways(text, np.random.default_rng(seed))
    scale = 1 + np.max(np.abs(other), initial=0)
    assert_allclose(one, other, rtol=1e-7, atol=1e-9 * scale)


TOKENS = (
    "x n m p s 0 1 2 -1 0.5 3 1e9 10**6 True None 'axis' ... i y f + - * / ** // % @ < == and "
    "or not ( ) [ ] , : . = += if else for in range( while def lambda return break : sin( "
    "sum( grad( jvp( where( zeros( stack( max( len( list( int( enumerate( zip( cond( .T .shape "
    ".append( .assign( .sum( .reshape( axis= x[ n] [0] p.w y=x"
)
#: Expressions that are grammatical, and mostly nonsense.
ATOMS = "x n m p s 0 1 2 -1 0.5 10**6 True None 'axis' ... x.T m.shape p.w p[0] []".split()
OPERATORS = "+ - * / // % ** @ < == & | << and or in is".split()
OF_ONE = (
    "sin sum max len list int range enumerate abs cumprod zeros stack grad jvp where sort norm inv "
    "argmax cumsum bool float any nonzero"
).split()
OF_TWO = "max sum where reshape zip grad range concatenate power take clip dot jvp".split()
MEMBERS = "shape T sum() reshape(2) astype(float) w size append(1) max(0)".split()
EXPRESSIONS = st.recursive(
    st.sampled_from(ATOMS),
    lambda e: st.one_of(
        st.builds("({} {} {})".format, e, st.sampled_from(OPERATORS), e),
        st.builds("{}({})".format, st.sampled_from(OF_ONE), e),
        st.builds("{}({}, {})".format, st.sampled_from(OF_TWO), e, e),
        st.builds("{}[{}]".format, e, e),
        st.builds("{}[{}:{}]".format, e, e, e),
        st.builds("{}[{}, {}]".format, e, e, e),
        st.builds("({} if {} else {})".format, e, e, e),
        st.builds("[{} for i in {} if {}]".format, e, e, e),
        st.builds("[{}, {}]".format, e, e),
        st.builds("{{'a': {}}}".format, e),
        st.builds("(lambda t: {})({})".format, e, e),
        st.builds("{}.{}".format, e, st.sampled_from(MEMBERS)),
    ),
    max_leaves=8,
)
STATEMENTS = st.one_of(
    st.builds("y = {}".format, EXPRESSIONS),
    st.builds("x = {}".format, EXPRESSIONS),
    st.builds("x[{}] = {}".format, EXPRESSIONS, EXPRESSIONS),
    st.builds("x.assign({})".format, EXPRESSIONS),
    st.builds("a, b = {}".format, EXPRESSIONS),
    st.builds("x += {}".format, EXPRESSIONS),
    st.builds("for i in {}:\n  x = {}".format, EXPRESSIONS, EXPRESSIONS),
    st.builds("if {}:\n  y = {}".format, EXPRESSIONS, EXPRESSIONS),
    st.builds("while {}:\n  x = {}".format, EXPRESSIONS, EXPRESSIONS),
    st.builds(
        "def f(t, u={}):\n  return {}\ny = f({})".format, EXPRESSIONS, EXPRESSIONS, EXPRESSIONS
    ),
    EXPRESSIONS,
)
VARIABLES = st.fixed_dictionaries(
    {},
    optional={
        "x": st.sampled_from([np.ones(3), np.zeros((2, 0)), np.float32(2), np.ones((2, 2)) * 1j]),
        "n": st.sampled_from(
            [np.int64(2), np.uint8(255), np.array([1, 0]), np.array(True), np.nan]
        ),
        "m": st.sampled_from([np.eye(2), np.zeros((3, 3)), np.array([[1, 2]], np.int32)]),
        "p": st.sampled_from([{"w": Leaf(np.ones(2))}, [Leaf(np.ones(2)), {}], []]),
        "s": st.just("text"),
    },
)


def leaf(value: Any) -> Any:
    return Leaf(value) if isinstance(value, str) else value


@examples(400)
@given(
    st.lists(st.sampled_from([*TOKENS.split(), "\n", "\n  "]), min_size=1, max_size=14).map(
        " ".join
    ),
    VARIABLES,
    st.sampled_from(["evaluate", "gradient"]),
)
def test_no_text_raises_anything_but_typed_errors(text, variables, kind):
    assert_answered(text, variables, kind)


@pytest.mark.thorough
@examples(400)
@given(
    st.lists(STATEMENTS, min_size=1, max_size=4).map("\n".join),
    VARIABLES,
    st.sampled_from(["evaluate", "gradient"]),
)
def test_no_statement_raises_anything_but_typed_errors(text, variables, kind):
    assert_answered(text, variables, kind)


CALLS = (
    "sum mean max min reshape transpose concatenate stack where take clip "
    "norm dot matmul einsum sort cumsum argmax prod var arange linspace "
    "zeros eye repeat tile pad split roll broadcast_to getitem cond while "
    "for grad jvp len range int float list power left_shift "
).split()
ARGUMENTS = st.recursive(
    st.sampled_from(["x", "n", "m", "p", "p.w", "s", "a"])
    | st.sampled_from([0, 1, -1, 2, 3.5, True, None, 10**12, -(10**12), 10**30, 1e300]),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=4,
)
ATTRIBUTES = st.dictionaries(
    st.sampled_from("axis shape keepdims dtype index n k repeats ord then else carry body".split()),
    st.sampled_from(
        [
            0,
            1,
            -1,
            7,
            [0, 1],
            [0, 0],
            [[0]],
            None,
            "float32",
            "nonsense",
            True,
            1.5,
            {"outputs": "x"},
        ]
    ),
    max_size=2,
)


@examples(400)
@given(st.sampled_from(CALLS), st.lists(ARGUMENTS, max_size=3), ATTRIBUTES, VARIABLES)
def test_no_graph_raises_anything_but_typed_errors(op, args, attrs, variables):
    nodes = [{"id": "a", "op": "negative", "args": ["x"]}]
    nodes.append({"id": "b", "op": op, "args": args, "attrs": attrs})
    assert_answered({"nodes": nodes, "outputs": "b"}, variables, "gradient")


#: What a function may be called with, and mostly should not.
ODD = (
    """
None | True | ... | 'a' | 'reflect' | 0 | -1 | 3 | 10**6 | 10**12 | 2**63 | -2**63 | 1e308 |
-0.5 | nan | inf | 1j | (1e200+1e200j) | [] | () | {} | [[]] | [None] | ['a'] | [sin] |
[1, [2]] | [x, 1] | [x, m] | [1.5] | [2**63] | [0, 0] | [2, 2] | (-1, -1) | [[1, 2], [3]] |
[[0, 1], [1, 1]] | {'a': x} | ((x,), x) | sin | float32 | float | range | cond | grad |
(lambda: x) | (lambda t: t) | (lambda t: None) | (lambda t: []) | (lambda t, v: t + v) |
(lambda t, v: (t, v)) | grad(sin) | range(3) | x.at | x.shape | m.T | x.dtype | (x > 0) |
x[:0] | x.astype(int32) | 'sum' | 'valid' | 'L' | x | m | n | z0 | u8 | c | p | p.w | s |
0xTOO_LONG
""".strip()
    .replace("\n", " ")
    .split(" | ")
)
ODD[-1] = "0x" + "f" * 4000
GIVEN = {
    "x": np.linspace(0.1, 0.9, 3),
    "m": np.eye(3) * 2,
    "n": np.int64(2),
    "z0": np.zeros(0),
    "u8": np.array([255, 0, 7], np.uint8),
    "c": np.full((2, 2), 1j),
    "p": {"w": Leaf(np.ones(3))},
    "s": Leaf("text"),
}
NAMES = sorted({*FUNCTIONS, *LANGUAGE, *[name for d in DIALECTS for name in d.functions]})


@examples(400)
@given(
    st.sampled_from([name for name in NAMES if not iskeyword(name.split("_")[0])]),
    st.lists(st.sampled_from(ODD), max_size=4).map(", ".join),
    st.sampled_from(["evaluate", "gradient"]),
)
def test_no_call_raises_anything_but_typed_errors(name, arguments, kind):
    assert_answered(f"{name}({arguments})", GIVEN, kind)


def assert_answered(program: Any, variables: dict[str, Any], kind: str) -> None:
    try:
        leaves = {key: leaf(value) for key, value in variables.items()}
        ask(program, leaves, engine=Engine(LIMITS), kind=kind)
    except InternalError:
        raise
    except EngineError:
        return
