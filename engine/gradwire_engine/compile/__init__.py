"""Program and query → executable: record, differentiate, optimise, lower."""

from gradwire_engine.compile.compiled import Compiled, Template
from gradwire_engine.compile.query import Compilation, compile_query

__all__ = ["Compilation", "Compiled", "Template", "compile_query"]
