"""Kernels on CuPy's names: they run on a double of CuPy, and the tables of exceptions are right."""

import subprocess
import sys
from collections import defaultdict
from itertools import chain

import numpy as np
import pytest
import scipy.special
from gradwire_engine.backends.reference import indexing
from gradwire_engine.backends.reference.namespace import NUMPY
from gradwire_engine.backends.reference.special import SPECIAL
from gradwire_gpu.cupy import host
from gradwire_gpu.cupy.requirements import collected, holding
from hypothesis import given
from hypothesis import strategies as st

from tests.effort import examples
from tests.engine.gpu.cupy.double import NOTES, Array, on_device
from tests.engine.gpu.cupy.modules import doubled
from tests.engine.ops.kernel_calls import COMPUTING, edge_calls, few_of_each, kernel_calls
from tests.gpu.registry import ROUNDINGS, differences

mpmath = pytest.importorskip("mpmath")


@pytest.fixture
def xp():
    with doubled() as namespace:
        yield namespace


def on_host(x):
    if isinstance(x, list | tuple):
        return [on_host(item) for item in x]
    assert isinstance(x, Array)
    return x.on_device


def given_copies(x):
    """The operands on the device, where kernels may write into them and be found out."""
    return [given_copies(i) for i in x] if isinstance(x, list | tuple) else on_device(np.array(x))


#: Functions of numbers for which we have our own.
OWN = set("exprel floor_divide fmod left_shift logaddexp2 logit remainder right_shift sinc".split())


#: SciPy's routines that are completed at extremes, which CuPy's are not.
COMPLETED = {
    name for name, routine in vars(SPECIAL).items() if vars(scipy.special).get(name) is not routine
}


def refused(xp, call) -> tuple[str, set[str]]:
    """Why the double does not compute a call, and what it notes where it does.

    A wrong result is an assertion that fails.
    """
    NOTES.found.clear()
    try:
        with collected() as requirements, np.errstate(all="ignore"):
            result = call.op.kernel(xp, *map(given_copies, call.operands))
    except (AttributeError, TypeError, NotImplementedError) as error:
        return f"{call}: {type(error).__name__}: {error}", set()
    noted = {*NOTES.found}
    holding(requirements)
    # CuPy's numbers are nobody's on the host, and at extremes those of SciPy's routines alone.
    completed = call.op.ufunc.removeprefix("special.") in COMPLETED
    if not host.on_host(call.op, call.types) and not completed:
        assert differences(call, on_host(result)) < ROUNDINGS, call
    return "", noted


@pytest.mark.thorough
def test_every_kernel_computes_by_names_of_cupy(xp):
    why, notes, called = {}, defaultdict[str, set[str]](set), set()
    absent = set()
    for call in chain(few_of_each(kernel_calls(), 2), edge_calls()):
        name = call.op.name
        reason, found = refused(xp, call)
        called.add(name)
        if host.on_host(call.op, call.types):
            absent |= {name} if reason else set()
        elif reason:
            why[name] = reason
        else:
            notes[name] |= found
    assert why == {}
    assert called == set(COMPUTING)
    assert absent >= host.ABSENT | host.REAL  # nothing stays on the host that need not
    noted = {name for name, found in notes.items() if found}
    assert noted - {"contract"} == host.DEPENDING | host.WAITING | host.UNCAPTURED


def test_the_namespace_has_our_names(xp):
    ours = {*vars(NUMPY)} - {*np.__all__}
    assert ours - {*vars(xp)} == {"sparse"}  # on the host


@pytest.mark.thorough
def test_nothing_imports_cupy():
    code = "import sys, gradwire_gpu.cupy.namespace; assert 'cupy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.thorough
@given(
    places=st.lists(st.tuples(*[st.integers(0, 2**64 - 1)] * 4), min_size=1, max_size=3),
    count=st.integers(0, 11),
)
@examples(50)
def test_draws_have_the_bits_of_numpy(places, count):
    rows = np.array(places, "uint64")
    with doubled() as xp:
        words = xp.random_words(on_device(rows), count)
    assert np.array_equal(on_host(words), NUMPY.random_words(rows, count))


INDICES = st.lists(st.integers(-4, 3), min_size=0, max_size=9)


@pytest.mark.thorough
@given(rows=INDICES, pattern=st.sampled_from(["rows", "both", "column", "sides"]))
@examples(50)
def test_scatters_are_numpys(rows, pattern):
    numbers = np.array(rows, "int32")
    index = {
        "rows": (numbers,),
        "both": (numbers, numbers[::-1] // 2),
        "column": (slice(1, 3), numbers),
        "sides": (numbers[:, None], slice(None), numbers // 2),
    }[pattern]
    shape = (4, 4, 2) if pattern == "sides" else (4, 4)
    region = np.zeros(shape)[index].shape
    values = np.random.default_rng(len(rows)).integers(-9, 9, region)
    base = np.arange(float(np.prod(shape))).reshape(shape)
    with doubled() as xp:
        moved = tuple([on_device(i) if isinstance(i, np.ndarray) else i for i in index])
        for dtype in ("float64", "int64", "int8"):
            given = values.astype(dtype)
            added = on_host(xp.add_at(shape, moved, on_device(given)))
            assert np.array_equal(added, indexing.add_at(shape, index, given))
            assert added.dtype == dtype
        given = values.astype(float)
        made = on_host(xp.setitem(on_device(base), moved, on_device(given)))
        assert np.array_equal(made, indexing.setitem(base, index, given))
        last = on_host(xp.last_writer(shape, moved))
        assert np.array_equal(last, indexing.last_writer(shape, index))
        read = on_host(xp.getitem(on_device(base), moved))
        assert np.array_equal(read, indexing.getitem(base, index))


@pytest.mark.thorough
@given(ids=INDICES, ufunc=st.sampled_from(["maximum", "minimum", "multiply"]))
@examples(50)
def test_rows_are_combined_as_numpy_does(ids, ufunc):
    numbers = np.array(ids, "int64")
    rows = np.random.default_rng(len(ids)).integers(-3, 4, (len(ids), 2)).astype(float)
    start = np.full((4, 2), {"maximum": -np.inf, "minimum": np.inf, "multiply": 1.0}[ufunc])
    with doubled() as xp:
        z = xp.combine_rows(
            getattr(xp, ufunc), on_device(start.copy()), on_device(numbers), on_device(rows)
        )
    assert np.array_equal(
        on_host(z), indexing.combine_rows(getattr(np, ufunc), start, numbers, rows)
    )


def test_our_functions_of_numbers_are_numpys_element_by_element(xp):
    calls = [call for call in edge_calls() if call.op.name in OWN]
    assert {call.op.name for call in calls} == OWN
    for call in calls:
        with np.errstate(all="ignore"):
            found = call.op.kernel(xp, *map(given_copies, call.operands))
        assert differences(call, on_host(found), each=True) < 8, call


@pytest.mark.parametrize("index", [4, -5])
def test_an_index_out_of_range_is_an_error(xp, index):
    x, at = on_device(np.ones((4, 3))), on_device(np.array([0, index]))
    calls = [
        lambda: xp.getitem(x, (at,)),
        lambda: xp.getitem(x, (None, at)),
        lambda: xp.setitem(x, (at,), on_device(np.zeros((2, 3)))),
        lambda: xp.add_rows((4, 3), at, on_device(np.ones((2, 3)))),
        lambda: xp.take_along_axis(x, at[:, None], 0),
        lambda: xp.coo_product(4, on_device(np.ones(2)), on_device(np.zeros(2, int)), at, x),
    ]
    for call in calls:
        with pytest.raises(IndexError):
            call()


def test_requirements_are_collected_and_looked_at_later(xp):
    NOTES.found.clear()
    with collected() as requirements:
        for holds in (True, False):
            xp.require(on_device(np.array(holds)), ValueError(f"this is {holds}"))
    assert NOTES.found == set()
    with pytest.raises(ValueError, match="this is False"):
        holding(requirements)


@pytest.mark.thorough
def test_integers_have_no_negative_integer_powers(xp):
    for powers, wrong in (([1, -1], 1), ([1, 0], 0)):
        with collected() as requirements:
            xp.power(on_device(np.array([2, 3])), on_device(np.array(powers)))
        failed = [str(error) for holds, error in requirements if not on_host(holds)]
        assert len(failed) == wrong
    with pytest.raises(ValueError, match="negative"):
        xp.power(on_device(np.array([2, 3])), on_device(np.array([1, -1])))


def test_a_triangle_with_a_zero_on_its_diagonal_is_singular(xp):
    a, b = on_device(np.diag([1.0, 0.0])), on_device(np.ones((2, 1)))
    with pytest.raises(np.linalg.LinAlgError):
        xp.solve_triangular(a, b, lower=True, adjoint=False, unit=False)
    z = xp.solve_triangular(a, b, lower=True, adjoint=False, unit=True)
    assert np.array_equal(on_host(z), np.ones((2, 1)))


@pytest.mark.parametrize("shapes", [((3, 3), (3,)), ((2, 3, 3), (3, 2)), ((3, 3), (2, 3, 1))])
def test_stacks_of_systems_broadcast(xp, shapes):
    a, b = (np.random.default_rng(0).random(shape) for shape in shapes)
    assert np.allclose(on_host(xp.linalg.solve(on_device(a), on_device(b))), np.linalg.solve(a, b))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_exponentials_are_exact(xp, dtype):
    draws = np.random.default_rng(0).normal(size=(6, 3, 3))
    sizes = np.array([0, 1e-9, 0.3, 1, 10, 40]).reshape(-1, 1, 1)
    a = (draws * sizes * (1 + 1j if dtype == "complex128" else 1)).astype(dtype)
    found = on_host(xp.expm(on_device(a)))
    assert found.dtype == a.dtype
    for matrix, exponential in zip(a, found, strict=True):
        with mpmath.workdps(50):
            true = mpmath.expm(mpmath.matrix(matrix.tolist()), method="taylor").tolist()
        expected = np.array(true, complex)
        apart = np.abs(exponential - expected).max() / np.abs(expected).max()
        assert apart <= 20 * np.finfo(dtype).eps * (1 + np.abs(matrix).sum(axis=0).max())
    a[1, 2, 1] = np.inf
    assert np.isnan(on_host(xp.expm(on_device(a)))[1]).all()


@pytest.mark.parametrize("shape", [(5,), (0,), (2, 0), (3, 4)])
def test_extremes_begin_with_the_initial_value(xp, shape):
    x = np.arange(np.prod(shape), dtype=float).reshape(shape) - 20
    for initial in (-np.inf, 0.0):
        expected = np.max(x, axis=-1, keepdims=True, initial=initial)
        found = on_host(xp.max(on_device(x), axis=-1, keepdims=True, initial=initial))
        assert np.array_equal(found, expected)
