"""Programs that decide often: one recording for all paths, and the answers of the one taken."""

import numpy as np
import pytest
from gradwire_engine import Engine, Leaf, Query
from gradwire_engine.errors import EngineError
from gradwire_engine.polling import no_deadline

#: Programs of x, y and z that decide by values: of two, three or more things.
PROGRAMS = {
    "sums": """
s = 0.0
if x > 0:
  s = s + sqrt(x)
if y > 0:
  s = s + y*x
if z > 0:
  s = s*z
s
""",
    "whole numbers": """
n = 0
if x > 0: n = n + 1
if y > 0: n = n + 1
if z > 0: n = n + 2
n*x/3
""",
    "kinds": """
n = 0
if x > 0: n = x*1.5
if y > 0: n = n + 1
if z > 0: n = n + 2
n
""",
    "names": """
a = 0.0
if x > 0: a = x
if y > 0: b = y
if z > 0: a = a + z
a*b
""",
    "lists": """
a = [x, y]
if x > 0: a = [y, x]
if y > 0: a = a + [z]
if z > 0: a = a[::-1]
a[0]*3 + a[1]
""",
    "items": """
a = zeros(3)
if x > 0: a[0] = x
if y > 0: a[1] = y*a[0]
if z > 0: a = a*z
sum(a)
""",
    "state": """
if x > 0: x.assign(2*x)
if y > 0: y.assign_add(x)
if z > 0: y = y*z
x*y
""",
    "errors": """
m = ones([2, 2])*x
if y > 0: m = m + eye(2)
if z > 0: m = inv(m)
if x > 0: m = cholesky(m)
sum(m)
""",
    "derivatives": """
if x > 0:
  g = grad(x*x, x)
else:
  g = y
if y > 0: g = g*z
if z > 0: g = g*g
g
""",
    "values": """
a = x if x > 0 else y
b = a*2 if y > 0 else 1
c = b + (z if z > 0 else 0)
c
""",
    "functions": """
def f(u):
  if u > 0:
    w = u*u
  else:
    w = sin(u)
  return w
f(x)*f(y) + f(z)
""",
    "returns": """
def f(u):
  if u > 0: return u*u
  return sin(u)
f(x)*f(y) + f(z)
""",
    "loops": """
s = 0.0
if x > 0:
  for i in range(5): s = s + x*i
if y > 0:
  while s < 3: s = s + 1 + y
if z > 0: s = s*z
s
""",
    "cuts": """
s = 0.0
if x > 0: s = stop_gradient(x)
if y > 0: s = s + floor(y)
if z > 0: s = s*z
s
""",
    "chains": """
if x > 0.5:
  t = sqrt(x)
elif y > 0.5:
  if z > 0.5: t = y*z
  else: t = y/z
elif z > 0: t = log(z)
else: t = 0.0
t = t*x if y > x else t
t + 1
""",
    "counts": """
k = 1
if x > 0: k = 2
if y > 0: k = k + 1
if z > 0: k = k*2
sum(x*arange(k)) * y
""",
}


def asked(engine, text, values, **query):
    """The answer in the parts that clients see, or the error and its place."""
    variables = {name: Leaf(np.asarray(value)) for name, value in values.items()}
    call = engine.call(engine.parse(text), variables, Query(**{"kind": "gradient", **query}))
    try:
        answer = call.replay(no_deadline)
    except EngineError as error:
        return (type(error), str(error), error.at), call
    numbers = [answer.value, *answer.gradients.values(), *answer.updates.values()]
    kinds = [None if number is None else np.asarray(number).dtype for number in numbers]
    reasons = {path: (u.reason, u.detail) for path, u in answer.unconnected.items()}
    return (numbers, kinds, reasons, answer.warnings, {*answer.updates}), call


def same(found, expected):
    if isinstance(found[0], type):
        return found == expected
    pairs = zip(found[0], expected[0], strict=True)
    close = [
        a is b or np.allclose(a, b, rtol=1e-13, atol=1e-14, equal_nan=True)
        for a, b in pairs
        if (a is None) == (b is None)
    ]
    return len(close) == len(found[0]) and all(close) and found[1:] == expected[1:]


@pytest.mark.parametrize("kind", ["gradient", "evaluate"])
@pytest.mark.parametrize("unconnected", ["none", "zero"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_answers_are_those_of_the_path_taken(name, unconnected, kind):
    rng, engine = np.random.default_rng(0), Engine()
    for _ in range(40):
        values = dict(zip("xyz", rng.normal(size=3), strict=True))
        query = {"unconnected": unconnected, "kind": kind}
        if kind == "evaluate":
            query.pop("unconnected")
        found, _ = _evaluated(engine, PROGRAMS[name], values, query)
        expected, _ = _evaluated(Engine(), PROGRAMS[name], values, query)
        assert same(found, expected), (values, found, expected)


def _evaluated(engine, text, values, query):
    if query["kind"] == "gradient":
        return asked(engine, text, values, **query)
    variables = {name: Leaf(np.asarray(value)) for name, value in values.items()}
    call = engine.call(engine.parse(text), variables, Query(**query))
    try:
        answer = call.replay(no_deadline)
    except EngineError as error:
        return (type(error), str(error), error.at), call
    numbers = [answer.value, *answer.updates.values()]
    return (numbers, [np.asarray(n).dtype for n in numbers], answer.warnings), call


@pytest.mark.parametrize("count", [5, 20])
def test_many_decisions_need_few_recordings(count):
    rng, engine = np.random.default_rng(1), Engine()
    lines = [
        f"if x[{i}] > 0:\n  s = s + sqrt(x[{i}])*w\nelse:\n  s = s - x[{i}]" for i in range(count)
    ]
    text = "\n".join(["s = 0.0", *lines, "s"])
    recordings: set[int] = set()
    for _ in range(60):
        x = rng.normal(size=count)
        (numbers, *_), call = asked(engine, text, {"x": x, "w": 1.5})
        recordings.update(map(id, call.entry.paths))
        root = np.sqrt(np.maximum(x, 0))
        value, of_x, of_w = numbers
        np.testing.assert_allclose(value, np.sum(np.where(x > 0, 1.5 * root, -x)))
        with np.errstate(divide="ignore"):
            np.testing.assert_allclose(of_x, np.where(x > 0, 0.75 / root, -1))
        assert of_w is None if (x <= 0).all() else np.isclose(of_w, np.sum(root))
    assert len(recordings) == 5


def test_a_source_has_no_gradient_where_its_branch_is_not_taken():
    rng, engine, count = np.random.default_rng(2), Engine(), 12
    lines = [f"if x{i} > 0:\n  s = s + x{i}**3" for i in range(count)]
    text = "\n".join(["s = 0.0", *lines, "s"])
    for _ in range(40):
        x = rng.normal(size=count)
        values = {f"x{i}": each for i, each in enumerate(x)}
        ((_, *gradients), _, reasons, *_), _ = asked(engine, text, values)
        for i, each in enumerate(x):
            if each > 0:
                np.testing.assert_allclose(gradients[i], 3 * each**2)
            else:
                assert gradients[i] is None
                assert reasons[f"x{i}"] == ("no_path", "only a decision depends on this source")
