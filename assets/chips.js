// Chips and the groups they come in: one group a step (or a part of one, at the border of two chunks), made from the
// store's records and nothing else. Where groups go is the ribbon's business.
// A group knows its step and which tokens its chips are, so that thousands of chips need carry nothing.

import { add, button, el, some, svg } from './dom.js';
import { amount, has, say } from './say.js';
import { countStep, isTree, walkOrder } from './shape.js';
import { clip } from './tree.js';
import { BREAKS, FATE, SHOWN } from './wire.js';
import { forkTip, look, pendingTip, tokenTip } from './words.js';

function chipNode(cls, shown) {
  const chip = el('span', 'sv-chip ' + cls);
  chip.dir = 'auto';
  // a space is a mark, not a letter: lighter than the text
  if (shown.length > 1 && shown[0] === '·') add(chip, el('i', '', '·'), document.createTextNode(shown.slice(1)));
  else chip.textContent = shown;
  return chip;
}

function lineBreaks(parent, count) {
  for (let i = 0; i < Math.min(count || 0, 3); i++) parent.append(el('br'));
}

const tokenChip = (step, token) => chipNode('sv-' + (token[FATE] === 'b' && step.k === 0 ? 't' : token[FATE]), token[SHOWN]);

// The draft in its order, then what the target added. Of a tree the winning branch alone is text; the rest of it hangs
// on one mark.
export function stepGroup(step) {
  const group = el('span', 'sv-step'), tree = isTree(step.tok), order = step.tok.map((_, j) => j);
  group._step = step.i;
  group._order = (tree ? order.filter((j) => step.tok[j][FATE] === 'a') : order).concat(step.ex ? -1 : []);
  for (const j of group._order) {
    const token = j < 0 ? step.ex : step.tok[j];
    if (tree && j < 0) group.append(forkMark(step));
    group.append(tokenChip(step, token));
    // a discarded line break breaks no line
    if (!'ru'.includes(token[FATE])) lineBreaks(group, token[BREAKS]);
  }
  if (tree && !step.ex) group.append(forkMark(step));
  if (step.stop) group.append(el('span', 'sv-stop', '■ ' + stopMark(step.stop)));
  return group;
}

function stopMark(code) {
  const key = 'view.stop_' + code.replace(' ', '_');
  return code === 'eos' ? say('view.end_token') : has(key) ? say(key) : code;
}

const FORK_SHOWS = 3;

// What a tree drafted besides its winning branch: how many of how many, the rejected by name, the untested by number.
function forkMark(step) {
  const mark = el('span', 'sv-fork'), rest = el('span', 'sv-fork-rest'), c = countStep(step);
  const icon = svg('svg', { viewBox: '0 0 10 12', class: 'sv-fork-icon', 'aria-hidden': 'true' }, svg('path', { d: 'M5 12V8M5 8L1.5 4V0M5 8L8.5 4V0' }));
  const rejected = walkOrder(step.tok).filter((j) => step.tok[j][FATE] === 'r');
  for (const j of rejected.slice(0, FORK_SHOWS)) rest.append(el('bdi', 'sv-fork-r', clip(step.tok[j][SHOWN])));
  if (rejected.length > FORK_SHOWS) rest.append(el('span', 'sv-fork-r sv-fork-more', '+' + (rejected.length - FORK_SHOWS)));
  const untested = c.drafted - c.accepted - c.rejected;
  if (untested) rest.append(el('span', 'sv-fork-u', look('u').mark + ' ' + untested));
  mark._tip = () => forkTip(step);
  return add(mark, icon, document.createTextNode(say('view.part_of', { part: c.drafted - c.accepted, whole: c.drafted })), rest);
}

// Fewer tokens beside the typed prompt are not worth a fold.
const FOLDS = 3;

// Tokens of the prompt from `at` on. What the chat template adds is folded into one mark on each side (`sv-template`).
// `open`: whether it is unfolded.
export function promptGroup(head, at, count, open) {
  const group = el('span', 'sv-step sv-prompt'), { prompt, own } = head, [from, to] = own || [0, prompt.length];
  group._prompt = at;
  prompt.slice(at, at + count).forEach(([, shown, breaks], i) => {
    const j = at + i, size = j < from ? from : j >= to ? prompt.length - to : 0, template = size >= FOLDS;
    if (template && (j === 0 || j === to)) group.append(foldMark(size, open));
    const before = group.lastChild;
    group.append(chipNode('sv-p', shown));
    lineBreaks(group, breaks);
    if (template) for (let node = before ? before.nextSibling : group.firstChild; node; node = node.nextSibling) node.classList.add('sv-template');
  });
  return group;
}

function foldMark(size, open) {
  const tokens = amount('tokens', size), mark = button('sv-fold', say('view.template', { tokens }));
  mark.setAttribute('aria-expanded', String(open));
  mark._tip = () => [say('view.template_title'), say('view.template_about', { tokens })];
  return mark;
}

export const chipsOf = (group) => [...group.querySelectorAll('.sv-chip')];

// Moves chip `at` and all after it into a new group that goes on where this one ends.
export function splitGroup(group, at) {
  const rest = group.cloneNode(false), chips = chipsOf(group);
  rest.classList.add('sv-rest');
  Object.assign(rest, { _step: group._step, _order: group._order, _prompt: group._prompt, _skip: (group._skip || 0) + at });
  const mark = chips[at]?.previousSibling;
  // the mark of a tree or a template stays with what follows it
  for (let node = mark?.matches?.('.sv-fork,.sv-fold') ? mark : chips[at]; node;) {
    const next = node.nextSibling;
    rest.append(node);
    node = next;
  }
  return rest;
}

// A group as plain numbers, and back: what a chunk keeps while it is away.
export const pieceOf = (group) => ({ step: group._step, prompt: group._prompt, skip: group._skip || 0, count: chipsOf(group).length });

export function groupOf(piece, store, open) {
  let group = some(piece.step) ? stepGroup(store.steps[piece.step]) : promptGroup(store.head, piece.prompt, piece.skip + piece.count, open);
  if (piece.skip) group = splitGroup(group, piece.skip);
  if (chipsOf(group).length > piece.count) splitGroup(group, piece.count);
  return group;
}

// Which token a chip is, told from its position in its group.
export function chipTip(chip, store) {
  const group = chip.parentNode, at = (group._skip || 0) + chipsOf(group).indexOf(chip);
  if (some(group._prompt)) {
    const [id, shown, , bytes] = store.head?.prompt?.[group._prompt + at] || [];
    return some(id) && [say('view.prompt_tip', { token: shown, id }), bytes && say('view.bytes_tip', { bytes })].filter(Boolean);
  }
  const step = store.steps[group._step], j = group._order[at];
  if (!step) return null; // another run has taken its place and is about to be drawn
  if (chip.closest('.sv-pending')) return pendingTip(step.tok[j]);
  const detail = store.details.get(step.i);
  return tokenTip(j < 0 ? step.ex : step.tok[j], step, detail && (j < 0 ? detail.ex : detail.tok[j]));
}
