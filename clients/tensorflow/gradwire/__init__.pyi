# For pyright, which looks for a module only in folders that have a package's __init__ file.
# It is in no wheel: the package's own one comes with the distribution gradwire.
