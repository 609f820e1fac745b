"""Program and query → executable: record, differentiate, optimise, lower."""

from gradwire_engine.compile.compiled import Compiled
from gradwire_engine.compile.query import Compilation, compile_query

__all__ = ["Compilation", "Compiled", "compile_query"]
