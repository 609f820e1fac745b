"""Record the parameters of TensorFlow's public functions, classes and methods.

    python -m tests.clients.tensorflow.record_signatures < names > signatures.json

Needs an environment of its own with ``tensorflow-cpu`` 2.21. The names come from
``tests.clients.tensorflow.public``: those that ``gradwire.tf`` has.
"""

import inspect
import json
import os
import sys

os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="-1")

import tensorflow as tf


def parameters(name: str) -> list[str] | None:
    """The names of the parameters, those of ``*`` and ``**`` with their stars."""
    found = tf
    try:
        for part in name.split("."):
            found = getattr(found, part)
        signature = inspect.signature(found)
    except (AttributeError, ValueError, TypeError):
        return None
    stars: dict[object, str] = {
        inspect.Parameter.VAR_POSITIONAL: "*",
        inspect.Parameter.VAR_KEYWORD: "**",
    }
    return [
        stars.get(each.kind, "") + each.name
        for each in signature.parameters.values()
        if each.name != "self"
    ]


def main() -> None:
    """Record the names on standard input."""
    recorded = {name: parameters(name) for name in sys.stdin.read().split()}
    lines = [f"{json.dumps(name)}: {json.dumps(each)}" for name, each in recorded.items() if each]
    print("{\n" + ",\n".join(lines) + "\n}")  # noqa: T201


if __name__ == "__main__":
    main()
