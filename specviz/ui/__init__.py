"""The page and the public endpoints: all that needs Gradio."""
