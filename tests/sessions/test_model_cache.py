"""Models are loaded once, in the background, and put away when nobody uses them."""

import gc
import threading
import time
import weakref

import pytest

from specviz.core.settings import SpecvizError
from specviz.core.words import say, sentence, speaking, spoken
from specviz.models.loading import load_pair
from specviz.sessions.model_cache import LIMIT, STALLED_S, Loading, ModelCache, NotLoaded, until_loaded
from tests import tiny


def test_a_pair_is_loaded_once_however_many_ask():
    calls, gate = [], threading.Event()

    def load(target, draft, dtype, progress):
        calls.append(target)
        gate.wait(5)
        return object()

    model_cache = ModelCache(load)
    entries = [model_cache.ask(("a", "", "")) for _ in range(5)]
    assert entries[0].state == "loading"
    gate.set()
    assert all(e.done.wait(5) and e is entries[0] for e in entries)
    assert calls == ["a"] and entries[0].state == "ready"


def test_an_error_is_one_sentence_and_pressing_again_tries_again():
    tries = []

    def load(target, draft, dtype, progress):
        tries.append(target)
        if len(tries) == 1:
            raise SpecvizError("No network; connect and press Load again.")
        return object()

    model_cache = ModelCache(load)
    entry = model_cache.ask(("a", "", ""))
    entry.done.wait(5)
    assert (entry.state, entry.say) == ("error", "No network; connect and press Load again.")
    assert model_cache.ask(("a", "", "")) is entry
    again = model_cache.again(("a", "", ""))
    again.done.wait(5)
    assert again.state == "ready"


def test_pairs_nobody_uses_make_room_and_used_ones_stay():
    used = []
    model_cache = ModelCache(lambda target, draft, dtype, progress: [target], lambda: used)
    for name in "abcd":
        entry = model_cache.ask((name, "", ""))
        entry.done.wait(5)
        if name == "a":
            used.append(entry.pair)
    assert [key[0] for key in model_cache._pairs] == ["a", "c", "d"]


def test_switching_to_and_fro_keeps_few_models_in_memory(tmp_path):
    folders = {}
    for name in "abc":
        (tmp_path / name).mkdir()
        folders[name] = (tiny.copy("ctx_t", tmp_path / name), tiny.copy("ctx_d", tmp_path / name))
    alive, loads = weakref.WeakSet(), []

    def load(target, draft, dtype, progress):
        gc.collect()
        assert len(alive) <= 2 * (LIMIT - 1), "a pair nobody uses is freed before the next is loaded"
        pair = load_pair(*folders[target], dtype="float32")
        alive.update((pair.target.model, pair.draft.model))
        loads.append(target)
        return pair

    model_cache = ModelCache(load)
    for name in "abababababcabc":
        entry = model_cache.ask((name, "", ""))
        entry.done.wait(20)
        assert entry.state == "ready", entry.say
    assert loads == ["a", "b", "c", "a", "b", "c"]


def test_who_waits_hears_what_is_new_and_gets_the_pair():
    loading, pair, said = Loading(), object(), []
    waiting = until_loaded(loading, lambda: True, lambda coming: coming.say)
    said.append(next(waiting))
    loading.report(0.5, "Half of it.")
    said.append(next(waiting))
    loading.pair = pair
    loading.done.set()
    with pytest.raises(StopIteration) as end:
        next(waiting)
    assert said == ["Loading the models …", "Half of it."] and end.value.value is pair


def test_who_no_longer_wants_a_pair_stops_waiting():
    wanted = [True, False]
    waiting = until_loaded(Loading(), lambda: wanted.pop(0), lambda coming: coming.say)
    assert list(waiting) == ["Loading the models …"]


def test_waiting_ends_with_a_sentence_where_loading_reports_nothing_for_long():
    loading = Loading()
    waiting = until_loaded(loading, lambda: True, lambda coming: coming.say)
    next(waiting)  # other models come first: that may take any time
    loading.reported = time.monotonic() - STALLED_S - 1
    with pytest.raises(NotLoaded, match="no progress for 15 minutes"):
        next(waiting)
    loading.report(0.1, "Downloading …")
    assert next(until_loaded(loading, lambda: True, lambda coming: coming.say)) == "Downloading …"


def test_two_visitors_in_two_languages_who_wait_for_one_load_each_read_their_own():
    gate = threading.Event()

    def load(target, draft, dtype, progress):
        assert gate.wait(20)
        raise SpecvizError(sentence("sessions.none_fits", target=target, left_out=""))

    loading = ModelCache(load).ask(("a", "", ""))
    seen = {code: [] for code in ("en", "de")}

    def wait(code):
        with speaking(code), pytest.raises(NotLoaded) as end:
            for words in until_loaded(loading, lambda: True, lambda coming: spoken(coming.say)):
                seen[code].append(words)
                if len(seen[code]) == 1:
                    both.wait(20)  # both have read it before the load goes on
        with speaking(code):
            seen[code].append(str(end.value))

    both = threading.Barrier(2, action=gate.set)
    readers = [threading.Thread(target=wait, args=(code,)) for code in seen]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join(30)
    for code, (first, *_, last) in seen.items():
        with speaking(code):
            assert first == say("sessions.begun") and last == say("sessions.none_fits", target="a", left_out="")
    assert seen["en"][0] != seen["de"][0] and seen["en"][-1] != seen["de"][-1]
