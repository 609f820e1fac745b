"""``tf.summary``: figures of a training, in TensorBoard's files where ``tensorboard`` is installed.

>>> writer = tf.summary.create_file_writer("logs")
>>> with writer.as_default():
...     for step in range(3):
...         tf.summary.scalar("loss", 1.0 / (step + 1), step=step)
"""

from gradwire.tf.summary import experimental
from gradwire.tf.summary.events import histogram, image, scalar, text, write
from gradwire.tf.summary.writers import (
    SummaryWriter,
    create_file_writer,
    create_noop_writer,
    flush,
    record_if,
    should_record_summaries,
)

__all__ = [
    "SummaryWriter",
    "create_file_writer",
    "create_noop_writer",
    "experimental",
    "flush",
    "histogram",
    "image",
    "record_if",
    "scalar",
    "should_record_summaries",
    "text",
    "write",
]
