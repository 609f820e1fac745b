"""``tf.config``: what programs set and ask of the machine: there is one CPU, behind the service."""

from gradwire.tf.config import experimental as experimental
from gradwire.tf.config import optimizer as optimizer
from gradwire.tf.config import threading as threading
from gradwire.tf.config.devices import *
from gradwire.tf.functions import functions_run_eagerly as functions_run_eagerly
from gradwire.tf.functions import run_functions_eagerly as run_functions_eagerly

experimental_run_functions_eagerly = run_functions_eagerly
experimental_functions_run_eagerly = functions_run_eagerly
