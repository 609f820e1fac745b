"""``tf.summary``: figures of a training, in TensorBoard's files where ``tensorboard`` is installed.

>>> writer = tf.summary.create_file_writer("logs")
>>> with writer.as_default():
...     for step in range(3):
...         tf.summary.scalar("loss", 1.0 / (step + 1), step=step)
"""

from gradwire.tf.summary import experimental as experimental
from gradwire.tf.summary.events import histogram as histogram
from gradwire.tf.summary.events import image as image
from gradwire.tf.summary.events import scalar as scalar
from gradwire.tf.summary.events import text as text
from gradwire.tf.summary.events import write as write
from gradwire.tf.summary.writers import SummaryWriter as SummaryWriter
from gradwire.tf.summary.writers import create_file_writer as create_file_writer
from gradwire.tf.summary.writers import create_noop_writer as create_noop_writer
from gradwire.tf.summary.writers import flush as flush
from gradwire.tf.summary.writers import record_if as record_if
from gradwire.tf.summary.writers import should_record_summaries as should_record_summaries
