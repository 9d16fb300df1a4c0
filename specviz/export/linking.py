"""The page's modules as one classic script: browsers load no module from a file on disk.

Each module becomes a function. It is called once, after the modules that it imports, and returns the names that others
import from it. The linker supports only what the modules of `assets/` use: named imports from relative addresses, and
`export` before a `const` or a function. Anything else raises `LinkError`.

Example: ``link("replay.js", SCRIPTS)`` is a script after which ``specvizModules['replay.js'].mount`` can be called.
"""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Mapping

NAME = "specvizModules"
_IMPORT = re.compile(r"^import \{([^}]*)\} from '(\.[^']+)';$", re.M)
_EXPORT = re.compile(r"^export (?=const |(?:async )?function )", re.M)
_REST = re.compile(r"^(?:import|export)\b.*$", re.M)
_NO_SCRIPT = ("</script", "<script", "<!--")
"""HTML ends or changes an inline script at these, whatever they mean to JavaScript."""


class LinkError(ValueError):
    """A module that cannot be linked: a mistake in the scripts, not in what is exported."""


def link(entry: str, scripts: Mapping[str, bytes]) -> str:
    """`entry` and all that it needs, in an order in which each comes after what it imports."""
    order: list[str] = []
    _visit(entry, scripts, order, ())
    wanted: dict[str, set[str]] = defaultdict(set)
    for name in order:
        for names, source in _imports(name, scripts):
            wanted[source].update(original for original, _ in names)
    wanted[entry].add("mount")
    parts = [_module(name, scripts, sorted(wanted[name])) for name in order]
    return "\n".join(["'use strict';", f"const {NAME} = {{}};", *parts])


def _visit(name: str, scripts: Mapping[str, bytes], order: list[str], path: tuple[str, ...]) -> None:
    if name in order:
        return
    if name in path:
        raise LinkError(f"These modules import each other in a circle: {' → '.join((*path, name))}.")
    if name not in scripts:
        raise LinkError(f"{path[-1] if path else 'The page'} imports {name}, which does not exist.")
    for _, source in _imports(name, scripts):
        _visit(source, scripts, order, (*path, name))
    order.append(name)


def _imports(name: str, scripts: Mapping[str, bytes]) -> list[tuple[list[tuple[str, str]], str]]:
    """For each import of a module: pairs of exported and local names, and the module they come from."""
    found = []
    for names, source in _IMPORT.findall(scripts[name].decode()):
        pairs = [tuple(part.split(" as ")) for part in map(str.strip, names.split(",")) if part]
        address = posixpath.normpath(posixpath.join(posixpath.dirname(name), source))
        found.append(([(pair[0].strip(), pair[-1].strip()) for pair in pairs], address))
    return found


def _module(name: str, scripts: Mapping[str, bytes], exported: list[str]) -> str:
    text = scripts[name].decode()
    heads = []
    for names, source in _imports(name, scripts):
        taken = ", ".join(original if original == local else f"{original}: {local}" for original, local in names)
        heads.append(f"const {{ {taken} }} = {NAME}['{source}'];")
    body = _EXPORT.sub("", _IMPORT.sub("", text))
    if rest := _REST.search(body):
        raise LinkError(f"{name} has an import or export of an unsupported kind: {rest.group()}")
    if found := [mark for mark in _NO_SCRIPT if mark in body.lower()]:
        raise LinkError(f"{name} contains {found[0]}, which an inline script cannot hold.")
    inside = "\n".join([*heads, body.strip(), f"return {{ {', '.join(exported)} }};"])
    return f"{NAME}['{name}'] = (() => {{\n{inside}\n}})();"
