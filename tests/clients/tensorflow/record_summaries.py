"""Record what TensorFlow writes to TensorBoard's files for the calls below.

    python -m tests.clients.tensorflow.record_summaries

Needs an environment of its own with ``tensorflow-cpu`` 2.21 and ``tensorboard``.
"""

import importlib
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

ANSWERS = Path(__file__).with_name("summaries.json")


def record(tf: Any, folder: str) -> list[Any]:
    """Write summaries of all kinds; what each call gave."""
    summary = tf.summary
    told = [summary.scalar("none", 1.0, step=1), summary.should_record_summaries()]
    writer = summary.create_file_writer(folder, filename_suffix=".test")
    with writer.as_default():
        told.append(summary.should_record_summaries())
        told.append(summary.scalar("loss", 0.5, step=1))
        told.append(summary.scalar("count", tf.constant(3), step=2, description="so **many**"))
        numbers = np.sin(np.arange(40.0)).astype(np.float32)
        summary.histogram("sines", numbers, step=3)
        summary.histogram("few", [1.0, 2.0, 2.0, 5.0], step=3, buckets=3, description="few")
        summary.histogram("same", tf.constant([4, 4, 4]), step=3)
        summary.histogram("empty", [], step=3)
        shades = np.linspace(0, 1, 60).reshape(5, 3, 4, 1).astype(np.float32)
        summary.image("shades", shades, step=4)
        summary.image("colors", np.arange(36, dtype=np.uint8).reshape(1, 4, 3, 3), step=4)
        summary.image("one", shades, step=4, max_outputs=1, description="one")
        summary.text("word", "hello", step=5)
        summary.text("table", [["a", "b"], ["c", "d"]], step=5, description="words")
        summary.write("raw", tf.constant([1.0, 2.0]), step=6)
        with tf.name_scope("outer"), tf.name_scope("inner"):
            summary.scalar("scoped", 2.0, step=7)
        with summary.record_if(False):
            told.append(summary.scalar("not", 2.0, step=8))
        with summary.record_if(lambda: tf.constant(True)):
            told.append(summary.scalar("yes", 2.0, step=8))
        summary.experimental.set_step(9)
        summary.scalar("default", 3.0)
        step = tf.Variable(10, dtype=tf.int64)
        summary.experimental.set_step(step)
        summary.scalar("variable", 3.0)
        step.assign_add(5)
        summary.scalar("variable", 4.0)
        summary.experimental.set_step(None)
    with writer.as_default(step=20):
        summary.scalar("context", 5.0)
    told.append(summary.experimental.get_step() is None)
    writer.close()
    return [bool(each) for each in told]


def events(folder: str) -> list[Any]:
    """The summaries of the one file in a folder: step, tag, plugin, description and tensor."""
    loader = importlib.import_module("tensorboard.backend.event_processing.event_file_loader")
    proto = importlib.import_module("tensorboard.compat.proto.event_pb2")
    tensors = importlib.import_module("tensorboard.util.tensor_util")
    (file,) = Path(folder).glob("events.out.tfevents.*.test")
    found = []
    for raw in loader.RawEventFileLoader(str(file)).Load():
        event = proto.Event.FromString(raw)
        for value in event.summary.value:
            metadata = value.metadata
            array = tensors.make_ndarray(value.tensor)
            plugin = metadata.plugin_data
            head = [event.step, value.tag, plugin.plugin_name, plugin.content.hex()]
            described = [metadata.summary_description, metadata.data_class]
            found.append([*head, *described, str(array.dtype), list(array.shape), _plain(array)])
    return found


def _plain(array: Any) -> list[Any]:
    if array.dtype == object:  # pictures by their pixels, since they may be compressed otherwise
        return [_text(each) for each in array.ravel().tolist()]
    return [float(f"{each:.6g}") for each in array.ravel().tolist()]


def _text(content: bytes) -> Any:
    if not content.startswith(b"\x89PNG"):
        return content.decode()
    image = importlib.import_module("PIL.Image")
    io = importlib.import_module("io")
    pixels = np.asarray(image.open(io.BytesIO(content)))
    return [list(pixels.shape), pixels.ravel().tolist()]


def main() -> None:
    """Write TensorFlow's answers."""
    folder = tempfile.mkdtemp()
    told = record(importlib.import_module("tensorflow"), folder)
    lines = [json.dumps(each) for each in events(folder)]
    written = ",\n".join(lines)
    ANSWERS.write_text(f'{{"told": {json.dumps(told)},\n"events": [\n{written}\n]}}\n')


if __name__ == "__main__":
    main()
