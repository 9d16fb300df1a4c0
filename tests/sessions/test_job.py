"""Of the presses of a button the latest wins, and Stop ends it; whoever presses, and from whatever thread."""

import threading

from specviz.sessions.job import Job, Jobs


def test_a_later_claim_and_a_stop_end_the_work():
    job = Job()
    assert job.latest is None and job.stop() == 0
    first = job.claim("play")
    assert first.is_current and first.is_latest and job.is_current(first) and first.purpose == "play"
    second = job.claim()
    assert not first.is_current and not first.is_latest and second.is_current
    assert job.stop() == second.number == 2
    assert not second.is_current and second.is_latest  # stopped, but its last word is still the last
    third = job.claim()
    assert third.is_current and not second.is_latest


def test_a_claim_for_the_same_purpose_can_be_shared_while_it_is_current():
    job = Job()
    step = job.claim("step", share=True)
    assert job.claim("step", share=True) is step and step.is_current
    play = job.claim("play", share=True)
    assert play is not step and not step.is_current
    job.stop()
    again = job.claim("play", share=True)
    assert again is not play and again.is_current and not play.is_current


def test_of_two_threads_that_claim_at_once_one_is_current_and_no_number_comes_twice():
    for _ in range(200):
        job, together, claims = Job(), threading.Barrier(2), []

        def press(job=job, together=together, claims=claims):
            together.wait(10)
            claims.append(job.claim())

        threads = [threading.Thread(target=press) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(claim.number for claim in claims) == [1, 2]
        assert [claim.number for claim in claims if claim.is_current] == [2]


def test_two_threads_that_share_a_claim_at_once_get_the_same():
    job, together, claims = Job(), threading.Barrier(2), []

    def press():
        together.wait(10)
        claims.append(job.claim("step", share=True))

    threads = [threading.Thread(target=press) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert claims[0] is claims[1] and claims[0].is_current


def test_jobs_of_other_names_and_visitors_know_nothing_of_each_other():
    jobs, others = Jobs(), Jobs()
    claim = jobs["compare"].claim()
    jobs["sweep"].claim()
    others["compare"].stop()
    assert claim.is_current and jobs["compare"] is jobs["compare"] is not others["compare"]


def test_a_silenced_job_waits_until_what_it_said_is_delivered():
    job, order = Job(), []
    claim = job.claim()
    claim.delivered.clear()  # on its way
    thread = threading.Thread(target=lambda: (job.silence(10), order.append("silent")))
    thread.start()
    while claim.is_latest:
        pass
    order.append("delivered")
    claim.delivered.set()
    thread.join()
    assert order == ["delivered", "silent"] and not job.latest.is_current
    job.silence(0)  # nothing on its way: at once
