"""Visitors and their runs: who decodes when, and what the browser is told. No Gradio."""
