"""Variables of the expressions in TensorFlow's names, which are in ``tensorflow.txt``."""

import ast
from pathlib import Path
from typing import Any

import numpy as np

RNG = np.random.default_rng(0)


def drawn(*shape: int) -> np.ndarray:
    """Numbers of no structure and few digits."""
    return np.round(RNG.normal(size=shape), 2)


M, N = drawn(3, 3), drawn(3, 3) + 1j * drawn(3, 3)
#: What expressions may name; upper case are matrices and images.
VARIABLES: dict[str, Any] = {
    "x": drawn(2, 3),
    "y": drawn(2, 3),
    "v": drawn(3),
    "w": drawn(6),
    "u": np.array([0.25, 0.5, 0.875]),
    "r": np.round(RNG.uniform(0.1, 0.9, (2, 3)), 2),
    "g": np.round(RNG.uniform(1.2, 3.0, (2, 3)), 2),
    "c": drawn(2, 3, 4),
    "q": np.array([[0.2, 0.3, 0.5], [0.6, 0.4, 0.0]]),
    "t": np.array([1.0, 3.0, 3.0, -2.0]),
    "o": np.zeros(2),
    "e": np.array([-1.0, 0.0, 1.0]),
    "n": np.array([0.0, np.inf, -np.inf, 2.0]),
    "f": drawn(2, 3).astype("float32"),
    "i": np.array([[7, -7, 6], [2, -5, 1]], "int32"),
    "j": np.array([[3, 3, -3], [5, 2, 4]], "int32"),
    "k": np.array([2, 0], "int32"),
    "s": np.array([0, 0, 1, 1, 1, 3], "int32"),
    "l": np.array([[True, False, True], [False, False, True]]),
    "z": drawn(2, 3) + 1j * drawn(2, 3),
    "d": drawn(2, 3) + 1j * drawn(2, 3),
    "A": M,
    "B": drawn(3, 2),
    "C": drawn(2, 3, 3) + 3 * np.eye(3),
    "T": drawn(3, 4),
    "S": np.round(M @ M.T + np.eye(3), 2),
    "Z": N,
    "D": drawn(3, 2) + 1j * drawn(3, 2),
    "H": np.round(N @ N.conj().T + np.eye(3), 2),
    "I": drawn(1, 4, 5, 2),
    "J": drawn(1, 4, 5, 2).astype("float32"),
    "K": drawn(2, 2, 2, 3),
    "L": drawn(2, 2, 2, 2),
    "O": drawn(1, 2, 2, 3),
    "R": drawn(1, 6, 2),
    "V": drawn(2, 3, 3, 2, 2).astype("float32"),
    "E": np.round(RNG.uniform(0.1, 0.9, (1, 2, 2, 3)), 2),
    "G": np.round(RNG.uniform(0.1, 0.9, (1, 2, 2, 3)), 2).astype("float32"),
}

LINES = Path(__file__).with_suffix(".txt").read_text().splitlines()


def variables_of(text: str) -> dict[str, Any]:
    """The variables that an expression names."""
    names = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
    return {name: value for name, value in VARIABLES.items() if name in names}


#: Each an expression and its variables.
CASES = [(line, variables_of(line)) for line in LINES if line and not line.startswith("#")]
