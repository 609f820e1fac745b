"""What a loop computes on a path that no pass takes is nobody's error, NaN or infinite slope."""

import numpy as np
import pytest
from gradwire_engine import Engine, Leaf, Query
from gradwire_engine.polling import no_deadline
from numpy.testing import assert_array_equal

#: What fails, is NaN or infinite, or has such a slope, at x = -1, z = 0 and a singular m.
FORMULAS = (
    "sqrt(x)",
    "log(x)",
    "x ** 0.5",
    "1 / z",
    "sqrt(z)",
    "x / z",
    "log(z) * x",
    "arccos(x - 1)",
    "sum(inv(m)) * x",
    "det(inv(m))",
    "sum(sqrt(m - 9))",
    "sum(cholesky(m - 9))",
)
#: Loops whose passes add -1 times x each, as many as v has elements.
LOOPS = (
    "for i in range(300):\n  if v[i] > 0:\n    s = s + {0}\n  else:\n    s = s + v[i] * x",
    "for i in range(300):\n  s = s + v[i] * x\n  if v[i] < 0: continue\n  s = s + {0}",
    "for i in range(300):\n  if v[i] > 0:\n    s = s + {0}\n    break\n  s = s + v[i] * x",
    "for r in v:\n  s = s + ({0} if r > 0 else r * x)",
    "i = 0\nwhile i < 300:\n  if v[i] > 0:\n    s = s + {0}\n  s = s + v[i] * x\n  i = i + 1",
)
VALUES = {"x": -1.0, "z": 0.0, "v": -np.ones(300), "m": np.ones((2, 2))}


@pytest.mark.parametrize("text", FORMULAS)
@pytest.mark.parametrize("loop", range(len(LOOPS)))
def test_what_no_pass_takes_is_not_computed(loop, text):
    engine = Engine()
    program = engine.parse(f"s = 0.0\n{LOOPS[loop].format(text)}\ns")
    variables = {name: Leaf(np.asarray(value)) for name, value in VALUES.items()}
    for query in (Query(kind="gradient", sources=["x", "v"]), Query(kind="hessian", sources=["x"])):
        for _ in range(3):  # as first, and by machine code or other tiers
            answer = engine.call(program, variables, query).replay(no_deadline)
            assert answer.value == 300
            assert not answer.nonfinite
            found = answer.derivatives["gradients"]
            assert found[0] == -300
            if query.kind == "gradient":
                assert_array_equal(found[1], -np.ones(300))
            else:
                assert answer.derivatives["hessian"] == [[0]]
