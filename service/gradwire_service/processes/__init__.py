"""Computations in processes of their own: work that would hold the interpreter's lock."""

from gradwire_service.processes.farm import Farm, Lent, NoFolder
from gradwire_service.processes.messages import Asked, Computed

__all__ = ["Asked", "Computed", "Farm", "Lent", "NoFolder"]
