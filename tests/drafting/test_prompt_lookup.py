"""Matching, by hand."""

import pytest

from specviz.drafting.prompt_lookup import continuation


@pytest.mark.parametrize(
    ("ids", "longest", "k", "found"),
    [
        ([], 3, 4, []),
        ([1], 3, 4, []),
        ([1, 2, 3], 3, 4, []),
        ([1, 2, 3, 1], 3, 2, [2, 3]),
        ([1, 2, 3, 4, 9, 1, 2], 3, 2, [3, 4]),
        ([1, 2, 7, 5, 2, 8, 1, 2], 3, 1, [7]),  # the longer match wins over the later one
        ([1, 2, 7, 5, 2, 8, 1, 2], 1, 1, [8]),  # with single tokens the latest occurrence
        ([5, 5, 5], 3, 1, [5]),
        ([5, 5, 5], 3, 4, [5]),
        ([1, 2, 3, 1, 2], 2, 9, [3, 1, 2]),
    ],
)
def test_continuation(ids, longest, k, found):
    assert continuation(ids, longest, k) == found
