"""``tf.summary``: figures of a training, in TensorBoard's files where ``tensorboard`` is installed.

>>> writer = tf.summary.create_file_writer("logs")
>>> with writer.as_default():
...     for step in range(3):
...         tf.summary.scalar("loss", 1.0 / (step + 1), step=step)
"""

from gradwire.tf.summary import experimental as experimental
from gradwire.tf.summary.events import *
from gradwire.tf.summary.writers import *
