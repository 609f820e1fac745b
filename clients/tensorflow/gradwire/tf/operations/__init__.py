"""Functions of ``gradwire.tf`` that pass their arguments on, and what is known of their results."""
