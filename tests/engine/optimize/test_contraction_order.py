"""Products of many arrays are computed in the order of least cost, by search over all orders."""

import math
from itertools import combinations
from string import ascii_lowercase

import gradwire_engine.ops  # noqa: F401  (fills the registry)
import numpy as np
import pytest
from gradwire_engine import Engine, Leaf, Query
from gradwire_engine.answer import Limits
from gradwire_engine.backends.reference.backend import COSTS
from gradwire_engine.check import interpret
from gradwire_engine.ops.base import FUNCTIONS
from gradwire_engine.ops.builder import Builder
from gradwire_engine.ops.linalg.contraction import Contract
from gradwire_engine.ops.linalg.products import MatMul
from gradwire_engine.optimize.contraction_order import paired
from gradwire_engine.optimize.products import MOST_FACTORS, Form
from gradwire_engine.optimize.simplify import optimize
from gradwire_engine.tape import ArrayType
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

FLOAT = np.dtype(float)


def size(labels, lengths):
    return math.prod(lengths[label] for label in labels)


def searched(arrays, result, lengths, largest):
    """The least cost of all orders in which no array exceeds ``largest``; infinite if none is."""
    if len(arrays) == 1:
        return 0.0
    best = math.inf
    for i, j in combinations(range(len(arrays)), 2):
        x, y = arrays[i], arrays[j]
        others = [*arrays[:i], *arrays[i + 1 : j], *arrays[j + 1 :]]
        made = (x | y) & result.union(*others)
        elements, read = size(made, lengths), size(x, lengths) + size(y, lengths)
        if elements > largest:
            continue
        if made == x | y:
            cost = COSTS.elementwise(elements, read, 8)
        else:
            cost = COSTS.contraction(
                size(x | y, lengths),
                elements + read,
                8,
                stacked=size(x & y & made, lengths),
                matrices=bool(x - y and y - x),
            )
        best = min(best, cost + searched([*others, made], result, lengths, largest))
    return best


@st.composite
def products(draw):
    """Labels of factors and of the result, where none is in one factor alone, and lengths."""
    count, labels = draw(st.integers(2, 5)), range(draw(st.integers(1, 5)))
    arrays = [set[int]() for _ in range(count)]
    result = set[int]()
    for label in labels:
        places = draw(st.sets(st.integers(0, count), min_size=2))
        for place in places:
            (result if place == count else arrays[place]).add(label)
    lengths = [draw(st.sampled_from([2, 3, 20, 500])) for _ in labels]
    return arrays, result, lengths


@settings(max_examples=60)
@given(products())
def test_no_order_costs_less(drawn):
    arrays, result, lengths = drawn
    labels = [tuple(sorted(each)) for each in arrays]
    shapes = tuple(tuple(lengths[i] for i in each) for each in labels)
    selects = (False,) * len(labels)
    form = Form(shapes, tuple(labels), selects, tuple(sorted(result)), tuple(lengths), (), FLOAT)
    found = paired(form, COSTS)
    largest = max(size(each, lengths) for each in [result, *arrays])
    least = searched(arrays, result, lengths, largest)
    if least < math.inf:
        assert found.cost == pytest.approx(least)


@given(products(), st.integers(0, 2**32 - 1))
def test_any_product_has_numpys_value(drawn, seed):
    arrays, result, _ = drawn
    lengths = [2 + i % 2 for i in range(5)]
    names = ["".join(ascii_lowercase[i] for i in sorted(each)) for each in [*arrays, result]]
    subscripts = f"{','.join(names[:-1])}->{names[-1]}"
    b, rng = Builder(Limits()), np.random.default_rng(seed)
    inputs = [rng.integers(-3, 4, [lengths[i] for i in sorted(a)]).astype(float) for a in arrays]
    given_arrays = [b.input(ArrayType(FLOAT, x.shape)) for x in inputs]
    tape = b.tape([FUNCTIONS["einsum"].record(b, subscripts, *given_arrays)])
    better = optimize(tape, Engine.backend)
    found = interpret(better, inputs)[better.outputs[0]]
    assert_array_equal(found, np.einsum(subscripts, *inputs))


LIKE = [((0,),) * MOST_FACTORS, ((0, 1),) * MOST_FACTORS]


@pytest.mark.parametrize("labels", LIKE, ids=["vectors", "matrices"])
def test_factors_that_are_alike_are_no_orders_of_their_own(labels):
    lengths = (100_000, 50)
    shapes = tuple(tuple(lengths[i] for i in each) for each in labels)
    form = Form(shapes, labels, (False,) * len(labels), (), lengths, (), FLOAT)
    one = Form(shapes[:2], labels[:2], (False,) * 2, (), lengths, (), FLOAT)
    product = COSTS.elementwise(math.prod(shapes[0]), 2 * math.prod(shapes[0]), 8)
    expected = paired(one, COSTS).cost + (len(labels) - 2) * product
    assert paired(form, COSTS).cost == pytest.approx(expected)


NAMES = {"tanh": np.tanh, "sin": np.sin, "exp": np.exp, "sum": np.sum}
STEP = 1e-30


@st.composite
def networks(draw):
    """A program of layers with functions between, its weights, and the number of examples.

    A layer may be multiplied by, or added to, another of the inputs or of what is before it.
    """
    width = draw(st.sampled_from([3, 8, 20]))
    ins, depth = draw(st.integers(1, 3)), draw(st.integers(2, 7))
    lines, shapes, h, before = [], {}, "x", {"x": ins}
    for i in range(depth):
        shapes[f"w{i}"] = (before[h], width)
        layer = f"{draw(st.sampled_from(['tanh', 'sin']))}({h} @ w{i})"
        if draw(st.integers(0, 3)) == 0:
            other = draw(st.sampled_from(sorted(before)))
            shapes[f"v{i}"] = (before[other], width)
            layer += f" {draw(st.sampled_from('*+'))} ({other} @ v{i})"
        h = f"h{i}"
        before[h] = width
        lines.append(f"{h} = {layer}")
    shapes["out"] = (width, 1)
    return lines, f"sum({h} @ out)", shapes, ins, draw(st.sampled_from([40, 300]))


def compiled(text, values, query):
    engine = Engine()
    call = engine.call(engine.parse(text), {name: Leaf(x) for name, x in values.items()}, query)
    answer = call.replay(lambda: None)
    return answer, call.entry.paths[0].executable.tape.instructions


def work(instructions):
    """The largest array that is made, and the arithmetic of all products of matrices."""
    made = [i for i in instructions if i.args]
    flops = [
        i.op.flops(i.type, *[instructions[arg].type for arg in i.args])
        for i in made
        if isinstance(i.op, Contract | MatMul)
    ]
    return max(i.type.size for i in made), sum(flops)


@settings(max_examples=15)
@given(networks(), st.integers(0, 2**32 - 1))
def test_layers_are_differentiated_along_the_examples(drawn, seed):
    """Slopes are NumPy's by complex steps, of first derivatives and of second ones."""
    lines, loss, shapes, ins, count = drawn
    rng = np.random.default_rng(seed)
    values = {name: rng.normal(size=shape) / shape[0] ** 0.5 for name, shape in shapes.items()}
    values["x"], direction = rng.normal(size=(2, count, ins))
    text = "\n".join([*lines, f"u = {loss}", "g = grad(u, x)", "sum(g[:, 0]**2)"])
    queries = {
        "first": ("\n".join([*lines, loss]), Query("gradient", sources=["x"])),
        "second": (text, Query("gradient", sources=["x"])),
        "of weights": (text, Query("gradient", sources=[*shapes])),
    }
    found = {}
    for name, (program, query) in queries.items():
        found[name], ours = compiled(program, values, query)
        exact, theirs = compiled(program, values, query._replace(exact=True))
        (largest, flops), (most, plain) = work(ours), work(theirs)
        assert largest <= most
        assert flops <= 1.1 * plain
        assert_allclose(found[name].value, exact.value, rtol=1e-9)
        for one, other in zip(found[name].gradients, exact.gradients, strict=True):
            assert_allclose(one, other, rtol=1e-9, atol=1e-11)
    scope = {**NAMES, **values, "x": values["x"] + 1j * STEP * direction}
    exec("\n".join(lines), scope)
    slope = eval(loss, scope).imag / STEP
    (first,) = found["first"].gradients
    assert np.sum(first * direction) == pytest.approx(slope, rel=1e-9, abs=1e-11)
