"""Operands of elementwise operations in kernels, and expressions if they have none of their own."""

from __future__ import annotations

from gradwire_engine.kernels.form import COMPLEX, DTYPES, FLOATS, INTEGERS, REAL

#: The dtypes of operands by operations that are not only for floating numbers.
TAKEN = {
    **dict.fromkeys("logical_and logical_or logical_xor logical_not".split(), "?"),
    **dict.fromkeys("copy equal not_equal".split(), DTYPES),
    **dict.fromkeys("add subtract multiply negative square".split(), FLOATS + INTEGERS + COMPLEX),
    **dict.fromkeys("less less_equal greater greater_equal maximum minimum".split(), REAL),
    **dict.fromkeys("sign floor_divide remainder".split(), FLOATS + INTEGERS),
    **dict.fromkeys("bitwise_and bitwise_or bitwise_xor invert".split(), INTEGERS + "?"),
    **dict.fromkeys("left_shift right_shift".split(), INTEGERS),
    "absolute": FLOATS + INTEGERS + COMPLEX,
    **dict.fromkeys("real imag conjugate".split(), COMPLEX),
    **dict.fromkeys("divide exp log isnan isinf isfinite".split(), FLOATS + COMPLEX),
    # arguments that are rounded to fewer digits would lose more than the function does
    **dict.fromkeys("ndtr log_ndtr normal_hazard logit".split(), "d"),
}


def _division() -> tuple[str, str]:
    """The rest, which has the divisor's sign, and the quotient rounded down, as NumPy's."""
    rest = "math.fmod({0}, {1})"
    turns = f"({rest} < 0.0) != ({{1}} < 0.0)"
    moved = f"{rest} + {{1}} if {turns} else {rest}"
    whole = f"({{0}} - {rest}) / {{1}}"
    whole = f"({whole} - 1.0 if {rest} != 0.0 and {turns} else {whole})"
    down = f"math.floor({whole})"
    nearest = f"{down} + 1.0 if {whole} - {down} > 0.5 else {down}"
    signed = f"{nearest} if {whole} != 0.0 else math.copysign(0.0, {{0}} / {{1}})"
    return (
        f"math.copysign(0.0, {{1}}) if {rest} == 0.0 else {moved}",
        f"{{0}} / {{1}} if {{1}} == 0.0 else ({signed})",
    )


_REMAINDER, _FLOOR_DIVIDE = _division()
#: Expressions of operations on floating or complex numbers, in place of their own or of none.
PLAIN = {
    "copy": "{0}",
    "conjugate": "math.conjugate({0})",
    "real": "math.real({0})",
    "imag": "math.imag({0})",
    "complex": "math.complex({0}, {1})",
    "rint": "math.round({0})",
    "copysign": "math.copysign({0}, {1})",
    "signbit": "math.copysign(1.0, {0}) < 0.0",
    "heaviside": "{0} if {0} != {0} else 0.0 if {0} < 0.0 else 1.0 if {0} > 0.0 else {1}",
    "deg2rad": "{0} * 0.017453292519943295",
    "rad2deg": "{0} * 57.29577951308232",
    "fmax": "{1} if {0} != {0} else {0} if {0} >= {1} or {1} != {1} else {1}",
    "fmin": "{1} if {0} != {0} else {0} if {0} <= {1} or {1} != {1} else {1}",
    "fmod": "math.fmod({0}, {1})",
    "remainder": _REMAINDER,
    "floor_divide": _FLOOR_DIVIDE,
    # both sides of a choice are computed: one exponential serves either
    "softplus": ("({0} if {0} > 0.0 else 0.0) + math.log1p(math.exp(-math.fabs({0})))"),
    "logaddexp": (
        "{0} + 0.6931471805599453 if {0} == {1}"
        " else ({0} if {0} > {1} else {1}) + math.log1p(math.exp(-math.fabs({0} - {1})))"
    ),
    "logaddexp2": (
        "{0} + 1.0 if {0} == {1} else ({0} if {0} > {1} else {1})"
        " + 1.4426950408889634 * math.log1p(math.exp2(-math.fabs({0} - {1})))"
    ),
    "xlogy": "0.0 if {0} == 0.0 and {1} == {1} else {0} * math.log({1})",
    "xlog1py": "0.0 if {0} == 0.0 and {1} == {1} else {0} * math.log1p({1})",
    "erfc": "math.erfc({0})",
    "erfcx": "math.erfcx({0})",
    "gammaln": "{0} if math.isinf({0}) else math.lgamma({0})",
    "digamma": "math.digamma({0})",
    "ndtr": "0.5 * math.erfc(-({0} * 0.7071067811865476))",
    "log_ndtr": (
        "math.log(math.erfcx(-({0} * 0.7071067811865476)) * 0.5)"
        " - ({0} * 0.7071067811865476) * ({0} * 0.7071067811865476) if {0} < -1.0"
        " else math.log1p(-(0.5 * math.erfc({0} * 0.7071067811865476)))"
    ),
    "normal_hazard": "0.7978845608028654 / math.erfcx(-({0} * 0.7071067811865475))",
    "logit": (
        "math.log1p(2.0 * ({0} - 0.5)) - math.log1p(-(2.0 * ({0} - 0.5)))"
        " if {0} >= 0.3 and {0} <= 0.65 else math.log({0} / (1.0 - {0}))"
    ),
}
#: Functions that printers know, by the names that expressions have for them.
FUNCTIONS = frozenset(
    "sqrt fabs exp expm1 exp2 log log1p log2 log10 cbrt sin cos tan asin acos atan atan2 sinh cosh "
    "tanh asinh acosh atanh hypot pow fmod erf erfc erfcx lgamma digamma floor ceil trunc round "
    "copysign isnan isinf isfinite conjugate real imag complex".split()
)
