"""Small things that all ways of fetching share: the cache folder, the offline switch, progress, the error.

Example: ``report(progress, 0.5, "Downloading x.")`` calls ``progress(0.5, "Downloading x.")``, and the console says the
sentence once.
"""

from __future__ import annotations

import errno
import logging
import os
import re
import threading
from collections.abc import Callable
from pathlib import Path

from specviz.core.words import sentence
from specviz.models.folders import ModelError

log = logging.getLogger("specviz")

Progress = Callable[[float | None, str], None]
"""Called with a share from 0 to 1 (None: unknown) and one sentence."""


LOADING = threading.RLock()
"""Held while transformers builds a model: it sets torch's default dtype for all threads meanwhile, and two builds at
once could leave it set."""


class FetchError(ModelError):
    """A model that cannot be had: unknown, gated, out of reach or damaged."""


def cache_folder() -> Path:
    """Where converted models are kept: SPECVIZ_CACHE, or ~/.cache/specviz."""
    return Path(os.environ.get("SPECVIZ_CACHE") or "~/.cache/specviz").expanduser()


def offline() -> bool:
    """Whether the environment forbids the network; asked each time, so that a test or a notebook may change it."""
    values = (os.environ.get(name, "") for name in ("SPECVIZ_OFFLINE", "HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"))
    return any(value.strip().lower() in ("1", "true", "yes", "on") for value in values)


def storage_error(error: BaseException) -> OSError | None:
    """The same error where it is one of a disk: a folder that cannot be written, or no room in it. Else None.

    Of pip, and of the hub's downloader written in Rust, only the text is left: "No space left on device (os error 28)".
    Causes of an error are not searched: a connection that a firewall forbids is "permission denied" too.
    """
    if isinstance(error, OSError) and error.errno is not None:
        number = error.errno
    else:
        found = _NUMBER.search(str(error))
        number = int(found[1]) if found else 0
    return OSError(number, os.strerror(number)) if number in _STORAGE else None


_NUMBER = re.compile(r"(?:\(os error |OSError: \[Errno )(\d+)")
_STORAGE = frozenset(
    (
        errno.EACCES,
        errno.EDQUOT,
        errno.EEXIST,
        errno.EFBIG,
        errno.EIO,
        errno.EISDIR,
        errno.ENAMETOOLONG,
        errno.ENOENT,
        errno.ENOSPC,
        errno.ENOTDIR,
        errno.EPERM,
        errno.EROFS,
    )
)
"""What writing a file can fail with; a network has others."""


def switched_off(name: str) -> FetchError:
    """The sentence for a model that would have to be fetched while `offline`."""
    return FetchError(sentence("errors.offline", name=name))


def downloading(name: str, done: float, size: float) -> str:
    """How much of a download is here; both in bytes."""
    return sentence("errors.downloading", name=name, part=f"{done / 1e6:.0f}", whole=f"{size / 1e6:.0f}")


def report(progress: Progress | None, share: float | None, words: str) -> None:
    """Tell the page; and the console, but not each percent of it."""
    stage = words.split(" (")[0]
    if stage != _last[0]:
        _last[0] = stage
        log.info("%s", words)
    if progress is not None:
        progress(share, words)


_last = [""]
