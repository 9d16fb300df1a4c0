// The lanes of a race as pictures: a track on the common clock for each, and their texts under each other, aligned by
// output position. Knows which steps have ended at a moment; nothing of clocks that go, buttons or servers.

import { add, asIs, el, setText, some, svg } from './dom.js';
import { amount, say } from './say.js';

// How many of a lane's steps have ended at `ms`, and what it has by then.
export function standing(lane, ms) {
  let low = 0, high = lane.at.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (lane.at[middle] <= ms + 1e-6) low = middle + 1;
    else high = middle;
  }
  const last = low ? lane.at[low - 1] : 0, tokens = lane.sums[low];
  return { steps: low, tokens, ms: Math.min(ms, lane.end), rate: last ? (1000 * tokens) / last : null, done: low === lane.at.length };
}

// Adds what is asked for again and again: tokens after so many steps, and when the lane ended.
export function measured(lane) {
  const sums = [0];
  for (const step of lane.tok) sums.push(sums[sums.length - 1] + step.length);
  const end = lane.at[lane.at.length - 1];
  return { ...lane, sums, end, tokens: sums[sums.length - 1], rate: end ? (1000 * sums[sums.length - 1]) / end : null };
}

// Tokens that have come in both lanes and are known to be the same.
export const sameSoFar = (lane, alone, ms) =>
  Math.min(lane.held.position ?? Infinity, standing(lane, ms).tokens, standing(alone, ms).tokens);

export const seconds = (ms) => (ms / 1000).toFixed(2) + ' s';

// One row a lane: its name, its steps on the common clock, and its figures.
export function makeTracks(host) {
  const box = el('div', 'sv-tracks');
  host.append(box);
  let rows = [], end = 1;

  function row(lane, number) {
    const name = asIs(el('span', 'sv-track-name')), figures = el('span', 'sv-track-figures'), bar = el('span', 'sv-track');
    const path = lane.at.map((at, i) => 'M' + (i ? lane.at[i - 1] : 0) + ' 6H' + at + 'M' + at + ' 2V10').join('');
    const line = svg('svg', { viewBox: '0 0 ' + end + ' 12', preserveAspectRatio: 'none', 'aria-hidden': 'true' }, svg('path', { d: path }));
    const gone = el('span', 'sv-track-gone'), head = el('span', 'sv-playhead');
    add(name, el('b', '', String(number)), document.createTextNode(' ' + lane.name));
    add(box, name, add(bar, gone, line, head), figures);
    return { lane, figures, gone, head };
  }

  return {
    set(lanes) {
      box.replaceChildren();
      end = Math.max(1, ...lanes.map((lane) => lane.end));
      rows = lanes.map((lane, i) => row(lane, i + 1));
    },
    at(ms, words) {
      for (const { lane, figures, gone, head } of rows) {
        const now = standing(lane, ms);
        gone.style.width = (100 * now.ms) / end + '%';
        head.style.left = (100 * Math.min(ms, end)) / end + '%';
        setText(figures, say('view.lane_figures', { time: seconds(now.ms), tokens: amount('tokens', now.tokens), rate: now.rate ? now.rate.toFixed(1) : '–' }) + words(lane, now));
      }
    },
  };
}

// Like the staves of a score: a column for each output position, a line for each lane, wrapped where the page ends. All
// columns are there from the start, so that nothing moves when a token comes.
export function makeScore(host) {
  const box = el('div', 'sv-score'), gutter = asIs(el('div', 'sv-gutter')), staves = asIs(el('div', 'sv-staves'));
  box.tabIndex = 0;
  box.setAttribute('role', 'region');
  box.setAttribute('aria-label', say('view.race_texts'));
  host.append(add(box, gutter, staves));
  let lanes = [], columns = [], shown = [], edge = [];

  const chip = (lane, at) => columns[at].children[lanes.indexOf(lane)];

  // Names stand beside each line of the score, wherever the lines have fallen.
  function label() {
    gutter.replaceChildren();
    let top = -1;
    for (const column of columns) {
      if (column.offsetTop === top) continue;
      top = column.offsetTop;
      lanes.forEach((lane, i) => {
        const node = add(el('span', 'sv-stave-name'), el('b', '', String(i + 1)), el('span', '', ' ' + lane.name));
        node.style.top = top + column.children[i].offsetTop - column.offsetTop + 'px';
        gutter.append(node);
      });
    }
  }
  new ResizeObserver(label).observe(staves);

  function follow() {
    const far = Math.max(0, ...shown) - 1, column = columns[far];
    if (!column) return void (box.scrollTop = 0);
    if (column.offsetTop + column.offsetHeight > box.scrollTop + box.clientHeight || column.offsetTop < box.scrollTop)
      box.scrollTop = column.offsetTop + column.offsetHeight - box.clientHeight + 8;
  }

  return {
    set(all) {
      lanes = all;
      shown = all.map(() => 0);
      edge = all.map(() => []);
      const words = all.map((lane) => lane.tok.flat()), length = Math.max(0, ...words.map((w) => w.length));
      columns = Array.from({ length }, (_, at) => {
        const column = el('span', 'sv-column');
        for (const word of words) {
          const [text, letter] = word[at] || ['', ''], node = el('span', letter ? 'sv-chip sv-' + letter + ' sv-wait' : 'sv-chip sv-none', text);
          node.dir = 'auto';
          column.append(node);
        }
        return column;
      });
      staves.replaceChildren(...columns);
      label();
      box.scrollTop = 0;
    },
    at(ms) {
      lanes.forEach((lane, i) => {
        const now = standing(lane, ms);
        for (const node of edge[i]) node.classList.remove('sv-edge');
        for (let at = shown[i]; at < now.tokens; at++) chip(lane, at).classList.remove('sv-wait');
        for (let at = now.tokens; at < shown[i]; at++) chip(lane, at).classList.add('sv-wait');
        shown[i] = now.tokens;
        edge[i] = now.steps && !now.done ? lane.tok[now.steps - 1].map((_, j) => chip(lane, now.tokens - 1 - j)) : [];
        for (const node of edge[i]) node.classList.add('sv-edge');
        const position = lane.held?.position;
        // both have come there: now the two can be seen to part
        if (some(position)) for (const one of [lane, lanes[0]]) chip(one, position).classList.toggle('sv-parted', position < now.tokens && position < standing(lanes[0], ms).tokens);
      });
      follow();
    },
  };
}
