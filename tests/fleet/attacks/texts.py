"""Program texts that need too many resources before anything is computed."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from tests.fleet.attacks.attack import Attack, asked, clipped, family

#: Programs; long ones are functions that make the text on demand.
_Texts = list[str | Callable[[], str]]


_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def evaluated(program: str) -> Attack:
    """A program of one number ``x``."""
    document = {"program": program, "variables": {"x": 1.0}}
    return asked(clipped(program), "/v1/evaluate", document)


def one_of(texts: _Texts, number: int) -> Attack:
    """The program with this number."""
    text = texts[number % len(texts)]
    return evaluated(text if isinstance(text, str) else text())


def _large(choose: Random, least: float = 3e7, most: float = 1e9) -> int:
    """A size that is too large by a random factor."""
    return round(least * (most / least) ** choose.random())


@family()
def recorded_constants(number: int, choose: Random) -> Attack:
    """Arrays without variables, which are computed while the program is recorded."""
    n = _large(choose)
    side = round(n**0.5)
    return one_of(
        [
            f"sum(eye({side}) * x)",
            f"x * ones(({n},))",
            f"sum(arange({n}) * x)",
            f"sum(linspace(0, 1, {n}) * x)",
            f"sum(tri({side}) * x)",
            f"sum(indices(({side}, {side}))[0] * x)",
            f"sum(full(({side}, {side}), 2.5) * x)",
            f"a, b = meshgrid(arange({side}), arange({side}))\nsum(a * b * x)",
            f"i, j = tril_indices({side})\nsum(i) * x",
            f"sum(one_hot(arange({side}), {side}) * x)",
        ],
        number,
    )


@family()
def grown_arrays(number: int, choose: Random) -> Attack:
    """Small arrays become large ones."""
    n = round(_large(choose) ** 0.5)
    return one_of(
        [
            f"toeplitz(arange({n}) * x)",
            f"circulant(arange({n}) * x)",
            f"hankel(arange({n}) * x)",
            f"outer(arange({n}) * x, arange({n}))",
            f"tile(ones(({n},)) * x, ({n}, 1))",
            f"repeat(arange({n}) * x, {n})",
            f"kron(ones({n}) * x, arange({n}))",
            f"vander(arange({n}) * x)",
            f"pad(ones(({n}, 2)) * x, {n})",
            f"diag(arange({n}) * x)",
        ],
        number,
    )


@family()
def static_loops(number: int, choose: Random) -> Attack:
    """Loops that end immediately or never."""
    n = _large(choose, 1e6, 1e12)
    return one_of(
        [
            "while True: pass\nx",
            f"for i in range({n}): x = x * 1.0000001\nx",
            f"for i in range({n}): pass\nx",
            f"s = 0\nfor i in range({n}): s = s + i\nx * s",
            f"for i in range({n}):\n  for j in range({n}):\n    x = sin(x)\nx",
            "a = stack([x, x])\n" + "a = concat([a, a])\n" * choose.randint(25, 90) + "a",
            f"a = [x]\nfor i in range({n}): a = a + [x]\nsum(a)",
            "a = ones((1,)) * x\nwhile True: a = concat([a, a])\nsum(a)",
            f"i = 0\nwhile i < {n}: i += 1\nx * i",
        ],
        number,
    )


@family()
def lists(number: int, choose: Random) -> Attack:
    """Lists in the program language."""
    n = _large(choose, 1e6, 1e9)
    m = round(n**0.5)
    return one_of(
        [
            f"[i * x for i in range({n})]",
            f"y = [x] * {n}\nx",
            f"sum([[i * j * x for i in range({m})] for j in range({m})])",
            "y = [x, x]\n" + "y = y + y\n" * 40 + "len(y) * x",
            "y = [x]\n" + "y = [y, y]\n" * 60 + "y",
            f"a = []\nfor i in range({n}): a.append(x)\nsum(a)",
            f"list(range({n}))[3] * x",
            f"[a + b for a, b in zip(range({n}), range({n}))]",
            f"y = [[0] * {m}] * {m}\nsum(y) * x",
            f"max([i for i in range({n})]) * x",
        ],
        number,
    )


@family()
def strings(number: int, choose: Random) -> Attack:
    """Strings, which only operations accept."""
    n = _large(choose, 1e5, 1e9)
    short = min(n, 1_000_000)
    return one_of(
        [
            f"s = 'a' * {n}\nx",
            "s = 'ab'\n" + "s = s + s\n" * 40 + "x",
            f"einsum('{'a' * short},{'b' * short}->', x, x)",
            f"sum(x * ones(3), axis='{'a' * short}')",
            f"x.astype('{'float' * (short // 5)}')",
            f"{'x' * short} + x",
            f"einsum('{','.join(_LETTERS)}->', {', '.join(['ones(9) * x'] * 26)})",
            f"s = ['a'] * {n}\nx",
            f"dict([('{'k' * short}', x)])",
        ],
        number,
    )


@family()
def integers(number: int, choose: Random) -> Attack:
    """Integers of the program language, which have no size limit."""
    n = choose.randint(30, 99)
    return one_of(
        [
            f"n = 2 ** (2 ** {n})\nx",
            "x * 9 ** 9 ** 9 ** 9",
            "n = 3\n" + "n = n * n\n" * n + "x * n",
            f"n = 1 << {10**9 * n}\nx * n",
            f"n = 1\nfor i in range({10**6 * n}): n = n * 7\nx * n",
            f"x * {'9' * (1000 * n)}",
            f"x * 0x{'f' * (1000 * n)}",
            f"pow(7, {10**10 * n}, 10) * x",
            "n = 7\n" + f"for i in range({n}): n = n ** 2 + 1\nx * (n // 3)",
            f"x[{10**n}]",
            f"ones({10**n}) * x",
            f"x * 1e{n}000",
            f"comb({10**8 * n}, {10**7 * n}) * x",
        ],
        number,
    )


@family()
def calls(number: int, choose: Random) -> Attack:
    """Functions that call, double and receive each other."""
    n = choose.randint(30, 90)
    doubled = "\n".join(f"f{i + 1} = lambda a: f{i}(f{i}(a))" for i in range(n))
    return one_of(
        [
            "def f(a): return f(a)\nf(x)",
            f"def f(n): return 1 if n < 2 else f(n - 1) + f(n - 2)\nf({n}) * x",
            "def f(a): return g(a)\ndef g(a): return f(a)\nf(x)",
            f"f0 = lambda a: sin(a)\n{doubled}\nf{n}(x)",
            "f = lambda g: g(g)\nf(f) + x",
            "def f(a): return [a, a]\ny = x\n" + "y = f(y)\n" * n + "y",
            f"def f(n, a): return a if n == 0 else f(n - 1, f(n - 1, a))\nf({n}, x)",
            f"def f(n, a): return a if n == 0 else f(n - 1, sin(a))\nf({1000 * n}, x)",
        ],
        number,
    )


@family(16)
def long_texts(number: int, choose: Random) -> Attack:
    """Thousands of definitions, assignments, operators, parentheses, names."""
    n = choose.randint(20_000, 90_000)
    return one_of(
        [
            lambda: "\n".join(f"def f{i}(a): return a * {i}" for i in range(n)) + "\nf7(x)",
            lambda: "\n".join(f"a{i} = x * {i}" for i in range(n)),
            lambda: "(" * n + "x" + ")" * n,
            lambda: "x" + "+x" * (25 * n),
            lambda: "-" * n + "x",
            lambda: "x" + "[0]" * n,
            lambda: "x" + ".T" * n,
            lambda: "sin(" * (n // 200) + "x" + ")" * (n // 200),
            lambda: "x if x > 0 else " * (n // 10) + "x",
            lambda: (
                "if x > 0:\n"
                + "".join(" " * i + "if x > 0:\n" for i in range(1, 90))
                + " " * 90
                + "x"
            ),
            lambda: "[" * n + "]" * n,
            lambda: "lambda a: " * n + "x",
            lambda: "y = " * n + "x",
            lambda: "not " * n + "x",
            lambda: "x" + " < x" * n,
            lambda: f"f({', '.join(f'a{i}=x' for i in range(n))})",
        ],
        number,
    )
