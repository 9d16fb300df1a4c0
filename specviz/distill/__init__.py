"""Make a draft for a target: its own answers to many prompts, a small student, figures, an ordinary model folder.

Not part of the app: `python -m specviz distill` and nothing else calls it.
"""
