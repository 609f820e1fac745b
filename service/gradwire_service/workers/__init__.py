"""Who does tasks: processes of the service's own, or threads where it is embedded."""
