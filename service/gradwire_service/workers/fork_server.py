"""Imported first by the process that worker processes are forked from: SIGTERM does not end it.

A supervisor may send that to all processes of a service at once, which lets workers finish; they
end with the process that they were forked from.
"""

import gc
import signal

# What is imported from now on stays: workers freeze it, and let the collector in.
gc.disable()
signal.signal(signal.SIGTERM, signal.SIG_IGN)
