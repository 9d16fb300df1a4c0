"""Start specviz in the browser. What a Space runs; locally: ``python app.py``, then open the address it prints.

``python app.py --mcp`` also offers its endpoints as tools to MCP clients, at /gradio_api/mcp/.
"""

import logging
import os
import sys
from importlib.util import find_spec

# nothing is sent anywhere: set before gradio is imported, which reads it then
os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")

from specviz.ui.app import build, launch_options

if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
    logging.getLogger("httpx").setLevel(logging.WARNING)
    tools = "--mcp" in sys.argv[1:]
    if tools and find_spec("mcp") is None:
        sys.exit("specviz: --mcp needs one more package: pip install mcp==1.30.0")
    # None: off, unless GRADIO_MCP_SERVER says otherwise
    build().launch(**launch_options(), mcp_server=True if tools else None)
