"""The plainest replay of a tape: one kernel after the other, each result as it comes."""
