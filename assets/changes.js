// Where settings changed in mid-run, and which words stand at the mark of it: words where they have room, else numbers
// with a key. Pure but for the key's element; charts.js draws what comes out.
// Example: placeLabels([{ at: 0, label: 'greedy' }], 300) is { numbered: false, rows: 1, labels: [one of row 0] }.

import { add, el } from './dom.js';
import { changeLabel } from './store.js';

// Pixels: a letter, the least way between two marks that are told apart, and between two words in a row.
const LETTER = 6.4, NEAR = 16, SPACE = 8;

// Changes of the steps shown, as groups of those too near each other to be told apart: {step, from, at, lines, label}.
// A group's words are what came of all its changes, so a slider that was drawn from 4 to 7 is one change.
export function changeGroups(store, position, most = 40) {
  const groups = [];
  for (const { step } of store.changes.filter((c) => c.step <= store.shown).slice(-most)) {
    const at = position(step), last = groups.at(-1);
    if (last && at - last.at < NEAR) Object.assign(last, { step, lines: [...last.lines, step] });
    else groups.push({ from: step, step, at, lines: [step], label: '' });
  }
  for (const group of groups) group.label = changeLabel(store.steps[group.from - 2], store.steps[group.step - 1]);
  // what it began with has no change to be named at; K is named by its own first change
  const strategy = store.steps[0]?.st;
  if (groups.some((g) => store.steps[g.step - 1].st !== strategy)) {
    groups.unshift({ from: 1, step: 1, at: position(1), lines: [], label: strategy });
  }
  return groups.filter((g) => g.label);
}

// Where the words of marks stand over a plot so wide: to the right of their line, to the left where the plot would end,
// in at most two rows; numbers where they would not all have room.
export function placeLabels(marks, width) {
  const ends = [-SPACE, -SPACE];
  const words = marks.map(({ at, label }) => {
    const long = LETTER * label.length, left = at + long > width && at > long, from = left ? at - long : at;
    const row = ends.findIndex((end) => end + SPACE <= from);
    if (row >= 0) ends[row] = from + long;
    return { at, row, text: label, anchor: left ? 'right' : 'left' };
  });
  const numbered = words.some(({ row }) => row < 0);
  if (!numbered) return { numbered, rows: Math.max(0, ...words.map((w) => w.row + 1)), labels: words };
  const numbers = marks.map(({ at }, i) => ({ at, row: 0, text: String(i + 1), anchor: at < NEAR ? 'left' : 'center' }));
  return { numbered, rows: 1, labels: numbers };
}

// What the numbers stand for, above the charts.
export function makeKey() {
  const box = el('div', 'sv-changes');
  box.hidden = true;
  return {
    box,
    // null: no chart shows numbers
    show(groups) {
      box.hidden = !groups;
      const words = (groups || []).map(({ label }, i) => [String(i + 1), label]);
      if (box.textContent === words.map(([n, label]) => n + ' ' + label).join(' ')) return;
      box.replaceChildren(...words.flatMap(([n, label]) => [add(el('span'), el('b', '', n), ' ' + label), ' ']).slice(0, -1));
    },
  };
}
