"""Machine code reads and writes nothing but what it was given, whatever the numbers are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gradwire_engine.errors import EngineError
from hypothesis import given
from hypothesis import strategies as st

from tests.effort import examples
from tests.engine.kernels.tapes import LENGTHS, Writer, apply, go_on, kernels, native
from tests.engine.kernels.test_loops import _Native, asked, programs, values

pytest.importorskip("llvmlite")

from tests.engine.kernels.guarded import ends_well, is_callable

SEEDS = st.integers(0, 2**32 - 1)


@pytest.mark.thorough
@examples(8)
@given(text=programs(), n=LENGTHS, seed=SEEDS)
def test_loops(text, n, seed):
    call = asked(_Native(), text, values(n, seed))
    try:
        call.replay(go_on)
    except EngineError:
        return
    check(call, seed)


def check(call: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    for path in call.entry.paths:
        for kernel in kernels(path.executable):
            if is_callable(kernel.form):
                assert ends_well(kernel.form, rng), kernel.form


@pytest.mark.parametrize("offset", [-1, 0, 1])
def test_a_wrong_address_is_noticed(offset):
    w = Writer()
    y = apply("negative", w.input(np.ones(24)))
    run = native(w.tape(apply("add", y, y)))
    run.replay(w.inputs, go_on)
    (kernel,) = kernels(run)
    (nest,) = kernel.form.nests
    (output,) = nest.outputs
    at = output.at._replace(offset=offset)
    form = kernel.form._replace(nests=(nest._replace(outputs=(output._replace(at=at),)),))
    assert ends_well(form, np.random.default_rng(0)) == (not offset)
