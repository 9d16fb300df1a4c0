"""A run as one HTML document that plays from disk, without a network and without this package.

Example: ``to_html(trace, "run.html")``.
"""
