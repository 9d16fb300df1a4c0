"""Which tests run nightly (`python -m pytest -m slow`) and not at every change, with the reason.

Each has a sibling that always runs and goes the same way through the code; or it can only fail with another version of
Gradio, which is pinned. The product of chi-squared tests is marked where it is written.
"""

from __future__ import annotations

NIGHTLY = {
    # the same at another size, theme or paper
    "tests/ui/test_axe.py::test_on_a_desk[dark]": "a phone in dark always runs",
    "tests/ui/test_axe.py::test_on_a_phone[light]": "a desk in light always runs",
    "tests/ui/test_axe.py::test_a_race_a_sweep_and_every_k": "the studies that explain a run always run",
    "tests/ui/test_clipped.py::test_nothing_of_a_step_is_cut[beams]": "another step always runs",
    "tests/ui/test_clipped.py::test_nothing_of_a_step_is_cut[sampled-tree]": "another step always runs",
    "tests/ui/test_explaining.py::test_on_a_phone_nothing_sticks_out": "test_phone.py measures the page",
    "tests/ui/test_print.py::test_printing_gives_the_whole_run_and_all_charts_and_no_controls[across]": "upright always runs",
    "tests/ui/test_print.py::test_a_page_is_made_of_it": "print styles always run",
    "tests/ui/test_race.py::test_with_reduced_motion_the_bar_alone_moves_it[phone]": "a desk always runs",
    "tests/ui/test_touch.py::test_a_candidate_is_not_squeezed_by_what_became_of_it[small]": "the usual size always runs",
    "tests/ui/test_touch.py::test_a_candidate_is_not_squeezed_by_what_became_of_it[side]": "the usual size always runs",
    "tests/ui/test_translate.py::test_tokens_of_the_studies_are_left_alone": "those of the view always run",
    "tests/ui/test_load_again.py::test_the_models_asked_for_last_are_those_that_come[play]": "Load always runs",
    # cost and memory over many steps, visits or loads
    "tests/ui/test_page.py::test_a_step_costs_the_wire_and_the_browser_the_same_at_20_and_at_1500": "1,500 steps",
    "tests/ui/test_charts_live.py::test_three_hundred_steps_fill_the_same_charts_a_few_times_a_second": "300 steps",
    "tests/ui/test_queue.py::test_sessions_are_few_and_whoever_stays_is_kept_while_others_pass": "200 sessions",
    "tests/sessions/test_model_cache.py::test_switching_to_and_fro_keeps_few_models_in_memory": "14 loads",
    "tests/sessions/test_drive.py::test_two_hundred_abandoned_runs_leave_no_memory_behind": "200 runs",
    # what only another version of Gradio changes: its defects, and what it does when a server or a file is gone
    "tests/ui/test_gradio_fixes.py::test_the_": "defects of Gradio",
    "tests/ui/test_gradio_fixes.py::test_tab_": "defects of Gradio",
    "tests/ui/test_gradio_fixes.py::test_enter_": "defects of Gradio",
    "tests/ui/test_gradio_fixes.py::test_what_": "defects of Gradio",
    "tests/ui/test_gradio_fixes.py::test_a_": "defects of Gradio",
    "tests/ui/test_lost.py::test_a_server_that_was_not_missed_by_gradio": "a server that comes back always runs",
    "tests/ui/test_missing_scripts.py::test_modules_may_be_kept": "a script that is not there always runs",
    "tests/ui/test_missing_scripts.py::test_plotly_that_fails_once": "a module that fails once always runs",
    "tests/ui/test_offline.py::test_the_stand_in_is_named": "tests/test_app.py starts without network",
}
"""Beginning of a test's id → why it may wait for the night."""


def waits(nodeid: str) -> bool:
    """Whether that test runs nightly only."""
    return nodeid.startswith(tuple(NIGHTLY))
