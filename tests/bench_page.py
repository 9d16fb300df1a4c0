"""What the page costs: decoding with the browser on the same cores against decoding headless, in turns, in one run.

A script that prints, not a test: ``python -m tests.bench_page``. Needs Chromium and the default pair. ``--rounds 1
--tokens 8`` makes it short.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from dataclasses import replace
from typing import Any

from playwright.sync_api import Page, sync_playwright

from specviz.core.prompts import PRESETS
from specviz.core.settings import RunSettings
from specviz.decoding import engine
from specviz.models.loading import load_pair
from specviz.sessions.decode_queue import DecodeQueue
from specviz.ui import app as ui
from specviz.views import wire
from tests.ui.browser import ARGS, chromium_path

SETTINGS = RunSettings(strategy="greedy", k=4, temperature=0, max_new_tokens=128, chat=True)


class Stopwatch:
    """Around `engine.step`: when the first step of a run began and the last ended, whoever calls."""

    def __init__(self) -> None:
        self.plain = engine.step
        self.reset()

    def reset(self) -> None:
        self.first = self.last = 0.0
        self.tokens = self.steps = self.bytes = 0

    def __call__(self, run: Any, settings: Any) -> Any:
        self.first = self.first or time.perf_counter()
        step = self.plain(run, settings)
        self.last = time.perf_counter()
        self.tokens += len(step.emitted_ids)
        self.steps += 1
        self.bytes += len(json.dumps(wire.step(step), separators=(",", ":")))
        return step

    @property
    def rate(self) -> float:
        """Tokens a second."""
        return self.tokens / (self.last - self.first)


def main() -> None:
    """Print ratios browser ÷ headless for each round and their median."""
    parser = argparse.ArgumentParser(description="What the page costs, as ratios browser ÷ headless.")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tokens", type=int, default=SETTINGS.max_new_tokens)
    given = parser.parse_args()
    settings = replace(SETTINGS, max_new_tokens=given.tokens)
    pair, watch, queue = load_pair("default"), Stopwatch(), DecodeQueue()
    engine.step = watch  # type: ignore[assignment]
    demo = ui.build(load=lambda *args, **kwargs: pair)
    _, url, _ = demo.launch(prevent_thread_lock=True, quiet=True, server_name="127.0.0.1", **ui.launch_options())
    prompt = PRESETS["Story"].prompt

    def headless() -> float:
        watch.reset()
        run = queue.submit(lambda: engine.start(pair, prompt, settings)).result()
        while not run.finished(settings):
            queue.submit(lambda: engine.step(run, settings)).result()
        return watch.rate

    with sync_playwright() as p:
        browser = p.chromium.launch(executable_path=chromium_path(), args=ARGS)
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        opened = time.perf_counter()
        page.goto(url)
        page.wait_for_selector(".sv-ribbon .sv-chip:not(.sv-template)", timeout=60_000)
        print(f"page with the recorded run after {time.perf_counter() - opened:.1f} s")
        _set_up(page, prompt, settings)
        _play(page, watch)
        headless()  # the first of each is not counted
        ticks = page.context.new_cdp_session(page)
        ticks.send("Performance.enable", {"timeDomain": "threadTicks"})
        ratios = []
        for _ in range(given.rounds):
            alone, busy = headless(), _main_thread(ticks)
            live = _play(page, watch)
            busy = (_main_thread(ticks) - busy) / watch.steps
            ratios.append(live / alone)
            cost = f"{watch.bytes / watch.steps:.0f} bytes and {busy:.1f} ms of main thread a step"
            print(f"headless {alone:.1f} tokens/s, with the page {live:.1f}: {live / alone:.2f}; {cost}")
        print(f"page ÷ headless: median {statistics.median(ratios):.2f} ({min(ratios):.2f} … {max(ratios):.2f})")
        browser.close()
    demo.close()


def _main_thread(ticks: Any) -> float:
    """Milliseconds of processor time that the page's main thread has used so far."""
    metrics = ticks.send("Performance.getMetrics")["metrics"]
    return 1e3 * next(m["value"] for m in metrics if m["name"] == "TaskDuration")


def _set_up(page: Page, prompt: str, settings: RunSettings) -> None:
    page.fill("#sv-prompt textarea", prompt)
    for name, value in (("k", settings.k), ("temperature", settings.temperature)):
        page.fill(f"#sv-{name} input[type=number]", str(value))
        page.keyboard.press("Tab")
    page.click("#sv-strategy input")
    page.get_by_role("option", name=settings.strategy, exact=True).click()
    page.click("text=Length and template")
    page.fill("#sv-max-new-tokens input[type=number]", str(settings.max_new_tokens))
    page.keyboard.press("Tab")


def _play(page: Page, watch: Stopwatch) -> float:
    page.click("#sv-reset")
    page.wait_for_function("document.querySelector('.sv-pill').textContent === 'No run yet'")
    watch.reset()
    page.click("#sv-play")
    page.wait_for_function("document.querySelector('.sv-pill').textContent === 'Finished'", timeout=120_000)
    return watch.rate


if __name__ == "__main__":
    main()
