"""Record draws of TensorFlow that are not ours, so that what the README says of them is tested.

python tests/clients/tensorflow/record_other_draws.py
"""

import importlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

OTHER_DRAWS = Path(__file__).with_name("other_draws.json")


def draws(tf: Any) -> dict[str, Callable[[], Any]]:
    """Calls, by what the README names them by."""

    def body(i: Any, y: Any) -> Any:
        return i + 1, y * 10.0 + tf.random.uniform([])

    def over_data() -> Any:
        y = tf.random.uniform([])
        for _ in tf.data.Dataset.range(3):
            y = y * 10.0 + tf.random.uniform([])
        return y

    def branching() -> Any:
        y = tf.random.uniform([])
        if y < 2.0:
            y += tf.random.uniform([])
        return y

    def repeating() -> Any:
        y = tf.random.uniform([])
        while y < 20.0:
            y = y * 10.0 + tf.random.uniform([])
        return y

    drawn = tf.random.uniform
    return {
        "tf.random.stateless_parameterized_truncated_normal": lambda: (
            tf.random.stateless_parameterized_truncated_normal([4], [1, 2], 0.0, 1.0, -1.0, 3.0)
        ),
        "tf.vectorized_map": lambda: tf.vectorized_map(lambda x: x + drawn([]), tf.zeros([3])),
        "tf.while_loop": tf.function(
            lambda: tf.while_loop(lambda i, y: i < 3, body, (0, drawn([])))[1]
        ),
        "tf.map_fn": tf.function(
            lambda: drawn([]) + tf.map_fn(lambda x: x + drawn([]), tf.zeros([3]))
        ),
        "tf.scan": tf.function(
            lambda: drawn([]) + tf.scan(lambda a, x: a + drawn([]), tf.zeros([3]), 0.0)
        ),
        "tf.foldl": tf.function(
            lambda: drawn([]) + tf.foldl(lambda a, x: a * 10.0 + drawn([]), tf.zeros([3]), 0.0)
        ),
        "tf.foldr": tf.function(
            lambda: drawn([]) + tf.foldr(lambda a, x: a * 10.0 + drawn([]), tf.zeros([3]), 0.0)
        ),
        "loops over datasets": tf.function(over_data),
        "`if` of a tensor": tf.function(branching),
        "`while` of a tensor": tf.function(repeating),
    }


def numbers(tf: Any, draw: Callable[[], Any]) -> list[float]:
    """What a call draws after the global seed 5."""
    tf.random.set_seed(5)
    return [float(each) for each in np.ravel(draw())]


def main() -> None:
    """Record TensorFlow's numbers."""
    tf = importlib.import_module("tensorflow")
    found = {name: numbers(tf, draw) for name, draw in draws(tf).items()}
    lines = [f"{json.dumps(name)}: {json.dumps(each)}" for name, each in found.items()]
    OTHER_DRAWS.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
