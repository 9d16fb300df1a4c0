"""Stop strings in a box: every string can be written, and comes back as it was."""

import pytest

from specviz.sessions.stops import read_stops, split_lines, write_stops


@pytest.mark.parametrize(
    ("text", "stops"),
    [
        ("", ()),
        (None, ()),
        ("END\n\n\nSTOP\r\n", ("END", "STOP")),
        (r"a\nb", ("a\nb",)),
        (r"\\nabla", (r"\nabla",)),
        (r"\alpha \\", ("\\alpha \\",)),
        ("a\u2028b\u0085c\x0cd", ("a\u2028b\u0085c\x0cd",)),
        ([r"\nabla", "a\nb"], (r"\nabla", "a\nb")),
    ],
)
def test_read(text, stops):
    assert read_stops(text) == stops


@pytest.mark.parametrize("stops", [(r"\nabla", "\n\n", "\\", "\\\n", r"\\n"), ("a\u2028b", "x y"), ()])
def test_written_and_read_they_are_the_same(stops):
    assert read_stops(write_stops(stops)) == stops


def test_lines():
    assert split_lines("a=1\r\nb=2\n\n") == ["a=1", "b=2"]
