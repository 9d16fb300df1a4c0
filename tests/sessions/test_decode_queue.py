"""The queue of decoding work: in order, and no entry lost where many threads ask at once."""

import threading

from specviz.core.words import language, speaking
from specviz.sessions.decode_queue import DecodeQueue


def test_work_submitted_by_many_threads_at_once_is_all_counted_ahead():
    queue, gate, together = DecodeQueue(), threading.Event(), threading.Barrier(8)
    queue.submit(gate.wait)

    def ask():
        together.wait(10)
        for _ in range(50):
            queue.submit(int)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    last = queue.submit(int)
    assert queue.ahead(last) == 1 + 8 * 50
    gate.set()
    last.result(10)
    assert queue.taken == 2 + 8 * 50 and queue.ahead(last) == 0


def test_work_speaks_the_language_of_whoever_submits_it():
    queue = DecodeQueue()
    with speaking("de"):
        work = queue.submit(language)
    assert (work.result(), queue.submit(language).result()) == ("de", "en")
