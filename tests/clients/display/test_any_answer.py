"""Every response can be shown in every form."""

from types import MappingProxyType
from typing import Any

import gradwire
import httpx
import numpy as np
from gradwire.display.rows import rows
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tests.arrays import arrays_of
from tests.clients.display.pages import Page
from tests.effort import share

DTYPES = st.sampled_from(
    "bool int8 uint64 float16 bfloat16 float32 float64 complex64 complex128".split()
)
ARRAYS = DTYPES.flatmap(
    lambda dtype: arrays_of(dtype, hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5))
) | st.integers(7, 300).map(lambda n: np.linspace(-1.0, 1.0, n))
KEYS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)


@st.composite
def sparse(draw):
    shape = draw(hnp.array_shapes(min_dims=1, max_dims=3, max_side=4))
    axes = draw(st.integers(1, len(shape)))
    count = draw(st.integers(0, 5))
    each = st.tuples(*(st.integers(0, n - 1) for n in shape[:axes]))
    places = draw(st.lists(each, min_size=count, max_size=count))
    values = draw(arrays_of(draw(DTYPES), (count, *shape[axes:])))
    return gradwire.SparseArray(np.array(places, np.int64).reshape(count, axes), values, shape)


@st.composite
def ragged(draw):
    lengths = draw(st.lists(st.integers(0, 4), max_size=5))
    inner = draw(hnp.array_shapes(min_dims=0, max_dims=1, max_side=3))
    values = draw(arrays_of(draw(DTYPES), (sum(lengths), *inner)))
    return gradwire.RaggedArray(values, np.cumsum([0, *lengths]))


LEAVES = ARRAYS | sparse() | ragged() | st.none()
NESTED = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4)
)
SHARED: dict[str, Any] = {
    "updates": {},
    "warnings": (gradwire.Notice("code", "<detail>", gradwire.Node("op", line=1, column=1)),),
    "nonfinite": {
        "forward": gradwire.Nonfinite("log", operands=(gradwire.Range((), None, None, 1),))
    },
    "program": None,
    "timings": MappingProxyType({}),
    "request_id": None,
    "raw": httpx.Response(200),
}


def check(answer):
    Page(answer._repr_html_())
    assert all(len(line) < 400 for line in repr(answer).splitlines())
    return answer.to_pandas()


@settings(max_examples=share(50), suppress_health_check=[HealthCheck.too_slow])
@given(NESTED)
def test_any_values_can_be_shown(values):
    frame = check(gradwire.Evaluation(outputs=values, **SHARED))
    assert frame.path.nunique() <= len(list(rows({"value": values})))


@settings(max_examples=share(50), suppress_health_check=[HealthCheck.too_slow])
@given(NESTED, LEAVES)
def test_any_gradients_can_be_shown(gradients, value):
    answer = {"value": value, "outputs": None, "unconnected": {}, "gradients": gradients, **SHARED}
    check(gradwire.Gradient(**answer))
    checked = {"": gradwire.SourceCheck(False, float("inf"), (0,))}
    check(gradwire.Check(ok=False, differences=None, checks=checked, **answer))
    check(gradwire.Hvp(hvp=gradients, **answer))


@settings(max_examples=share(50), suppress_health_check=[HealthCheck.too_slow])
@given(
    hnp.array_shapes(min_dims=0, max_dims=2),
    st.lists(hnp.array_shapes(min_dims=0, max_dims=2), max_size=3),
    DTYPES,
    st.data(),
)
def test_any_matrix_can_be_shown(target, shapes, dtype, data):
    value = data.draw(arrays_of(dtype, target))
    blocks = {
        f"k{i}": data.draw(arrays_of(dtype, (*target, *shape))) for i, shape in enumerate(shapes)
    }
    answer = {"value": value, "outputs": None, "unconnected": {}, **SHARED}
    check(gradwire.Jacobian(jacobian=blocks, **answer))
    gradients = {f"k{i}": data.draw(arrays_of(dtype, shape)) for i, shape in enumerate(shapes)}
    hessian = {
        f"k{i}": {
            f"k{j}": data.draw(arrays_of(dtype, (*one, *two))) for j, two in enumerate(shapes)
        }
        for i, one in enumerate(shapes)
    }
    check(gradwire.Hessian(gradients=gradients, hessian=hessian, **answer))
