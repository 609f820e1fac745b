"""GradBench's evaluations as source-text programs (Estep and others, https://gradben.ch)."""
