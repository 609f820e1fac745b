"""The prelude: functions that are formulas, written in Gradwire's own language.

A file has functions of one namespace, ``tf.keras.losses.gw`` those of ``tf.keras.losses``; what
follows a hyphen only divides. They are written as programs write functions, with three liberties:
parameters may go by keyword only or be any number, ``Static`` marks those that must be known while
recording, and ``vocabulary`` has further words. A name that begins with an underscore is of the
library's files alone; any other bare name is Gradwire's operation, and one with a library's prefix
that library's function. ``tf.abs = abs`` gives another name to a function above, ``conv2d =
_conv(2)`` a function whose first parameters are given: members of a family. What operators make of
parameters that are not ``Static`` is recorded, also of literals; methods are those of text and
tables that are known.

Files of ``np`` have Gradwire's own functions, ``np.random-draws.gw`` those of ``random`` in the
family ``draws``. ``-> Constant`` states that a result carries no derivative. Their operators are
those of derivative rules: arrays have one dtype, which numbers adopt; so parameters are promoted
first.

Files of ``stats`` state the laws of random variables, whose functions ``dialects.stats`` makes.

Functions of ``programs`` are programs in full: loops that values end, functions as arguments,
decisions. The recorder runs them as it runs a client's function, with words of its own for what is
given by an equation (``record.library``).

In others nothing is decided by values, so that a function needs a builder alone; those in files of
``counted`` are given a recorder, which decides. Functions may be defined inside others, and see the
names around them. A file is translated to Python when one of its functions is first called, and
kept beside it in ``__pycache__``.
"""

from gradwire_engine.prelude.own import OWN, enter, own
from gradwire_engine.prelude.source import Definition, sources, translate_all
from gradwire_engine.prelude.vocabulary import meaning

__all__ = ["OWN", "Definition", "meaning", "own", "sources", "translate_all"]

enter()
