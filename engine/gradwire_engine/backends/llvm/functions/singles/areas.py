"""Inverse hyperbolic functions, by ``ln(1 + u)``.

Source: Moler and others, Freely Distributable LIBM (fdlibm, Sun Microsystems, 1993), for ``u``.
"""

from __future__ import annotations

import math

from gradwire_engine.backends.llvm.functions.forms import Form
from gradwire_engine.backends.llvm.functions.function import INF, NAN, Function, Pair
from gradwire_engine.backends.llvm.functions.singles.logarithms import of_one_more
from gradwire_engine.backends.llvm.functions.singles.reduction import quotient

#: From where on ``asinh x`` and ``acosh x`` are ``ln(2 x)``; squares are finite up to there.
_LARGE = 2.0**60


def _of_large(f: Function, x: str) -> str:
    """``ln(2 x)``."""
    return f.add(f.call("log", x), f.c(math.log(2)))


def _more(f: Function, x: str, share: str) -> Pair:
    """``x + x share``."""
    u = f.fma(x, share, x)
    return Pair(u, f.fma(x, share, f.sub(x, u)))


def asinh(form: Form) -> str:
    """``u = x + x² / (1 + sqrt(x² + 1))`` for ``x >= 0``."""
    f = Function(form, "asinh")
    x, one = f.abs("%x0"), f.c(1.0)
    root = f.intrinsic("sqrt", f.fma(x, x, one))
    u = _more(f, x, quotient(f, x, f.add(root, one)))
    z = f.with_sign(of_one_more(f, *u)[0], "%x0")
    f.return_unless(f.test("uge", x, f.c(_LARGE)), z)
    return f.text(f.with_sign(_of_large(f, x), "%x0"))


def acosh(form: Form) -> str:
    """``u = t + sqrt(t² + 2 t)`` with ``t = x - 1``."""
    f = Function(form, "acosh")
    x = "%x0"
    t = f.sub(x, f.c(1.0))
    u = f.ordered_sum(f.intrinsic("sqrt", f.fma(t, t, f.add(t, t))), t)
    usual = f.both(f.test("oge", t, f.c(0.0)), f.test("olt", t, f.c(_LARGE)))
    f.return_unless(f.let(f"xor {form.truths} {usual}, true"), of_one_more(f, *u)[0])
    return f.text(f.pick(f.test("olt", x, f.c(1.0)), f.c(NAN), _of_large(f, x)))


def atanh(form: Form) -> str:
    """Half of that with ``u = 2 x + 2 x x / (1 - x)`` for ``x >= 0``."""
    f = Function(form, "atanh")
    x, one = f.abs("%x0"), f.c(1.0)
    twice = f.add(x, x)
    u = _more(f, twice, quotient(f, x, f.sub(one, x)))
    z = f.with_sign(f.mul(of_one_more(f, *u)[0], f.c(0.5)), "%x0")
    f.return_unless(f.test("uge", x, one), z)
    end = f.pick(f.test("oeq", x, one), f.c(INF), f.c(NAN))
    return f.text(f.with_sign(end, "%x0"))
