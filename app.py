"""Start specviz in the browser. What a Space runs; locally: ``python app.py``, then open the address it prints.

``python app.py --mcp`` also offers its endpoints as tools to MCP clients, at /gradio_api/mcp/.
"""

import sys

from specviz.__main__ import main

if __name__ == "__main__":
    sys.exit(main(["app", *sys.argv[1:]]))
