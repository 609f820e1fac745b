"""Record what Keras's loaders give for the small files of ``datasets.py``.

    python -m tests.clients.tensorflow.record_datasets > tests/clients/tensorflow/datasets.json

Needs an environment of its own with ``tensorflow-cpu`` 2.21. The files are not those whose hashes
Keras knows, so that its check of these is left out.
"""

import json
import os
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

os.environ.update(
    TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="-1", KERAS_HOME=tempfile.mkdtemp()
)

import tensorflow as tf

from tests.clients.tensorflow import datasets


def main() -> None:
    """Record each call."""
    file_utils: Any = import_module("keras.src.utils.file_utils")
    file_utils.validate_file = lambda *_, **__: True
    datasets.make_files(Path(os.environ["KERAS_HOME"]))
    recorded = [
        datasets.plain(getattr(getattr(tf.keras.datasets, name), function)(**arguments))
        for name, function, arguments in datasets.CALLS
    ]
    print("[\n" + ",\n".join(json.dumps(each) for each in recorded) + "\n]")  # noqa: T201


if __name__ == "__main__":
    main()
