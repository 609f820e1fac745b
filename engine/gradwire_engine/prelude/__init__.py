"""The prelude: functions that are formulas, written in Gradwire's own language.

A file has functions of one namespace, ``tf.keras.losses.gw`` those of ``tf.keras.losses``; what
follows a hyphen only divides. They are written as programs write functions, with three liberties:
parameters may go by keyword only, ``Static`` marks those that must be known while recording, and
``vocabulary`` has further words. A name that begins with an underscore is of the library's files
alone; any other bare name is Gradwire's operation, and one with a library's prefix that library's
function. ``tf.abs = abs`` gives another name to a function above. What operators make of parameters
that are not ``Static`` is recorded, also of literals.

Nothing is decided by values, so that a function needs a builder alone. Each is read when it is
first called, and replayed from then on as straight-line Python.
"""

from gradwire_engine.prelude.source import Definition, sources

__all__ = ["Definition", "sources"]
