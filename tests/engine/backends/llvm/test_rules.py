"""What kernels compute of its parts has the values of what it stands for."""

from __future__ import annotations

import numpy as np
import pytest
from gradwire_engine.engine import Engine

pytest.importorskip("llvmlite")

from gradwire_engine.backends.llvm.executable import NativeBackend

from tests.engine.backends.llvm.test_executable import asked, flat
from tests.engine.conftest import Asker
from tests.engine.kernels.tapes import go_on, kernels

ROWS = [
    [1.0, 2.0, 3.0],
    [1000.0, -1000.0, 999.0],
    [-np.inf, 0.0, -np.inf],
    [-np.inf, -np.inf, -np.inf],
    [np.inf, 0.0, 1.0],
    [np.nan, 0.0, 1.0],
]


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("function", ["logsumexp", "log_softmax", "softmax"])
def test_exponents_are_lessened_in_the_kernel(monkeypatch, function, row):
    values = {"x": np.array(row), "w": np.array([0.3, -0.7, 1.1])}
    text = f"sum(w * {function}(2 * x))"
    expected = flat(asked(Asker(), text, values).replay(go_on))
    monkeypatch.setattr(Engine, "backend", NativeBackend())
    call = asked(Asker(), text, values)
    found = flat(call.replay(go_on))
    run = call.entry.paths[0].executable
    assert [i.op.name for i in run.replayed.instructions if i.op.name == "shift"] == []
    assert kernels(run)
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-14)
