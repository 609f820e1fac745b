"""Expressions in the names of JAX, by family in ``jax.txt``, and the variables that they share."""

import ast
import itertools
import re
from pathlib import Path

import numpy as np

A = np.array([[2.0, -1.0, 0.5], [0.25, 3.0, 1.0], [-0.5, 1.5, 1.0]])
B = np.array([[1.5, 0.5, -2.5], [0.75, -1.25, 3.0]])
X = np.array([[0.5, -1.5, 2.0], [1.0, 0.25, -0.75]])
W = np.array([0.5, 1.5, 4.0])
ZV = np.array([0.5 - 1j, 2 + 0.25j, -1j])

#: What expressions may name: each case has those that it does.
VARIABLES = {
    "a": A,
    "c": A + 1j * A.T,
    "s": np.array([[4.0, 1.0, 0.5], [1.0, 3.0, -0.5], [0.5, -0.5, 2.0]]),
    "h": np.array([[3.0, 1 - 1j, 0.5j], [1 + 1j, 4.0, 0.25], [-0.5j, 0.25, 2.0]]),
    "batch": np.array([[[2.0, 1.0], [0.5, 3.0]], [[1.0, -1.0], [2.0, 0.5]]]),
    "x": X,
    "y": B,
    "p": np.array([[0.2, 0.9, 0.4], [0.6, 0.3, 0.7]]),
    "q": np.array([0.35, 0.85]),
    "v": np.array([3.0, -1.0, 2.0]),
    "w": W,
    "u": np.array([1.25, 0.5]),
    "t": np.array([2.0, 1.0, 2.0, 1.0]),
    "o": np.array(0.75),
    "no_rows": np.zeros((0, 3)),
    "x3": np.round(np.arange(12.0).reshape(2, 3, 2) ** 1.5 / 10 - 1, 3),
    "f": W.astype(np.float32),
    "f2": X.astype(np.float32),
    "e": np.array([-1.0, 0.0, 1.0]),
    "edge": np.array([0.0, 0.25, 1.0]),
    "tied": np.array([1.0, 3.0, 3.0]),
    "same": np.full(3, 2.5),
    "holes": np.array([[2.0, 0.0, 4.0], [0.0, 3.0, 0.0]]),
    "flat": np.array([[1.0, 2.0], [2.0, 4.0]]),
    "unit": np.eye(2),
    "nothing": np.full(2, -np.inf),
    "odd": np.array([np.nan, np.inf, -np.inf, 2.0]),
    "z": np.array([[1 + 2j, -0.5j, 0.5], [-1 - 1j, 2j, 3 + 0.5j]]),
    "zv": ZV,
    "zw": ZV + 0.25,
    "n": np.array([[7, -3, 2], [4, 5, -6]]),
    "m": np.array([[2, 3, -4], [5, -2, 3]]),
    "i": np.array([2, 0, 2]),
    "j": np.array([[0, 2], [1, 1]]),
    "k": np.array(1),
    "yes": np.array([[True, False, True], [True, True, False]]),
}


def expressions(line):
    """The line for each choice in braces: ``{sin cos}(x)``, ``x[{0, 1|:}]``."""
    parts = re.split(r"{(.*?)}", line)
    choices = [
        [part] if place % 2 == 0 else part.split("|") if "|" in part else part.split()
        for place, part in enumerate(parts)
    ]
    return ["".join(choice) for choice in itertools.product(*choices)]


def named(text):
    """The variables that an expression names."""
    found = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)]
    names = {node.id for node in found} - {n.id for n in found if isinstance(n.ctx, ast.Store)}
    return {name: value for name, value in VARIABLES.items() if name in names}


LINES = [
    line
    for line in Path(__file__).with_suffix(".txt").read_text().splitlines()
    if line and not line.startswith("#")
]
#: Each an expression and its variables.
CASES = [(text, named(text)) for line in LINES for text in expressions(line)]
#: Programs, the last line of each an expression.
PROGRAMS = Path(__file__).with_suffix(".programs.txt").read_text().strip().split("\n\n")
CASES += [(text, named(text)) for text in PROGRAMS]
