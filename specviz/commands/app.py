"""``python -m specviz app``: serve the page on this machine. ``python app.py`` is the same command."""

from __future__ import annotations

import argparse
import logging
import os
from importlib import import_module

HELP = "serve the page, and print its address"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Address and port are Gradio's own settings of the environment, see docs/HOSTING.md."""
    parser.add_argument(
        "--mcp", action="store_true", help="also offer the endpoints as tools of an MCP client, at /gradio_api/mcp/"
    )


def call(args: argparse.Namespace) -> None:
    """Serve until the process is stopped."""
    # nothing is sent anywhere: set before gradio is imported, which reads it then
    os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
    from specviz.ui.app import build, launch_options  # noqa: PLC0415  # imports gradio and torch

    if args.mcp:
        import_module("mcp")  # where it is missing, Gradio would serve without it
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
    logging.getLogger("httpx").setLevel(logging.WARNING)
    # None: off, unless GRADIO_MCP_SERVER says otherwise
    build().launch(**launch_options(), mcp_server=True if args.mcp else None)
