"""Jobs: long optimisations in the store, which any replica finds and goes on with.

A job is one small record. Its request, checkpoint, events and answer are records beside it. A lease
says which replica runs it, and until when; a job whose lease has passed is taken over from its last
checkpoint. All that changes a job is a transition of ``transitions``.
"""

from gradwire_service.jobs.records import (
    ENDED,
    PARTS,
    Job,
    JobPart,
    Lease,
    State,
    StoredJob,
    Unknown,
    new_id,
)
from gradwire_service.jobs.stored import Jobs, evictable
from gradwire_service.jobs.transitions import (
    Cancelled,
    Claim,
    Held,
    Interrupted,
    Report,
    Transitions,
)

__all__ = [
    "ENDED",
    "PARTS",
    "Cancelled",
    "Claim",
    "Held",
    "Interrupted",
    "Job",
    "JobPart",
    "Jobs",
    "Lease",
    "Report",
    "State",
    "StoredJob",
    "Transitions",
    "Unknown",
    "evictable",
    "new_id",
]
