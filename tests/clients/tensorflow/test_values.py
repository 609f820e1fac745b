"""Shapes, dtypes, conversion, nested values and modules agree with NumPy or Python."""

import math

import gradwire.tf as tf
import ml_dtypes
import numpy as np
import pytest
from gradwire.tf import dtypes
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

lengths = st.one_of(st.none(), st.lists(st.one_of(st.none(), st.integers(0, 3)), max_size=3))
structures = st.recursive(
    st.integers(),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    ),
    max_leaves=6,
)


@given(lengths, lengths)
def test_merging_compatible_shapes_combines_their_known_dimensions(one, other):
    first, second = tf.TensorShape(one), tf.TensorShape(other)
    if not first.is_compatible_with(second):
        with pytest.raises(ValueError, match="not compatible"):
            first.merge_with(second)
        return
    merged = first.merge_with(second)
    assert merged == second.merge_with(first)
    assert merged.is_subtype_of(first)
    assert merged.is_subtype_of(second)
    common = first.most_specific_compatible_shape(second)
    assert first.is_subtype_of(common)
    assert second.is_subtype_of(common)


@given(lengths, lengths)
def test_shapes_concatenate_like_tuples(one, other):
    joined = tf.TensorShape(one).concatenate(other)
    if one is None or other is None:
        assert joined.rank is None
    else:
        assert joined == (*one, *other)
        assert joined.rank == len(one) + len(other)
        known = None not in (*one, *other)
        assert joined.num_elements() == (math.prod([*one, *other]) if known else None)


@given(structures)
def test_flattened_values_can_be_packed_again(structure):
    flat = tf.nest.flatten(structure)
    assert tf.nest.pack_sequence_as(structure, flat) == structure
    doubled = tf.nest.map_structure(lambda value: value * 2, structure)
    assert tf.nest.flatten(doubled) == [value * 2 for value in flat]
    tf.nest.assert_same_structure(structure, doubled)


@given(structures, structures)
def test_structures_that_map_together_are_the_same(one, other):
    def outline(structure):
        if isinstance(structure, dict):
            return {key: outline(value) for key, value in structure.items()}
        if isinstance(structure, (list, tuple)):
            return type(structure)(map(outline, structure))
        return None

    if outline(one) == outline(other):
        tf.nest.map_structure(lambda a, b: None, one, other)
    else:
        with pytest.raises((ValueError, TypeError), match="nested differently"):
            tf.nest.map_structure(lambda a, b: None, one, other)


NUMERIC = [dtype for dtype in dtypes.ALL.values() if dtype.is_numeric]


@pytest.mark.parametrize("dtype", NUMERIC, ids=lambda dtype: dtype.name)
def test_dtypes_have_numpys_names_and_meaning(dtype):
    numpys = np.dtype(dtype.name)
    assert tf.as_dtype(numpys) is dtype
    assert tf.as_dtype(dtype.as_datatype_enum) is dtype
    assert dtype == numpys == dtype.as_numpy_dtype
    assert dtype.size == numpys.itemsize
    if not dtype.is_complex:
        limits = ml_dtypes.finfo(numpys) if dtype.is_floating else np.iinfo(numpys)
        assert (dtype.min, dtype.max) == (limits.min, limits.max)


@given(hnp.arrays(np.float32, hnp.array_shapes(), elements=st.floats(width=32)))
def test_bfloat16_keeps_eight_bits_and_rounds_to_the_nearest(values):
    with np.errstate(over="ignore"):
        kept = tf.constant(values, tf.bfloat16).numpy()
    assert kept.dtype == tf.bfloat16.as_numpy_dtype
    kept = kept.astype(np.float32)
    finite = np.isfinite(values) & np.isfinite(kept)
    gap = np.spacing(np.abs(values[finite])) * 2.0**16
    assert (np.abs(kept[finite] - values[finite]) <= gap / 2).all()
    assert np.array_equal(np.isnan(kept), np.isnan(values))


@given(hnp.arrays(hnp.scalar_dtypes().filter(lambda d: d.kind in "biufc"), hnp.array_shapes()))
def test_arrays_keep_their_dtype_and_value(array):
    native = array.astype(array.dtype.newbyteorder("="))
    try:
        tensor = tf.constant(native)
    except TypeError:
        assert native.dtype.name not in dtypes.ALL
        return
    assert tensor.dtype == native.dtype
    assert tensor.shape == native.shape
    assert np.array_equal(tensor.numpy(), native, equal_nan=native.dtype.kind in "fc")


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (1, "int32"),
        (2**40, "int64"),
        (1.0, "float32"),
        ([1, 2.5], "float32"),
        (True, "bool"),
        (1j, "complex128"),
        ("a", "string"),
        ([], "float32"),
        (np.float64(1.0), "float64"),
        ([np.float64(1.0)], "float64"),
    ],
)
def test_python_s_values_have_tensorflow_s_dtypes(value, dtype):
    assert tf.constant(value).dtype == dtype


@pytest.mark.parametrize("value", [[[1.0], [2.0, 3.0]], [1, None], [1, "a"], object()])
def test_values_that_are_not_arrays_are_refused(value):
    with pytest.raises(ValueError, match="convert"):
        tf.constant(value)


def test_a_module_lists_its_own_variables_before_nested_ones():
    class Inner(tf.Module):
        def __init__(self):
            super().__init__()
            self.z = tf.Variable(1.0, name="z")
            self.frozen = tf.Variable(1.0, trainable=False, name="frozen")

    class Outer(tf.Module):
        def __init__(self):
            super().__init__()
            self.inner = Inner()
            self.again = self.inner
            self.last = {"b": tf.Variable(1.0, name="b"), "a": [tf.Variable(1.0, name="a")]}

    outer = Outer()
    assert [v.name for v in outer.trainable_variables] == ["a:0", "b:0", "z:0"]
    assert [v.name for v in outer.variables] == ["a:0", "b:0", "frozen:0", "z:0"]
    assert outer.submodules == (outer.inner,)
    assert (outer.name, outer.inner.name) == ("outer", "inner")


def test_functions_give_right_gradients():
    @tf.function
    def slopes(x):
        y = x**3
        (first,) = tf.gradients(y, x)
        return first, tf.gradients(first, x)[0], tf.hessians(y, x)[0]

    assert [float(each) for each in slopes(tf.constant(2.0))] == [12.0, 12.0, 12.0]
    with pytest.raises(RuntimeError, match="eager execution"):
        tf.gradients(tf.constant(1.0), tf.constant(1.0))


def test_a_function_creates_its_variables_once():
    @tf.function
    def forgetful(x):
        return tf.Variable(2.0) * x

    class Model:
        weight = None

        @tf.function
        def __call__(self, x):
            if self.weight is None:
                self.weight = tf.Variable(2.0)
            return self.weight * x

    model = Model()
    assert [float(model(tf.constant(x))) for x in (1.0, 3.0)] == [2.0, 6.0]
    with pytest.raises(ValueError, match="first call"):
        forgetful(tf.constant(1.0))


@given(st.integers(-4, 4), st.integers(-4, 4), st.sampled_from([-2, -1, 1, 2, None]))
def test_indexing_agrees_with_numpy(start, stop, step):
    array = np.arange(12.0).reshape(3, 4)
    tensor = tf.constant(array)
    for key in (slice(start, stop, step), (..., slice(start, stop, step)), (None, 1, ..., -1)):
        assert tensor[key].shape == array[key].shape
    assert np.array_equal(tensor[start:stop:step], array[start:stop:step])
    if not -3 <= start < 3:
        with pytest.raises(tf.errors.InvalidArgumentError, match="out of bounds"):
            tensor[start]


def test_assigning_to_parts_of_a_variable_broadcasts():
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    v[:, 0].assign(9.0)
    v[1].assign([5.0, 6.0])
    assert v.numpy().tolist() == [[9.0, 2.0], [5.0, 6.0]]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"broadcast|Incompatible"):
        v[0].assign([1.0, 2.0, 3.0])
    with pytest.raises(TypeError, match="does not support item assignment"):
        v[0] = 1.0
