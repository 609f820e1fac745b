"""Imported by the process that worker processes are forked from: SIGTERM does not end it.

A supervisor may send that to all processes of a service at once, which lets workers finish; they
end with the process that they were forked from.
"""

import signal

signal.signal(signal.SIGTERM, signal.SIG_IGN)
