// All steps as comma-separated values: one row a step, units in the header. Counts and names only, no text of models
// or visitors, so that a spreadsheet has nothing to run. What was not measured is empty, never 0.

import { countStep, isTree } from './shape.js';
import { lossy } from './store.js';

/** @type {[string, (step: any, counts: any, figures: any) => any][]} */
const CSV = [
  ['step', (s) => s.i + 1],
  ['strategy', (s) => s.st],
  ['rule', (s) => s.ru],
  ['rule changes the output', (s) => (lossy(s) ? 'yes' : 'no')],
  ['K [tokens]', (s) => s.k],
  ['K as set [tokens]', (s) => s.ks ?? s.k],
  ['draft length', (s) => s.dl || 'fixed'],
  ['temperature', (s) => s.T],
  ['top-k [tokens]', (s) => s.tk],
  ['top-p', (s) => s.tp],
  ['repetition penalty', (s) => s.rp],
  ['shape', (s) => (!s.tok.length ? 'none' : isTree(s.tok) ? 'tree' : 'chain')],
  ['drafted [tokens]', (s, c) => c.drafted],
  ['accepted [tokens]', (s, c) => c.accepted],
  ['rejected [tokens]', (s, c) => c.rejected],
  ['untested [tokens]', (s, c) => c.drafted - c.accepted - c.rejected],
  ['tested [positions]', (s, c) => c.tested],
  ['emitted [tokens]', (s, c) => c.tokens],
  ['acceptance [accepted/tested positions]', (s, c) => (c.tested ? c.accepted / c.tested : null)],
  ['acceptance so far [accepted/tested positions]', (s, c, f) => f.alpha],
  ['drafted share so far [accepted/drafted tokens]', (s, c, f) => f.share],
  ['emitted so far [tokens]', (s, c, f) => f.tokens],
  ['block efficiency so far [tokens/pass]', (s, c, f) => f.tau],
  ['draft [ms]', (s) => s.d],
  ['verify [ms]', (s) => s.v],
  ['other [ms]', (s) => s.o],
  ['reading text first [ms]', (s) => s.c],
  ['speed so far [tokens/s]', (s, c, f) => f.rate],
  ['target alone [tokens/s]', (s, c, f) => f.alone],
  ['speed-up so far [run/alone]', (s, c, f) => f.speedup],
  ['stop', (s) => s.stop],
];

export function stepsCsv(store) {
  const cell = (x) => {
    const text = x === null || x === undefined || Number.isNaN(x) ? '' : typeof x === 'number' ? String(Number(x.toPrecision(7))) : x;
    return /[",\r\n]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
  };
  const lines = [CSV.map(([name]) => cell(name))];
  for (const step of store.steps) {
    const counts = countStep(step), figures = store.figures(step.i + 1);
    lines.push(CSV.map(([, value]) => cell(value(step, counts, figures))));
  }
  return lines.map((line) => line.join(',') + '\r\n').join('');
}
