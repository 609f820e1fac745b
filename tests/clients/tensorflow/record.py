"""Record TensorFlow's results for the snippets of the corpus.

    python -m tests.clients.tensorflow.record [SUBJECT…] [--export FOLDER]

Needs an environment of its own with ``tensorflow-cpu`` 2.21 and nothing of ours. ``--export`` also
writes each subject in the form of ``seed_cases.json``, for other runners.
"""

import argparse
import json
import math
import os
import re
import sys
import tempfile
import traceback
import types
from pathlib import Path
from typing import Any

os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", TF_ENABLE_ONEDNN_OPTS="0", CUDA_VISIBLE_DEVICES="-1")

import numpy as np
import tensorflow as tf

from tests.clients.tensorflow import snippets as corpus

PLACE = re.compile(r"^\{\{.*?\}\} ?| ?\[Op:\w+\].*$", re.DOTALL)


def number(value: Any) -> Any:
    """A number as JSON has it: NaN and the infinities by name."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def numbers(values: Any) -> Any:
    """Nested lists of numbers for JSON; complex ones as [re, im], texts decoded."""
    if isinstance(values, list):
        return [numbers(value) for value in values]
    if isinstance(values, complex):
        return [number(values.real), number(values.imag)]
    return values.decode() if isinstance(values, bytes) else number(values)


def array(values: Any, dtype: str) -> dict[str, Any]:
    """One array: its dtype by name, its shape, its values."""
    values = np.asarray(values)
    plain = values.astype(np.float64) if dtype in ("float16", "bfloat16", "float32") else values
    if dtype == "float32":  # the shortest digits that identify the number
        plain = np.vectorize(lambda v: float(str(np.float32(v))), otypes=[np.float64])(plain)
    return {"dtype": dtype, "shape": list(values.shape), "value": numbers(plain.tolist())}


def recorded(answer: Any) -> Any:
    """A result in the form of ``seed_cases.json``."""
    if answer is None or isinstance(answer, bool | str | int | float):
        return number(answer)
    if isinstance(answer, bytes):
        return answer.decode()
    if isinstance(answer, tf.IndexedSlices):
        shape = answer.dense_shape
        return {
            "$indexed_slices": {
                "values": array(answer.values.numpy(), answer.values.dtype.name),
                "indices": answer.indices.numpy().tolist(),
                "dense_shape": None if shape is None else np.asarray(shape).tolist(),
            }
        }
    if isinstance(answer, tf.RaggedTensor):
        return {"$ragged": {"dtype": answer.dtype.name, "value": numbers(answer.to_list())}}
    if isinstance(answer, tf.SparseTensor):
        return {
            "$sparse": {
                "values": array(answer.values.numpy(), answer.dtype.name),
                "indices": answer.indices.numpy().tolist(),
                "dense_shape": answer.dense_shape.numpy().tolist(),
            }
        }
    if isinstance(answer, np.ndarray | np.generic):
        return {"$tensor": array(answer, answer.dtype.name)}
    if hasattr(answer, "numpy"):  # tensors and variables, including those of Keras
        return {"$tensor": array(answer.numpy(), tf.as_dtype(answer.dtype).name)}
    if isinstance(answer, dict):
        return {str(key): recorded(value) for key, value in answer.items()}
    if isinstance(answer, tuple) and not isinstance(answer, tf.TensorShape):
        return {"$tuple": [recorded(item) for item in answer]}
    if isinstance(answer, list):
        return [recorded(item) for item in answer]
    raise TypeError(f"an answer of type {type(answer).__name__} has no form in the corpus")


def answer(snippet: corpus.Snippet) -> dict[str, Any]:
    """TensorFlow's results: ``value``, ``gradients``, ``checks`` or an ``error``."""
    tf.keras.utils.clear_session(free_memory=False)
    tf.random.set_seed(0)
    tf.config.run_functions_eagerly(False)
    module = types.ModuleType("case")
    sys.modules["case"] = module  # AutoGraph looks up a function's module here
    with tempfile.NamedTemporaryFile("w", suffix=".py", delete=False) as source:
        source.write(snippet.code)  # a file, since AutoGraph reads the source of functions
    try:
        exec(compile(snippet.code, source.name, "exec"), module.__dict__)
    except Exception as error:
        name, text = type(error).__name__, str(error)
        if name in ("SyntaxError", "NameError", "KeyError"):
            raise
        shown = PLACE.sub("", text).strip().split("\n")[0]
        return {"error": {"class": name, "message": text[:400], "match": shown[:160]}}
    finally:
        Path(source.name).unlink()
    return {key: recorded(value) for key, value in module.out.items()}


def record(subject: str) -> int:
    """Record one subject; returns the number of snippets that failed."""
    answered: dict[str, Any] = {}
    failed = 0
    for snippet in corpus.snippets(subject):
        if snippet.id in answered:
            sys.exit(f"{subject}: two cases named {snippet.id}")
        try:
            answered[snippet.id] = answer(snippet)
        except Exception:  # noqa: BLE001
            failed += 1
            print(f"{subject}: {snippet.id}: {traceback.format_exc(limit=-2)}")  # noqa: T201
    lines = (f"{json.dumps(key)}: {json.dumps(value)}" for key, value in answered.items())
    (corpus.CORPUS / f"{subject}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(f"{subject}: {len(answered)} recorded, {failed} not")  # noqa: T201
    for key, value in answered.items():
        if "error" in value:
            print(f"  {key}: {value['error']['class']}: {value['error']['match']}")  # noqa: T201
    return failed


def main() -> None:
    """Record the given subjects, or all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("subjects", nargs="*", default=corpus.subjects())
    parser.add_argument("--export", type=Path)
    options = parser.parse_args()
    failed = sum([record(subject) for subject in options.subjects])
    if options.export:
        for subject in options.subjects:
            text = json.dumps(corpus.cases(subject))
            (options.export / f"{subject}.json").write_text(text)
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
