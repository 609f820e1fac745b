"""Machine code that workers have compiled: kept by tenant, in memory and in a folder."""

from gradwire_service.machine_code.cache import CodeCache, Found, open_codes
from gradwire_service.machine_code.files import CodeFiles

__all__ = ["CodeCache", "CodeFiles", "Found", "open_codes"]
