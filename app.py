"""Start specviz in the browser. What a Space runs; locally: ``python app.py``, then open the address it prints."""

import logging
import os

# nothing is sent anywhere: set before gradio is imported, which reads it then
os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")

from specviz.ui.app import LAUNCH, build

if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
    logging.getLogger("httpx").setLevel(logging.WARNING)
    build().launch(**LAUNCH)
