"""A run as one frozen object: saved, read, checked."""
