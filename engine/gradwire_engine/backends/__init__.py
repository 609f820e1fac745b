"""From a tape to something that runs."""
