// Two tables made of steps, as columns, for any chart: "steps" (a row a step, or a row for several in a long run) and
// "positions" (a row a position in the draft). Draws nothing. A gap is null: a step without drafts has no acceptance.
// Rows of several steps are made of sums, so a decimated chart shows the true rate of its steps, not a sample.
// Acceptance is counted by position, in chains and trees alike. `x_` columns place a row on an axis of output tokens.

import { amount, say } from './say.js';
import { countStep } from './shape.js';

// A chart is some 400 pixels wide: more rows would cost time and show nothing.
const MAX_ROWS = 200;

export function stepTable(store, shown, limit = MAX_ROWS) {
  const size = Math.max(1, Math.ceil(shown / limit));
  const table = {
    step: [], span: [], alpha: [], accepted: [], tested: [], drafted: [], alpha_run: [], accepted_run: [],
    tested_run: [], tokens: [], tau_run: [], tokens_run: [], draft_ms: [], verify_ms: [], other_ms: [], total_ms: [],
    alone_ms: [], one: [], emitted: [], wrote: [], written: [], wrote_run: [], passes: [], passes_run: [],
    rate: [], total_s: [], rate_run: [], time_run_s: [],
    alone_rate: [], speedup_run: [], x_end: [], x_mid: [], x_wide: [],
  };
  const alone = store.baseline && store.baseline.tps > 0 ? 1000 / store.baseline.tps : null;
  for (let from = 0; from < shown; from += size) {
    const to = Math.min(shown, from + size), a = store.sums[from], b = store.sums[to], steps = to - from;
    const tested = b.tested - a.tested, accepted = b.accepted - a.accepted;
    const times = ['draft', 'verify', 'other'].map((name) => (b[name] - a[name]) / steps);
    table.step.push(to);
    table.span.push(steps === 1 ? String(to) : from + 1 + '–' + to);
    table.accepted.push(accepted);
    table.tested.push(tested);
    table.drafted.push(b.drafted - a.drafted);
    table.alpha.push(tested ? accepted / tested : null);
    table.accepted_run.push(b.accepted);
    table.tested_run.push(b.tested);
    table.alpha_run.push(b.tested ? b.accepted / b.tested : null);
    table.tokens.push(round((b.tokens - a.tokens) / steps, 2));
    table.tokens_run.push(b.tokens);
    table.tau_run.push(round(b.tokens / to, 3));
    table.draft_ms.push(round(times[0], 2));
    table.verify_ms.push(round(times[1], 2));
    table.other_ms.push(round(times[2], 2));
    table.total_ms.push(round(times[0] + times[1] + times[2], 1));
    table.alone_ms.push(alone);
    table.one.push(1);
    const emitted = b.tokens - a.tokens, took = (times[0] + times[1] + times[2]) * steps;
    const time = b.draft + b.verify + b.other, run = time > 0 ? (1000 * b.tokens) / time : null;
    table.emitted.push(emitted);
    table.wrote.push(amount('tokens', emitted));
    table.written.push(amount('tokens', table.tokens.at(-1)));
    table.wrote_run.push(amount('tokens', b.tokens));
    table.passes_run.push(say('view.passes', { n: to }));
    table.passes.push(say('view.just_passes', { n: steps }));
    table.rate.push(took > 0 ? round((1000 * emitted) / took, 2) : null);
    table.total_s.push(round(took / 1000, 4));
    table.rate_run.push(run && round(run, 2));
    table.time_run_s.push(round(time / 1000, 2));
    table.alone_rate.push(alone && round(1000 / alone, 2));
    table.speedup_run.push(run && alone ? round((run * alone) / 1000, 3) : null);
    table.x_end.push(b.tokens);
    table.x_mid.push((a.tokens + 1 + b.tokens) / 2);
    table.x_wide.push(emitted);
  }
  return table;
}

// Conditional acceptance: of the steps whose walk reached position i, how many accepted it.
export function positionTable(store, shown) {
  const accepted = [], tested = [];
  for (let i = 0; i < shown; i++) {
    const c = countStep(store.steps[i]);
    for (let position = 0; position < c.tested; position++) {
      tested[position] = (tested[position] || 0) + 1;
      accepted[position] = (accepted[position] || 0) + (position < c.accepted ? 1 : 0);
    }
  }
  return {
    position: tested.map((_, i) => i + 1), accepted, tested,
    alpha: tested.map((n, i) => accepted[i] / n), count: tested.map((n, i) => accepted[i] + '/' + n),
  };
}

const round = (x, digits) => Math.round(x * 10 ** digits) / 10 ** digits;

// "{accepted_run} of {tested_run} accepted" with the last row of a table; null where there is no row yet.
export function sentence(template, table) {
  const columns = Object.values(table), last = columns[0].length - 1;
  if (last < 0) return null;
  return template.replace(/\{(\w+)\}/g, (_, name) => String(table[name] ? table[name][last] : ''));
}
