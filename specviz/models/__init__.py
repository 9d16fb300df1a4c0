"""Models: the catalogue, fetching, loading with a self-check, text, and the reader with its cache."""
