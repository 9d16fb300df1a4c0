"""Write docs/MAP.md: each file with the first sentence of its own docstring or comment.

``python docs/make_map.py`` after a file was added, moved or renamed; a test holds the map equal to the tree.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MAP = ROOT / "docs" / "MAP.md"
INTRO = """# Map

Written by `python docs/make_map.py` from the first sentence of each file. No folder needs one to its
right:

```
core → traces → models → verification → drafting → metrics → decoding → experiments → recordings → views → export
     → distill → sessions → ui → commands
```

A run is a trace, and everything on screen is a view of a trace. The engine turns target, drafter, settings and random
numbers into frozen step records. A live run is a trace that grows; a recording is one read from a file.
"""


def about(path: Path) -> str:
    """The first sentence of a module's docstring, or of the comment that a script or a style sheet begins with."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        text = ast.get_docstring(ast.parse(text)) or ""
    elif path.suffix == ".css":
        text = text.removeprefix("/*").split("*/")[0]
    else:
        comment = re.match(r"(?://[^\n]*\n)+", text)
        text = re.sub(r"^// ?", "", comment.group(), flags=re.M) if comment else ""
    return re.split(r"(?<=[.])\s", " ".join(text.split()), maxsplit=1)[0]


def sections() -> list[tuple[str, list[Path]]]:
    """Folders in order, each with its files."""
    folders = [ROOT / "specviz", *sorted(p for p in (ROOT / "specviz").rglob("*") if p.is_dir())]
    found = [(folder, sorted(folder.glob("*.py"))) for folder in folders]
    found.append((ROOT / "assets", sorted([*(ROOT / "assets").glob("*.js"), *(ROOT / "assets").glob("*.css")])))
    return [(str(folder.relative_to(ROOT)), files) for folder, files in found if files]


def written() -> str:
    """The whole text of docs/MAP.md."""
    parts = [INTRO]
    for folder, files in sections():
        rows = "\n".join(f"| `{path.name}` | {about(path).replace('|', '∣')} |" for path in files if about(path))
        parts.append(f"## {folder}/\n\n| file | contents |\n|---|---|\n{rows}\n")
    return "\n".join(parts)


if __name__ == "__main__":
    MAP.write_text(written(), encoding="utf-8")
