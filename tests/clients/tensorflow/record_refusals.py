"""Record the error that each call in refusals.txt raises in TensorFlow, before the call.

python tests/clients/tensorflow/record_refusals.py
"""

import importlib
from pathlib import Path
from typing import Any

import numpy as np

REFUSALS = Path(__file__).with_name("refusals.txt")


def refusals() -> list[tuple[str, str]]:
    """The class of the error and the call, for each line."""
    lines = [line for line in REFUSALS.read_text().splitlines() if not line.startswith("#")]
    return [(kind, call) for kind, _, call in (line.partition(" | ") for line in lines)]


def operands(tf: Any) -> dict[str, Any]:
    """The names available to the calls."""
    return {
        "tf": tf,
        "np": np,
        "i": tf.constant([1, 2]),
        "f": tf.constant([1.0, 2.0]),
        "d": tf.constant([1.0, 2.0], tf.float64),
        "b": tf.constant([True, False]),
        "s": tf.constant("a"),
        "c": tf.constant(1 + 2j),
    }


def main() -> None:
    """Write TensorFlow's errors."""
    tf = importlib.import_module("tensorflow")
    head = [line for line in REFUSALS.read_text().splitlines() if line.startswith("#")]
    written = []
    for _, call in refusals():
        try:
            eval(call, operands(tf))
        except Exception as error:  # noqa: BLE001 - whatever it is
            written.append(f"{type(error).__name__} | {call}")
        else:
            raise SystemExit(f"{call} is not refused")
    REFUSALS.write_text("\n".join([*head, *written]) + "\n")


if __name__ == "__main__":
    main()
