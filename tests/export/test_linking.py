"""Modules as one classic script: order, names, and a sentence for whatever the linker does not support."""

from __future__ import annotations

import pytest

from specviz.export.linking import LinkError, link
from specviz.views.page_files import SCRIPTS

SMALL = {
    "main.js": b"import { one,\n  two as deux } from './lib/numbers.js';\nexport function mount() { return one + deux; }\n",
    "lib/numbers.js": b"import { zero } from '../zero.js';\nexport const one = zero + 1, two = one + 1;\n",
    "zero.js": b"export const zero = 0;\n",
}


def test_a_module_comes_after_what_it_imports_and_returns_what_others_import():
    linked = link("main.js", SMALL)
    positions = [linked.index(f"specvizModules['{name}'] =") for name in ("zero.js", "lib/numbers.js", "main.js")]
    assert positions == sorted(positions)
    assert "const { one, two: deux } = specvizModules['lib/numbers.js'];" in linked
    assert "return { one, two };" in linked and "return { mount };" in linked
    assert "\nimport" not in linked and "\nexport" not in linked


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"zero.js": b"import { mount } from './main.js';\nexport const zero = 0;\n"}, "in a circle"),
        ({"main.js": b"import { x } from './missing.js';\n"}, "which does not exist"),
        ({"zero.js": b"export default 0;\n"}, "unsupported kind"),
        ({"zero.js": b"import zero from 'zero';\n"}, "unsupported kind"),
        ({"zero.js": b"export const zero = '</script>';\n"}, "cannot hold"),
    ],
)
def test_what_cannot_be_linked_is_an_error(changed, sentence):
    with pytest.raises(LinkError, match=sentence):
        link("main.js", SMALL | changed)


@pytest.mark.parametrize("entry", ["replay.js", "view.js", "race.js"])
def test_the_page_s_own_modules_can_be_linked(entry):
    assert f"specvizModules['{entry}'] =" in link(entry, SCRIPTS)
