// The trace in the browser, with the sums of every prefix, and the cursor. Draws nothing, asks nobody.
// `shown` is the number of steps on screen: stepping back is a smaller number, and no sum is ever recomputed.
// Example: store.sum(12).tokens is the number of tokens after twelve steps.

import { CONFIG } from './config.js';
import { say } from './say.js';
import { countStep, isTree } from './shape.js';

const NOTHING = {
  tokens: 0, drafted: 0, accepted: 0, tested: 0, draft: 0, verify: 0, other: 0, drafting: 0, rejected: 0, trees: 0,
  lossy: 0,
};

export function makeStore() {
  const store = {
    run: null, head: null, recording: false, steps: [], sums: [NOTHING], baseline: null, details: new Map(),
    text: null, shown: 0, changes: [],
    // `held`: new steps leave the cursor where it is; `veiled`: the result of the step on screen is not shown yet
    held: false, veiled: false,
    // turns that other visitors took between the steps
    others: 0,

    begin(run, head, recording = false) {
      Object.assign(store, {
        run, head, recording, steps: [], sums: [NOTHING], baseline: null, details: new Map(), text: null, shown: 0,
        changes: [], others: 0, held: false, veiled: false,
      });
    },

    get n() { return store.steps.length; },
    get atEnd() { return store.shown === store.steps.length; },
    // Steps whose result is on screen.
    get known() { return Math.max(0, store.shown - (store.veiled ? 1 : 0)); },

    // Takes the next step only; whoever streams must fill gaps first.
    push(step) {
      if (step.i !== store.n) return false;
      const follow = store.atEnd && !store.held, before = store.steps[store.n - 1];
      const label = before ? changeLabel(before, step) : '';
      if (label) store.changes.push({ step: step.i + 1, label });
      const c = countStep(step), s = store.sums[store.n];
      store.steps.push(step);
      store.sums.push({
        tokens: s.tokens + c.tokens, drafted: s.drafted + c.drafted, accepted: s.accepted + c.accepted,
        tested: s.tested + c.tested, draft: s.draft + (step.d || 0), verify: s.verify + (step.v || 0),
        other: s.other + (step.o || 0), drafting: s.drafting + (c.drafted ? 1 : 0),
        rejected: s.rejected + c.rejected, trees: s.trees + (isTree(step.tok) ? 1 : 0), lossy: s.lossy + (lossy(step) ? 1 : 0),
      });
      if (follow) store.shown = store.n;
      return true;
    },

    sum(shown = store.known) { return store.sums[shown]; },
    last() { return store.steps[store.shown - 1] || null; },

    // Figures of the prefix on screen; null stands for "no drafts" or "not measured", never 0 or NaN.
    figures(shown = store.known) {
      const s = store.sum(shown), time = s.draft + s.verify + s.other;
      const rate = time > 0 ? (1000 * s.tokens) / time : null;
      const alone = store.baseline && store.baseline.tps > 0 ? store.baseline.tps : null;
      return {
        ...s, steps: shown, time, rate, alone,
        alpha: s.tested ? s.accepted / s.tested : null,
        share: s.drafted ? s.accepted / s.drafted : null,
        tau: shown ? s.tokens / shown : null,
        speedup: rate && alone ? rate / alone : null,
      };
    },
  };
  return store;
}

// Whether drafted tokens of this step met a rule that changes the output.
export const lossy = (step) => step.tok.length > 0 && (CONFIG.lossy || []).includes(step.ru);

export function changeLabel(a, b) {
  const parts = [];
  // what a person set, not what a policy made of it: that moves at nearly every step
  const set = (s) => s.ks ?? s.k;
  if (set(a) !== set(b)) parts.push('K ' + set(a) + '→' + set(b));
  if ((a.dl || 'fixed') !== (b.dl || 'fixed')) parts.push(b.dl || say('view.fixed_k'));
  if (a.st !== b.st) parts.push(b.st);
  if (a.ru !== b.ru) parts.push(b.ru);
  if (a.T !== b.T) parts.push('T ' + b.T);
  return parts.join(', ');
}
