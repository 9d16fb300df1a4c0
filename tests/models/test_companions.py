"""Companions of a target: made once, seen when there, gone with the target."""

import gc
import threading
import time
import weakref

import pytest

from specviz.models.companions import companion, present
from specviz.models.pair import LoadedModel


def blank() -> LoadedModel:
    return LoadedModel("t", "t", None, None, None, None, 0, 0, frozenset(), "rollback", 0, 0)  # type: ignore[arg-type]


def test_two_who_ask_at_once_wait_for_one() -> None:
    target, made = blank(), []

    def make() -> object:
        time.sleep(0.05)
        made.append(object())
        return made[-1]

    got: list[object] = []
    threads = [threading.Thread(target=lambda: got.append(companion(target, "x", make))) for _ in range(4)]
    assert not present(target, "x")
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1 and got == made * 4 and present(target, "x") and not present(target, "y")
    assert not present(blank(), "x")


def test_a_failed_make_leaves_nothing_and_may_be_tried_again() -> None:
    target = blank()
    with pytest.raises(ZeroDivisionError):
        companion(target, "x", lambda: 1 / 0)
    assert not present(target, "x") and companion(target, "x", lambda: 2) == 2


def test_it_goes_with_its_target() -> None:
    class Thing:
        pass

    target = blank()
    gone = weakref.ref(companion(target, "x", Thing))
    del target
    gc.collect()
    assert gone() is None
