"""Distributed loops give what they give whole; nothing is left in them but what recurs."""

import numpy as np
import pytest
from gradwire_engine import Engine, Leaf, Query
from gradwire_engine.backends.llvm.backend import NativeBackend
from gradwire_engine.explain import explain
from gradwire_engine.loops.loop import Loop
from gradwire_engine.nesting import leaves
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from tests.effort import share
from tests.engine.conftest import called
from tests.tables import cases

PASSES = 6
UNARY = ["tanh({0})", "sigmoid({0})", "sin({0})", "-{0}", "{0}", "sum({0}) + 0.0*w"]
BINARY = ["{0} + {1}", "{0} - {1}", "{0} * {1}", "maximum({0}, {1})"]
#: What a pass computes from: carries, rows, what is shared, a number, and what it has computed.
KNOWN = ["a", "b", "c", "d", "u[i]", "v[i]", "w", "x", "0.5*i", "0.25"]
STEPS = st.lists(
    st.tuples(st.sampled_from([*UNARY, *BINARY]), st.integers(0, 99), st.integers(0, 99)),
    min_size=1,
    max_size=8,
)
ENDS = st.tuples(*[st.integers(0, 99)] * 4)


def program(steps, ends, squash="tanh"):
    """A loop with random steps: ``c`` and ``d`` are sums, as often as not of something else."""
    known, lines = [*KNOWN], []
    for number, (form, first, second) in enumerate(steps):
        operands = known[first % len(known)], known[second % len(known)]
        lines.append(f"  t{number} = {form.format(*operands)}")
        known.append(f"t{number}")
    a, b, c, d = (known[end % len(known)] for end in ends)
    lines += [f"  new = {squash}({a})", f"  b, c = {squash}({b}), c + {c}", f"  d = d - {d}"]
    start = ["a, b, c, d = w, w * x, w, w", f"for i in range({PASSES}):"]
    return "\n".join([*start, *lines, "  a = new", "sum(a) + sum(b)*x + sum(c*d)/16"])


def values(rng):
    shapes = {"u": (PASSES, 3), "v": (PASSES, 3), "w": (3,), "x": ()}
    return {name: Leaf(rng.normal(size=shape) * 0.7) for name, shape in shapes.items()}


def answered(text, given, kind="gradient", **asked):
    engine = Engine()
    query = Query(kind, sources=["x"] if kind == "hessian" else sorted(given), **asked)
    call = engine.call(engine.parse(text), given, query)
    answers = [call.replay(lambda: None) for _ in range(2)]  # walked, then generated
    tape = call.entry.paths[0].executable.tape
    found = [leaves([answer.value, answer.derivatives]) for answer in answers]
    return [[np.asarray(x) for x in each if x is not None] for each in found], tape


@pytest.mark.thorough
@settings(max_examples=share(60), phases=[Phase.explicit, Phase.generate])
@given(STEPS, ENDS, st.integers(0, 2**32 - 1))
@example([("{0} * {1}", 0, 1), ("sigmoid({0})", 10, 0)], (11, 0, 0, 1), 0)  # one component
@example([("{0} * {1}", 0, 4), ("{0} * {1}", 1, 10)], (10, 11, 10, 11), 0)  # one after the other
@example([("{0}", 4, 4)], (1, 10, 0, 0), 0)  # carries that follow each other
@example([("{0} + {1}", 0, 10)], (6, 0, 1, 2), 0)  # one that follows a sum, backward
def test_distributed_loops_give_the_same(steps, ends, seed):
    given = values(np.random.default_rng(seed))
    text = program(steps, ends)
    (walked, generated), _ = answered(text, given)
    (whole, _), _ = answered(text, given, exact=True)
    for got in (walked, generated):
        for found, expected in zip(got, whole, strict=True):
            assert found.shape == expected.shape
            assert_allclose(found, expected, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize(("kind", "batch"), [("gradient", {"x": 0, "u": 1}), ("hessian", None)])
@settings(max_examples=share(20), phases=[Phase.explicit, Phase.generate])
@given(STEPS, ENDS, st.integers(0, 2**32 - 1))
def test_so_do_loops_for_examples_and_their_derivatives(kind, batch, steps, ends, seed):
    given = values(np.random.default_rng(seed))
    if batch:
        given["x"] = Leaf(np.array([0.3, -0.8]))
        given["u"] = Leaf(np.stack([given["u"].value, -given["u"].value], 1))
    text = program(steps, ends)
    (_, got), _ = answered(text, given, kind, batch=batch)
    (whole, _), _ = answered(text, given, kind, batch=batch, exact=True)
    for found, expected in zip(got, whole, strict=True):
        assert_allclose(found, expected, rtol=1e-11, atol=1e-11)


@pytest.mark.thorough
@settings(max_examples=share(60), phases=[Phase.explicit, Phase.generate])
@given(STEPS, ENDS, st.integers(0, 2**32 - 1))
def test_what_overflows_apart_did_before(steps, ends, seed):
    rng = np.random.default_rng(seed)
    given = values(rng)
    given = {name: Leaf(x.value * rng.choice([1e-200, 1.0, 1e150])) for name, x in given.items()}
    text = program(steps, ends, squash="1.0 * ")
    (_, got), _ = answered(text, given)
    (whole, _), _ = answered(text, given, exact=True)
    for found, expected in zip(got, whole, strict=True):
        assert np.isfinite(found[np.isfinite(expected)]).all()


def bodies(tape):
    """Of each loop, the operations that its passes execute."""
    found = [i.op for i in tape.instructions if isinstance(i.op, Loop)]
    sources = ("input", "constant")
    tapes = [op.body.tape.instructions for op in found]
    return [[i.op.name for i in tape if i.op.name not in sources] for tape in tapes]


@cases("lines, expected")
def test_only_what_recurs_is_left_in_loops(lines, expected):
    text = ["a, b, c = w, w * x, w", f"for i in range({PASSES}):", *[f"  {line}" for line in lines]]
    _, tape = answered("\n".join([*text, "sum(a + b + c)"]), values(np.random.default_rng(0)))
    assert bodies(tape) == expected


def test_a_loop_is_whole_where_it_is_to_be_exact():
    given, text = values(np.random.default_rng(0)), "for i in range(6):\n  w = w * x + u[i]\nsum(w)"
    tapes = [answered(text, given, exact=exact)[1] for exact in (False, True)]
    (_, distributed), (_, whole) = [bodies(tape) for tape in tapes]
    assert distributed == ["multiply"]
    assert len(whole) > 1


@pytest.mark.parametrize("dtype", ["int32", "int64", "bool", "float32", "complex128"])
def test_sums_keep_their_dtypes(dtype):
    text = "c = k\nfor i in range(6):\n  c, w = c + k, w * x + u[i]\n[c, w]"
    given = values(np.random.default_rng(0)) | {"k": Leaf(np.array([1, 0, 1], dtype))}
    found = []
    for exact in (False, True):
        engine = Engine()
        call = called(engine, text, given, "evaluate", exact=exact)
        found.append(call.replay(lambda: None).value)
    for got, expected in zip(*found, strict=True):
        assert got.dtype == expected.dtype
        assert_allclose(got, expected, rtol=1e-6)


def test_explaining_shows_loops_before_and_after():
    text = f"for i in range({PASSES}):\n  w = w * tanh(x)\n  x = sin(x + 0.1)\nsum(w)"
    program = Engine().parse(text)
    found = explain(program, values(np.random.default_rng(0)), Query("evaluate"))
    stages = [(name, found.stages[name].steps) for name in ("shrunk", "distributed")]
    loops_in = {name: sum([isinstance(s.op, Loop) for s in steps]) for name, steps in stages}
    assert loops_in == {"shrunk": 1, "distributed": 2}


@pytest.mark.parametrize(
    ("text", "distributed"),
    [
        ("for i in range(9):\n  x = tanh(x) * w[i]\nsum(x)", False),
        ("for i in range(9):\n  x = tanh(u @ x)\nsum(x)", True),
    ],
)
def test_of_compiled_loops_sums_of_outer_products_leave(text, distributed):
    rng = np.random.default_rng(1)
    shapes = {"x": (20,), "w": (9,), "u": (20, 20)}
    given = {name: Leaf(rng.normal(size=shape)) for name, shape in shapes.items() if name in text}
    query = Query("gradient", sources=sorted(given))
    found = explain(Engine().parse(text), given, query, backend=NativeBackend())
    assert ("distributed" in found.stages) == distributed
