"""``tf.config``: what programs set and ask of the machine: there is one CPU, behind the service."""

from gradwire.tf.config import experimental as experimental
from gradwire.tf.config import optimizer as optimizer
from gradwire.tf.config import threading as threading
from gradwire.tf.config.devices import LogicalDevice as LogicalDevice
from gradwire.tf.config.devices import LogicalDeviceConfiguration as LogicalDeviceConfiguration
from gradwire.tf.config.devices import PhysicalDevice as PhysicalDevice
from gradwire.tf.config.devices import (
    get_logical_device_configuration as get_logical_device_configuration,
)
from gradwire.tf.config.devices import get_soft_device_placement as get_soft_device_placement
from gradwire.tf.config.devices import get_visible_devices as get_visible_devices
from gradwire.tf.config.devices import list_logical_devices as list_logical_devices
from gradwire.tf.config.devices import list_physical_devices as list_physical_devices
from gradwire.tf.config.devices import (
    set_logical_device_configuration as set_logical_device_configuration,
)
from gradwire.tf.config.devices import set_soft_device_placement as set_soft_device_placement
from gradwire.tf.config.devices import set_visible_devices as set_visible_devices
from gradwire.tf.functions import functions_run_eagerly as functions_run_eagerly
from gradwire.tf.functions import run_functions_eagerly as run_functions_eagerly

experimental_run_functions_eagerly = run_functions_eagerly
experimental_functions_run_eagerly = functions_run_eagerly
