"""The library of functions as code for GPUs: it calls nothing outside, and fuses nothing."""

from __future__ import annotations

import re

import numpy as np
import pytest
from numpy.testing import assert_array_equal

pytest.importorskip("llvmlite")

from gradwire_engine.backends.llvm.functions.forms import (
    DOUBLES,
    SINGLES,
    VECTORS,
    Form,
)
from gradwire_engine.backends.llvm.functions.library import (
    NAMES,
    functions_text,
    has_seldom,
    library,
    operands,
    symbol,
    usual_symbol,
)

from tests.engine.backends.llvm.function_arrays import (
    SPECIAL,
    arrays,
    held,
    of_moderate_size,
    usually,
)
from tests.engine.backends.llvm.gpu_code import ptx

#: Code that rounds a product or a sum otherwise than IEEE 754: fused, flushed, approximate.
INEXACT = re.compile(r"(mul|add|sub)\.f(32|64)|ftz|approx|full|div\.f|sqrt\.f")


@pytest.mark.parametrize(("form", "processor"), [(DOUBLES, "sm_80"), (SINGLES, "sm_90")])
def test_gpus_need_no_other_library(form, processor):
    code = ptx(library(form), processor)
    assert ".extern" not in code
    assert not INEXACT.search(code)
    for name in NAMES:
        assert re.search(rf"\.visible \.func .*\b{symbol(name, form)}\(", code)


def test_functions_of_floats_do_not_compute_with_doubles():
    assert "double" not in re.sub(r"0x[0-9A-F]+", "", library(SINGLES))


def kernel(name: str, form: Form) -> str:
    """A function that calls another of one or two numbers."""
    given = ", ".join([f"{form.element} %x{k}" for k in range(operands(name))])
    return (
        f"define {form.element} @call_{form.element}({given}) {{\n"
        f"  %z = call {form.element} @{symbol(name, form)}({given})\n"
        f"  ret {form.element} %z\n}}\n"
    )


@pytest.mark.parametrize("name", NAMES)
def test_modules_define_what_they_call_in_several_forms(name):
    forms = DOUBLES, SINGLES
    texts = [functions_text([name], form) for form in forms]
    calls = [kernel(name, form) for form in forms]
    code = ptx("\n".join([*texts, *calls]), "sm_80")
    assert ".extern" not in code
    assert code.count(".visible .func") == 2


@pytest.mark.parametrize(
    ("names", "defined"),
    [
        (["hypot"], {"hypot"}),
        (["exp", "log"], {"exp", "log"}),
        (["sin"], {"sin", "far_rest"}),
        (["digamma"], {"digamma", "log", "tan", "far_rest"}),
    ],
)
def test_only_what_is_called_is_defined(names, defined):
    for form in (DOUBLES, SINGLES):
        found = re.findall(r"define internal .*@(\w+)\(", functions_text(names, form))
        known = defined & {*NAMES}
        usual = {usual_symbol(name, form) for name in known if has_seldom(name, form)}
        assert {*found} == {form.prefix + name for name in defined} | usual
    text = functions_text([names[0]], VECTORS)
    assert f"@{symbol(names[0], VECTORS)}(" in text


@pytest.mark.parametrize("form", [DOUBLES, SINGLES], ids=lambda form: form.element)
def test_usual_functions_give_the_same_or_refuse(form):
    named = [name for name in NAMES if operands(name) == 1 and has_seldom(name, form)]
    assert {"exp", "log", "sin"} <= {*named} or not form.single
    xs = np.concatenate([held(np.array(SPECIAL), form), held(of_moderate_size(200), form)])
    for name in named:
        usual, refused = usually(name, form)(xs)
        whole = arrays(name, (form, ""))(xs)
        assert_array_equal(usual[~refused], whole[~refused], name)
        assert not refused[(xs > 0.01) & (xs < 50) & np.isfinite(whole)].any(), name


def test_unknown_functions_are_refused():
    with pytest.raises(KeyError, match="gamma"):
        functions_text(["gamma"], DOUBLES)
