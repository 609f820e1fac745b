"""Random loops of many problems side by side, and of whatever else loops carry beside them."""

from __future__ import annotations

import textwrap
from typing import Any, NamedTuple

import numpy as np
from gradwire_engine.answer import Query
from hypothesis import strategies as st

#: What a problem has, beside numbers of its own, and the passes that arrays are given for.
COLUMNS, PASSES = 3, 40
#: What passes do to what they carry: of each problem ``u`` some numbers, ``v`` one, ``r`` those of
#: all problems in one row, ``h`` of another dtype, whole numbers ``q``, truth ``m``; in common
#: ``s`` and ``t``; an array ``a`` of a row for each pass. From outside come ``w``, as ``u``; ``e``,
#: one for each problem; ``z``, one for each column; ``f``, as ``a``; ``i``, a column for each
#: problem; ``p``, the problems in another order; ``k`` is the pass. No problem is chaotic.
STATEMENTS = [
    "u = 0.9 * u + 0.1 * sin(u) * w",
    "u = 0.9 * u + 0.1 * v[:, None]",
    "u = 0.9 * u[:, ::-1] + 0.1 * z",
    "u = u + 0.1 * roll(u, 1, axis=1) * z - 0.2 * u",
    "u = 0.7 * u - 0.1 * mean(u, axis=1, keepdims=True) * w",
    "u = 0.8 * u + 0.1 * cumsum(u, axis=1)",
    "u = 0.9 * u + 0.1 * tanh(u @ g)",
    "u = tanh(0.9 * stack([u[:, 1], -u[:, 0], u[:, 2] * s], axis=1))",
    "u = 0.9 * concatenate([u[:, 1:], v[:, None]], axis=1)",
    "u = 0.9 * u + 0.05 * reshape(r, u.shape)",
    "u = u.at[:, 1].multiply(0.5)",
    "u = u.at[:, 0].set(0.5 * v + 0.1 * u[:, 2])",
    "u = 0.9 * u.at[arange({n}), i].add(0.1 * v)",
    "u = where(w > 0.2, 0.9 * u, 0.8 * u + 0.1 * e[:, None])",
    "v = 0.9 * v + 0.1 * cos(u[:, 1]) * e",
    "v = 0.9 * v + 0.1 * u[arange({n}), i]",
    "v = 0.8 * v + 0.1 * sum(u * w, axis=1)",
    "v = 0.8 * v + 0.1 * u @ z",
    "v = maximum(0.9 * v, 0.1 * max(u, axis=1) - 0.2)",
    "v = 0.9 * v + 0.01 * k * s * f[k]",
    "v = 0.9 * v + 0.1 * f[k // 2, ::-1]",
    "v = 0.8 * v + 0.1 * e[p] * s",
    "v = 0.9 * v + 0.1 * where(m, e, s)",
    "v = 0.9 * v + 0.05 * h",
    "r = 0.9 * r + 0.1 * reshape(u, (-1,))",
    "r = tanh(r * 0.8 + t)",
    "r = r * 0.9 + 0.1 * repeat(v, {c})",
    "h = 0.8 * h + 0.1 * v",
    "h = 0.9 * h + 0.01 * q",
    "q = q + (w[:, 0] > 0.1 * z[1])",
    "q = (3 * q + i + k) % 7",
    "m = logical_not(m)",
    "m = logical_xor(m, e > 0.1)",
    "s = 0.9 * s + 0.1 * sin(s + t)",
    "s = 0.8 * s + 0.1 * z[1]",
    "s = 0.8 * s + 0.01 * sum(z * t)",
    "s, t = t, 0.8 * s + 0.1",
    "t = 0.9 * t + 0.1 * f[k, 0]",
    "t = 0.9 * t + 0.01 * (k + 1)",
    "v, e = 0.9 * e, v",
    "a = a.at[k].set(v)",
    "a = a.at[{last} - k].set(v * s)",
    "v = 0.9 * v + 0.1 * a[k]",
    "v = 0.9 * v + 0.05 * a[0]",
]
#: Where problems have to do with each other.
TOGETHER = [
    "v = 0.9 * v[p]",
    "v = 0.9 * v + 0.1 * roll(v, 1)",
    "v = 0.9 * v[::-1] + 0.1 * e",
    "v = 0.9 * v + 0.01 * sum(v)",
    "s = 0.9 * s + 0.01 * mean(v)",
    "s = 0.8 * s + 0.1 * v[5]",
    "a = a.at[k, ::-1].add(0.1 * v)",
]
#: Passes within passes, decisions, and ends.
WAYS = [
    "for j in range(20):\n  {0}\n  {1}",
    "for j in range(18):\n  {0}\n{1}",
    "if s > {level}:\n  {0}\nelse:\n  {1}",
    "if max(v) > {level}:\n  {0}",
    "{0}\nif s * s + t * t > {level} + 1:\n  break",
    "j = 0\nwhile j < 18 + z[0] * z[0]:\n  {0}\n  j = j + 1",
]
#: Loops of all problems, and of each that ``vmap`` maps over.
LOOP = (
    "u, v, r, h, q, m, s, t, a = x, y, 0.5 * reshape(x, (-1,)), astype(y, '{other}'), i, e > 0, "
    "0.5 * c, c, 0.1 * f\nfor k in range({passes}):\n{body}"
)
#: What one problem does by itself: ``u`` has some numbers, ``v`` is one.
OWN = [
    "u = 0.9 * u + 0.1 * sin(v) * z",
    "u = tanh(0.8 * u + 0.1 * u[::-1])",
    "u = 0.9 * u + 0.1 * tanh(g @ u)",
    "u = u.at[1].set(0.5 * v)",
    "v = 0.9 * v + 0.1 * c * sum(u)",
    "v = 0.9 * v + 0.1 * u[i]",
    "v = 0.9 * v + 0.1 * f[k]",
    "s = 0.8 * s + 0.1 * c",
    "s = 0.9 * s + 0.1 * v",
    "u = where(v > {level}, u, 0.9 * u)",
    "v = where(u[2] > v, 0.9 * v, 0.5 * v + 0.3 * u[2])",
    "for j in range(20):\n  {0}",
]
MAPPED = (
    "def one(u, v, i, f):\n  s = 0.5 * c\n  for k in range({passes}):\n{body}\n  return u, v * s\n"
    "u, v = vmap(one, in_axes=(0, 0, 0, 1))(x, y, i, f)"
)
#: What is asked of them, and with what the program ends.
ASKED = {
    "values": (Query("evaluate"), "[{all}]"),
    "gradient": (Query("gradient", unconnected="zero"), "{sum}"),
    "jacobian": (Query("jacobian", sources=["c", "z"], unconnected="zero"), "{one}"),
    "tall jacobian": (
        Query("jacobian", sources=["x", "c"], unconnected="zero"),
        "stack([{sum}, 2 * sum({one})])",
    ),
    "hessian": (Query("hessian", sources=["c", "z"], unconnected="zero"), "{sum}"),
}


class Drawn(NamedTuple):
    """A program, the values of its variables, and what is asked."""

    text: str
    values: dict[str, Any]
    query: Query


@st.composite
def loops(draw: st.DrawFn) -> Drawn:
    """Loops of a few statements, and derivatives through them."""
    n, passes = draw(st.sampled_from([32, 40, 64, 70, 33, 130])), draw(st.integers(18, PASSES))
    dtype = draw(st.sampled_from(["float64"] * 3 + ["float32", "float16", "bfloat16"]))
    other = draw(st.sampled_from(["float32", "float64", dtype]))
    mapped = draw(st.integers(0, 4)) == 0
    kind = draw(st.sampled_from([*["values", "gradient"] * 4, *ASKED]))
    fixed = {"n": n, "c": COLUMNS, "last": passes - 1, "passes": passes, "other": other}
    body: list[str] = []
    usual = st.sampled_from(OWN if mapped else STATEMENTS)
    few = draw(st.lists(usual, min_size=1, max_size=5))
    if not mapped and draw(st.integers(0, 4)) == 0:
        few.append(draw(st.sampled_from(TOGETHER)))
    for statement in few:
        way = "{0}" if mapped or draw(st.integers(0, 5)) else draw(st.sampled_from(WAYS))
        level = draw(st.sampled_from([-0.3, 0.1, 0.4]))
        more = draw(st.sampled_from(OWN[:8] if mapped else STATEMENTS))
        made = (
            statement.format(more, level=level)
            if mapped
            else way.format(statement, more, level=level)
        )
        body.append(made.replace("{level}", str(level)))
    lines = textwrap.indent("\n".join(body).format(**fixed), "    " if mapped else "  ")
    head = (MAPPED if mapped else LOOP).format(**fixed, body=lines)
    names = ["u", "v"] if mapped else [*"uvrhsta"]
    summed = " + ".join(f"sum({name} * {name})" for name in names)
    query, end = ASKED[kind]
    everything = names if mapped else [*names, "q", "m"]
    end = end.format(
        all=", ".join(everything),
        sum=summed,
        one=draw(st.sampled_from(["v", "v * s", "u[:, 1]"])) if not mapped else "v",
    )
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return Drawn(f"{head}\n{end}", _values(rng, n, dtype), query)


def _values(rng: np.random.Generator, n: int, dtype: str) -> dict[str, Any]:
    shapes = {
        "x": (n, COLUMNS),
        "w": (n, COLUMNS),
        "y": (n,),
        "e": (n,),
        "z": (COLUMNS,),
        "g": (COLUMNS, COLUMNS),
        "f": (PASSES, n),
        "c": (),
    }
    given = {name: rng.uniform(-1, 1, shape).astype(dtype) for name, shape in shapes.items()}
    return {**given, "i": rng.integers(0, COLUMNS, n), "p": rng.permutation(n)}
