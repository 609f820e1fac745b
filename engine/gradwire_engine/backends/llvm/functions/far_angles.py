"""The rest of large angles after quarter turns: exact products with bits of 2 / pi.

Sources: Payne and Hanek, Radian Reduction for Trigonometric Functions (1983); Ng, Argument
Reduction for Huge Arguments: Good to the Last Bit (1992).
"""

from __future__ import annotations

from itertools import pairwise

from gradwire_engine.backends.llvm.functions.coefficients import TWO_OVER_PI
from gradwire_engine.backends.llvm.functions.forms import Form
from gradwire_engine.backends.llvm.functions.function import Function, Pair, stored

_NAME = "far_rest"
#: Bits of a word, and pi / 2 where quarter turns are counted in units of 2^-63.
_WORD, _UNIT = 64, 2.0**-63
_HALF_PI = 1.5707963267948966 * _UNIT, 6.123233995736766e-17 * _UNIT


def _kind(form: Form) -> str:
    return f"{{ {form.numbers}, {form.numbers}, {form.integers} }}"


def far_rest(f: Function, x: str) -> tuple[str, str, str]:
    """The rest, its low part, and the quarter turns, of a large angle that is one number."""
    form = f.form
    found = f.let(f"call {_kind(form)} @{form.prefix}{_NAME}({form.numbers} {x})")
    high, low, quarters = [f.let(f"extractvalue {_kind(form)} {found}, {k}") for k in range(3)]
    return high, low, quarters


def _words(f: Function, first: str) -> list[str]:
    """Three words of 2 / pi from a bit on; the table begins with 64 bits before the point."""
    table = f"[{len(TWO_OVER_PI) + 1} x i64]"
    at, by = f.let(f"lshr i64 {first}, 6"), f.let(f"and i64 {first}, {_WORD - 1}")
    words = []
    for k in range(4):
        index = f.let(f"add i64 {at}, {k}")
        name = f"@{f.form.prefix}two_over_pi"
        place = f.let(f"getelementptr {table}, ptr {name}, i64 0, i64 {index}")
        words.append(_wide(f, f.let(f"load i64, ptr {place}")))
    left = _wide(f, f.let(f"sub i64 {_WORD}, {by}"))
    found = []
    for first_half, second_half in pairwise(words):
        both = f.let(f"or i128 {f.let(f'shl i128 {first_half}, {_WORD}')}, {second_half}")
        found.append(f.let(f"trunc i128 {f.let(f'lshr i128 {both}, {left}')} to i64"))
    return found


def _wide(f: Function, x: str) -> str:
    return f.let(f"zext i64 {x} to i128")


def _turns(f: Function, x: str) -> tuple[str, str]:
    """The number of quarter turns in ``|x|``, rounded, and 127 bits of what is left, signed."""
    form = f.form
    biased, digits = stored(f, f.abs(x))
    digits = f.let(f"or i64 {digits}, {1 << form.digits}")
    # words from the bit on that makes whole turns of four quarters with the last digit
    words = _words(f, f.let(f"sub i64 {biased}, {form.bias + form.digits - _WORD + 2}"))
    high, middle, low = [_wide(f, each) for each in words]
    whole = _wide(f, digits)
    low = f.let(f"mul i128 {low}, {whole}")
    middle = f.let(f"mul i128 {middle}, {whole}")
    middle = f.let(f"add i128 {middle}, {f.let(f'lshr i128 {low}, {_WORD}')}")
    high = f.let(f"shl i128 {f.let(f'mul i128 {high}, {whole}')}, {_WORD}")
    total = f.let(f"add i128 {high}, {middle}")
    below = f.let(f"and i128 {f.let(f'lshr i128 {low}, {_WORD - 2}')}, 3")
    fraction = f.let(f"or i128 {f.let(f'shl i128 {total}, 2')}, {below}")
    quarters = f.let(f"lshr i128 {total}, {2 * _WORD - 3}")
    quarters = f.let(f"trunc i128 {quarters} to {form.integer}")  # in halves
    quarters = f.i("lshr", f.i("add", quarters, f.ci(1)), f.ci(1))
    return quarters, f.let(f"ashr i128 {fraction}, 1")


def _number(f: Function, fraction: str) -> Pair:
    """127 bits in units of 2^-64 as a sum of numbers."""
    kind = f.form.numbers
    whole = f.let(f"trunc i128 {f.let(f'ashr i128 {fraction}, {_WORD}')} to i64")
    first = f.let(f"sitofp i64 {whole} to {kind}")
    lost = f.let(f"sub i64 {whole}, {f.let(f'fptosi {kind} {first} to i64')}")
    lost = f.let(f"sitofp i64 {lost} to {kind}")
    below = f.let(f"trunc i128 {fraction} to i64")
    upper = f.let(f"uitofp i64 {f.let(f'lshr i64 {below}, 32')} to {kind}")
    lower = f.let(f"uitofp i64 {f.let(f'and i64 {below}, {(1 << 32) - 1}')} to {kind}")
    high, low = f.exact_sum(first, f.mul(upper, f.c(2.0**-32)))
    return f.ordered_sum(high, f.add(low, f.fma(lower, f.c(2.0**-64), lost)))


def rest(form: Form) -> str:
    """The function and its table."""
    f = Function(form, _NAME)
    x = "%x0"
    quarters, fraction = _turns(f, x)
    angle = f.product(_number(f, fraction), f.long(*_HALF_PI))
    high, low = f.ordered_sum(*angle)
    below = f.test("olt", x, f.c(0.0))
    high, low = f.pick(below, f.negative(high), high), f.pick(below, f.negative(low), low)
    opposite = f.i("sub", f.ci(0), quarters)
    quarters = f.let(f"select i1 {below}, {form.integers} {opposite}, {form.integers} {quarters}")
    given, kind = "poison", _kind(form)
    for k, (each, part) in enumerate(
        ((form.numbers, high), (form.numbers, low), (form.integers, quarters))
    ):
        given = f.let(f"insertvalue {kind} {given}, {each} {part}, {k}")
    words = ", ".join([f"i64 {each}" for each in (0, *TWO_OVER_PI)])
    table = f"@{form.prefix}two_over_pi = private constant [{len(TWO_OVER_PI) + 1} x i64] [{words}]"
    return f"{table}\n{f.text(given, kind)}"
