"""Result dtypes are NumPy's (and SciPy's), for every dtype and combination, literals included."""

import warnings
from itertools import product

import numpy as np
import pytest
import scipy.special
from gradwire_engine.check import Call, Recorded, check
from gradwire_engine.check.recordings import check_results
from gradwire_engine.errors import DtypeMismatch
from gradwire_engine.ops.base import FUNCTIONS
from gradwire_engine.ops.promotion import DTYPES
from numpy.testing import assert_array_equal

from tests.engine.ops.calls import results
from tests.engine.ops.sampled import checked

UNARY = (
    "negative positive square sqrt reciprocal absolute conjugate real imag angle "
    "exp expm1 exp2 log log1p log2 log10 cbrt sin cos tan arcsin arccos arctan sinh cosh tanh "
    "arcsinh arccosh arctanh deg2rad rad2deg sinc sign floor ceil trunc rint round nan_to_num "
    "isnan isinf isfinite logical_not invert erf erfc"
).split()
BINARY = (
    "add subtract multiply divide power floor_divide remainder maximum minimum "
    "logaddexp logaddexp2 arctan2 hypot equal not_equal less less_equal greater greater_equal "
    "logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor left_shift right_shift "
    "xlogy xlog1py"
).split()
#: What of NumPy's is not ours: arithmetic of booleans in int8 (refused), 1 / integer as an integer
#: (a float), the doubled angle and halved rounding of booleans, a refusal to do nothing.
EXCEPTIONS: dict[tuple[str, ...], str | None] = {
    **{(name, "bool"): None for name in ("square", "conjugate", "round")},
    **{
        (name, "bool", other): None
        for name in ("power", "floor_divide", "remainder", "left_shift", "right_shift")
        for other in ("bool", "True")
    },
    **{("reciprocal", name): "float64" for name in ("int32", "int64", "uint32", "uint64")},
    **{("reciprocal", name): "float32" for name in ("int16", "uint16")},
    **{("reciprocal", name): "float16" for name in ("bool", "int8", "uint8")},
    ("angle", "bool"): "float16",
    ("positive", "bool"): "bool",
}

#: Of other dtypes SciPy chooses by the order of its loops, which differs between its functions.
SPECIAL = ("erf", "erfc", "xlogy", "xlog1py")
LARGE = ("int32", "int64", "uint32", "uint64", "float32", "float64", "complex128")


def reference(name, *args):
    """NumPy's result dtype, None where it refuses."""
    function = getattr(np, name, None) or getattr(scipy.special, name)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return np.asarray(function(*args)).dtype
        except TypeError:
            return None


def like_float16(name, *args):
    """The same, of bfloat16 beside nothing else or literals as of float16: these are NumPy's."""
    arrays = [x for x in args if isinstance(x, np.ndarray)]
    if [x.dtype.name for x in arrays] != ["bfloat16"]:
        return reference(name, *args)
    found = reference(name, *[x.astype("float16") if x is arrays[0] else x for x in args])
    return arrays[0].dtype if found == "float16" else found


def computed(name, *args):
    """Our result dtype, None where we refuse; the prediction is checked on the way.

    Examples are put together without regard to dtypes: that is checked where all are one.
    """
    call = Call.of(name, *args)
    try:
        if len({x.dtype for x in call.values}) == 1:
            return checked(call)[0].dtype
        recorded = Recorded(call.record, call.values)
    except DtypeMismatch:
        return None
    assert [*check_results(recorded.b, recorded.found, 0)] == []
    return recorded.known[recorded.outputs[0].slot].dtype


def arrays(name):
    return [np.ones(2, dtype) for dtype in (LARGE if name in SPECIAL else DTYPES)]


def differences(name, combinations):
    found = {}
    for args in combinations:
        case = (name, *[a.dtype.name if isinstance(a, np.ndarray) else repr(a) for a in args])
        ours, theirs = computed(name, *args), like_float16(name, *args)
        expected = EXCEPTIONS.get(case, theirs)
        if ours != expected:
            found[case] = (ours, theirs)
    return found


@pytest.mark.parametrize("name", UNARY)
def test_unary(name):
    assert differences(name, [(x,) for x in arrays(name)]) == {}


@pytest.mark.thorough
@pytest.mark.parametrize("name", BINARY)
def test_binary(name):
    assert differences(name, product(arrays(name), arrays(name))) == {}


@pytest.mark.parametrize("name", [name for name in BINARY if name not in SPECIAL])
def test_literals(name):
    assert differences(name, product(arrays(name), (True, 1, 1.0, 1j))) == {}


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int32", "uint64", "float32"])
@pytest.mark.parametrize(
    "name", "sum prod cumsum cumprod nansum nanprod trace cumulative_sum cumulative_prod".split()
)
def test_accumulated_in_a_dtype(name, dtype):
    for x in [[100, 100], [-3, 4]], [[1.5, 300.25], [0.0, 2.0]], [[True, True], [False, True]]:
        array = np.array(x)
        kwargs = {"axis": 0} if name.startswith("cum") else {}
        (found,) = results(name, array, dtype=dtype, **kwargs)
        expected = getattr(np, name)(array, dtype=dtype, **kwargs)
        assert found.dtype == dtype
        assert_array_equal(found, expected)


@pytest.mark.parametrize("name", ["mean", "var", "std", "nanvar", "nanstd"])
def test_means_are_not_integers(name):
    with pytest.raises(DtypeMismatch, match="floating or complex dtype, got int32"):
        results(name, np.array([1.5, 2.5]), dtype="int32")


@pytest.mark.parametrize("name", [n for n in UNARY + BINARY if FUNCTIONS[n].differentiable])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "complex64"])
def test_derivatives_keep_the_dtype(name, dtype):
    points = [np.array([0.5, 1.25]), np.array([1.5, 0.75])]
    call = Call.of(name, *[p.astype(dtype) for p in points[: 2 if name in BINARY else 1]])
    try:
        found = check(call.record, call.values)
    except DtypeMismatch:
        return
    assert [finding for finding in found if finding.claim == "types"] == []
