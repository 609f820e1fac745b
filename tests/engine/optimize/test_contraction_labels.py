"""Products over any labels, written in several ways, with derivatives to second order."""

import math
from itertools import permutations

import numpy as np
import pytest
from gradwire_engine import Engine, Leaf, Query
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

LETTERS = "abcd"


@st.composite
def products(draw):
    """The labels of some arrays, of which one may have a label twice, and of their product."""
    count = draw(st.integers(1, 4))
    letters = st.sampled_from(LETTERS[: draw(st.integers(1, 4))])
    arrays = ["".join(draw(st.lists(letters, max_size=3))) for _ in range(count)]
    every = sorted({*"".join(arrays)})
    result = "".join(draw(st.permutations(every))[: draw(st.integers(0, len(every)))])
    lengths = {letter: draw(st.sampled_from([1, 2, 3, 7])) for letter in LETTERS}
    return arrays, result, lengths


def names(arrays):
    return [f"x{i}" for i in range(len(arrays))]


def by_einsum(arrays, result):
    return f"einsum('{','.join(arrays)}->{result}', {', '.join(names(arrays))})"


def in_pairs(arrays, result):
    """One array after the other, summed at the end."""
    text, have = "x0", arrays[0]
    for name, labels in zip(names(arrays)[1:], arrays[1:], strict=True):
        both = "".join(dict.fromkeys(have + labels))
        text, have = f"einsum('{have},{labels}->{both}', {text}, {name})", both
    return f"einsum('{have}->{result}', {text})"


def by_broadcasts(arrays, result):
    """Arrays aligned along all labels, multiplied, and summed."""
    every = sorted({*"".join(arrays)})
    aligned = []
    for name, labels in zip(names(arrays), arrays, strict=True):
        own = "".join(sorted({*labels}))
        index = ", ".join(":" if letter in own else "None" for letter in every)
        once = name if labels == own else f"einsum('{labels}->{own}', {name})"
        aligned.append(f"{once}[{index}]" if every and own else once)
    summed = tuple(i for i, letter in enumerate(every) if letter not in result)
    left = [letter for letter in every if letter in result]
    text = f"({' * '.join(aligned)})"
    text = f"sum({text}, axis={summed})" if summed else text
    return f"transpose({text}, {[left.index(i) for i in result]})" if len(left) > 1 else text


WRITINGS = {"einsum": by_einsum, "pairs": in_pairs, "broadcasts": by_broadcasts}


@pytest.mark.parametrize("write", WRITINGS.values(), ids=WRITINGS)
@given(products(), st.sampled_from(["float64", "complex128"]), st.integers(0, 2**32 - 1))
def test_products_and_their_derivatives(write, drawn, dtype, seed):
    """The product is linear in each array, which gives its derivatives in any directions."""
    arrays, result, lengths = drawn
    assume(any(arrays) or write is by_einsum)
    rng = np.random.default_rng(seed)

    def random(labels):
        x = rng.normal(size=[lengths[i] for i in labels])
        return x + 1j * rng.normal(size=x.shape) if dtype == "complex128" else x

    def product(values):
        return np.sum(w * np.einsum(f"{','.join(arrays)}->{result}", *values, optimize=False))

    x, u, v = ([random(labels) for labels in arrays] for _ in range(3))
    w = random(result)
    text = f"real(sum(w * {write(arrays, result)}))"
    given_values = {name: Leaf(value) for name, value in zip(names(arrays), x, strict=True)}
    engine = Engine()
    program = engine.parse(text)
    leaves = given_values | {"w": Leaf(w)}

    def asked(kind, vectors=None):
        call = engine.call(program, leaves, Query(kind, sources=names(arrays)), vectors)
        return [call.replay(lambda: None) for _ in range(2)][-1]

    answer = asked("gradient")
    size = 1 + np.abs(product([np.abs(y) for y in x]))
    assert_allclose(answer.value, np.real(product(x)), rtol=1e-10, atol=1e-10 * size)

    def along(gradients, directions):
        pairs = zip(gradients, directions, strict=True)
        return sum(np.sum(np.real(np.conj(g) * d)) for g, d in pairs)

    def replaced(*changes):
        values = [*x]
        for place, value in changes:
            values[place] = value
        return np.real(product(values))

    places = range(len(arrays))
    first = sum(replaced((i, u[i])) for i in places)
    assert_allclose(along(answer.gradients, u), first, rtol=1e-9, atol=1e-9 * size)
    second = sum(replaced((i, u[i]), (j, v[j])) for i, j in permutations(places, 2))
    found = asked("hvp", v).derivatives["hvp"]
    assert_allclose(along(found, u), second, rtol=1e-8, atol=1e-8 * size)


LENGTHS = st.lists(st.sampled_from([1, 2, 3]), min_size=1, max_size=3)


@given(
    st.tuples(LENGTHS, LENGTHS, LENGTHS),
    st.tuples(*[st.integers(0, 2)] * 3),
    st.booleans(),
    st.integers(0, 2**32 - 1),
)
def test_axes_that_are_merged_to_matrices(groups, ahead, turned, seed):
    """As convolutions have them: matrices of several axes each, and of length 1 before them."""
    rows, inner, columns = groups
    m, k, n = map(math.prod, groups)
    x = np.random.default_rng(seed).normal(size=(*rows, *inner))
    y = np.random.default_rng(seed + 1).normal(
        size=(*columns, *inner) if turned else (*inner, *columns)
    )
    first, second, third = ([1] * count for count in ahead)
    right = f"reshape(y, {[*second, n, k]}).mT" if turned else f"reshape(y, {[*second, k, n]})"
    product = f"reshape(x, {[*first, m, k]}) @ {right}"
    text = f"z = reshape({product}, {[*third, *rows, *columns]})\n"
    text += "sum(sin(z) * z) + sum(z**2)"
    engine = Engine()
    leaves = {"x": Leaf(x), "y": Leaf(y)}
    found, exact = (
        engine.call(engine.parse(text), leaves, query).replay(lambda: None)
        for query in [Query("gradient", sources=["x", "y"], exact=exact) for exact in (False, True)]
    )
    assert_allclose(found.value, exact.value, rtol=1e-10, atol=1e-10)
    for one, other in zip(found.gradients, exact.gradients, strict=True):
        assert_allclose(one, other, rtol=1e-9, atol=1e-9)
