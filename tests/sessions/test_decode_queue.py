"""The queue of decoding work: in order, and no entry lost where many threads ask at once."""

import threading

from specviz.sessions.turns import Turns


def test_work_submitted_by_many_threads_at_once_is_all_counted_ahead():
    turns, gate, together = Turns(), threading.Event(), threading.Barrier(8)
    turns.submit(gate.wait)

    def ask():
        together.wait(10)
        for _ in range(50):
            turns.submit(int)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    last = turns.submit(int)
    assert turns.ahead(last) == 1 + 8 * 50
    gate.set()
    last.result(10)
    assert turns.taken == 2 + 8 * 50 and turns.ahead(last) == 0
