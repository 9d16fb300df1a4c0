// A drafted tree as a picture: the text at left, depth to the right, one node a token. Size is the draft's own
// probability; colour, mark and line are the fate; the branch that was kept is thick. Choosing a node shows its position.
// One tab stop: arrows go along the branches. Where nodes stand comes from shape.js.

import { add, el, prob, setText, some, svg } from './dom.js';
import { amount, say } from './say.js';
import { childrenOf, depths, isTree, parentOf, pathEnd, treeRows } from './shape.js';
import { makeSides } from './sides.js';
import { DRAFTER, FATE, Q, SHOWN } from './wire.js';
import { fateWord, look } from './words.js';

// Letters of a label, and those that its mark takes: marks may come from a wider font.
const LABEL = 12, MARK = 2.6;

// Width of a text in letters; ideographs are two wide.
export const letters = (text) => [...text].reduce((n, c) => n + (c >= '\u1100' ? 2 : 1), 0);

export function clip(text, room = LABEL) {
  if (letters(text) <= room) return text;
  const kept = [...text];
  while (letters(kept.join('')) > room - 1) kept.pop();
  return kept.join('') + '…';
}

export function makeTree(host, onChoose, tipOf) {
  const box = el('div', 'sv-tree'), scroll = el('div', 'sv-tree-scroll'), note = el('div', 'sv-muted');
  const sides = makeSides(scroll, say('view.noun_positions'));
  add(host, add(box, sides.bar, scroll, note));
  box.hidden = true;
  let step = null, nodes = new Map(), edges = new Map(), rows = new Map(), depth = [];

  const token = (j) => (j < 0 ? step.ex : step.tok[j]);
  const column = (j) => (j < 0 ? (pathEnd(step.tok) < 0 ? 1 : depth[pathEnd(step.tok)] + 1) : depth[j]);
  const row = (j) => rows.get(j < 0 ? 'extra' : j);
  const above = (j) => (j < 0 ? pathEnd(step.tok) : parentOf(step.tok[j]));
  const letterOf = (j) => token(j)[FATE];

  function draw(next) {
    step = next;
    box.hidden = !step || !isTree(step.tok);
    nodes = new Map();
    edges = new Map();
    if (box.hidden) return void scroll.replaceChildren();
    depth = depths(step.tok);
    rows = treeRows(step.tok, !!step.ex);
    const size = parseFloat(getComputedStyle(box).fontSize) || 13, em = 0.605 * size, high = 1.9 * size, dot = 1.1 * size;
    const all = step.tok.map((_, j) => j).concat(step.ex ? [-1] : []);
    // columns as wide as their longest label
    const wide = [], left = [2.2 * size];
    for (const j of all) wide[column(j)] = Math.max(wide[column(j)] || 0, letters(clip(token(j)[SHOWN])) + MARK);
    left[1] = left[0];
    for (let c = 1; c < wide.length; c++) left[c + 1] = left[c] + dot + wide[c] * em + 2.4 * size;
    const y = (j) => (row(j) + 0.5) * high + 2, x = (j) => left[column(j)];
    const width = left[wide.length] - 2.4 * size + 6, height = (Math.max(...rows.values()) + 1) * high + 4;
    const picture = svg('svg', { width, height, viewBox: `0 0 ${width} ${height}`, role: 'tree', 'aria-label': say('view.tree'), translate: 'no' });
    const lines = svg('g', { 'aria-hidden': 'true' });
    lines.append(svg('circle', { cx: 6, cy: high / 2 + 2, r: 4, class: 'sv-root-dot' }));
    picture.append(lines);
    for (const j of all) {
      const from = above(j), end = from < 0 ? 10 : x(from) + dot + (letters(clip(token(from)[SHOWN])) + MARK) * em + 6;
      const fromY = from < 0 ? high / 2 + 2 : y(from), middle = (end + x(j)) / 2;
      const d = `M${end} ${fromY}C${middle} ${fromY} ${middle} ${y(j)} ${x(j)} ${y(j)}`;
      const edge = svg('path', { d, class: 'sv-edge sv-e-' + letterOf(j) });
      // drawn last, the kept branch lies on top
      if (letterOf(j) === 'a') lines.append(edge);
      else lines.prepend(edge);
      edges.set(j, edge);
      const node = nodeOf(j, em, high, dot);
      node.setAttribute('transform', `translate(${x(j)} ${y(j)})`);
      nodes.set(j, node);
      picture.append(node);
    }
    scroll.replaceChildren(picture);
    const columns = wide.map((w, c) => [left[c], left[c] + dot + w * em]).filter((c) => c);
    const starts = columns.map((c) => c[0]), ends = columns.map((c) => c[1]);
    sides.set(width > scroll.clientWidth + 6 ? { starts, ends, before: 0, after: 0 } : null);
    setText(note, say('view.tree_note', { tokens: amount('tokens', step.tok.length), positions: say('view.positions', { n: Math.max(...depth) }) }));
    const last = nodes.get(step.ex ? -1 : pathEnd(step.tok));
    if (last) scroll.scrollTop = Math.max(0, y(step.ex ? -1 : pathEnd(step.tok)) - 5 * high);
  }

  function nodeOf(j, em, high, dot) {
    const t = token(j), letter = letterOf(j), look_ = look(letter), label = clip(t[SHOWN]);
    const own = j < 0 ? null : t[DRAFTER] ?? t[Q], r = some(own) ? dot * (0.16 + 0.34 * Math.sqrt(own)) : dot * 0.3;
    const wide = (letters(label) + MARK) * em, under = high / 2 - 3;
    const node = svg('g', {
      class: 'sv-node sv-n-' + letter, role: 'treeitem', tabindex: '-1', 'aria-level': column(j), 'aria-selected': 'false',
      'aria-label': say('view.node', { token: t[SHOWN], fate: fateWord(letter, step.k), n: column(j) }) + (some(own) ? say('view.node_draft', { q: prob(own) }) : ''),
    });
    const text = svg('text', { x: dot + em * 0.5, y: 0, dy: '0.34em', class: 'sv-node-text' });
    // a direction of its own, or right-to-left text would move the mark
    text.append(svg('tspan', { class: 'sv-node-mark' }, look_.mark + ' '), svg('tspan', { class: 'sv-node-label' }, label));
    node.append(
      svg('rect', { x: -3, y: -high / 2 + 1, width: dot + wide + 8, height: high - 2, rx: 4, class: 'sv-hit' }),
      svg('circle', { cx: dot / 2, cy: 0, r, class: 'sv-dot' }),
      svg('rect', { x: dot + 2, y: -high / 2 + 3, width: wide, height: high - 6, rx: 3, class: 'sv-node-chip' }),
      svg('line', { x1: dot + 2, x2: dot + 2 + wide, y1: under, y2: under, class: 'sv-node-line' }),
      text,
    );
    if (letter === 'r') node.append(svg('line', { x1: dot + MARK * em, x2: dot + wide, y1: 0, y2: 0, class: 'sv-node-strike' }));
    node._tip = () => tipOf(j);
    node.addEventListener('click', () => onChoose(j));
    node.addEventListener('keydown', (event) => onKey(event, j));
    return node;
  }

  function onKey(event, j) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const level = [...nodes.keys()].filter((n) => column(n) === column(j)).sort((a, b) => row(a) - row(b)), at = level.indexOf(j);
    const kept = pathEnd(step.tok), after = j < 0 ? [] : childrenOf(step.tok, j).concat(j === kept && step.ex ? [-1] : []);
    const to = {
      ArrowUp: () => level[at - 1], ArrowDown: () => level[at + 1],
      ArrowLeft: () => (j >= 0 || kept >= 0 ? above(j) : undefined),
      // along the kept branch where there is one
      ArrowRight: () => after.find((n) => n < 0 || letterOf(n) === 'a') ?? after[0],
      Home: () => level[0], End: () => level[level.length - 1], Enter: () => j, ' ': () => j,
    }[event.key];
    if (!to) return;
    // the same keys drive the run everywhere else
    event.preventDefault();
    event.stopPropagation();
    const next = to();
    if (!nodes.has(next) || (next === -1 && event.key === 'ArrowLeft')) return;
    onChoose(next);
    nodes.get(next).focus();
  }

  function select(j) {
    for (const [n, node] of nodes) {
      node.setAttribute('aria-selected', String(n === j));
      node.setAttribute('tabindex', n === j ? '0' : '-1');
    }
  }

  return {
    draw, select,
    // While a step is told: what is not there yet, and what has no fate yet.
    tell(view) {
      for (const [j, node] of nodes) {
        const now = view ? view.of(j) : 'done';
        for (const part of [node, edges.get(j)]) {
          part.classList.toggle('sv-wait', now === 'wait');
          part.classList.toggle('sv-pending', now === 'pending');
        }
      }
      note.classList.toggle('sv-wait', !!view);
    },
  };
}
