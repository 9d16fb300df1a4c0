"""A folder of pages for a static host: an index that leads to each recording, and the settings of a static Space."""

from __future__ import annotations

import re
from html import unescape

import pytest

from specviz.__main__ import main
from specviz.core.words import languages
from specviz.recordings import gallery


@pytest.mark.parametrize("code", languages())
def test_the_index_leads_to_a_page_for_each_recording(opened, tmp_path, capsys, code):
    assert main(["gallery", str(tmp_path / "site"), "--language", code]) == 0
    names = {path.name for path in (tmp_path / "site").iterdir()}
    assert names == {"index.html", "README.md", *(f"{name}.html" for name in gallery.present())}
    assert capsys.readouterr().out.count("\n") == len(names)
    front = (tmp_path / "site" / "README.md").read_text(encoding="utf-8").split("---")[1]
    assert "sdk: static" in front and "app_file: index.html" in front
    index = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert (
        f'<html lang="{code}">' in index and "script-src 'none'" in unescape(index) and not re.search(r"https?:", index)
    )
    run = opened(color_scheme="dark").go(tmp_path / "site" / "index.html")
    assert run.page.locator(".sv-site a").count() == len(gallery.present())
    run.page.locator(".sv-site a").first.click()
    run.wait_step("3")


def test_a_file_in_the_way_is_an_error(tmp_path, capsys):
    (tmp_path / "file").write_text("x")
    assert main(["gallery", str(tmp_path / "file")]) == 1
    assert "choose another folder" in capsys.readouterr().err
