"""Where the files are that come with the code: in a checkout beside the package, in an installed copy inside it."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]
ASSETS = next(
    (path for path in (_PACKAGE / "assets", _PACKAGE.parent / "assets") if path.is_dir()), _PACKAGE / "assets"
)
