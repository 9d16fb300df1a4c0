// Chips and the groups they come in: one group a step (or a part of one, at the border of two chunks), made from the
// store's records and nothing else. Where groups go is the ribbon's business.
// A group knows its step and which tokens its chips are, so that thousands of chips need carry nothing.

const ORDER = { a: 0, r: 1, u: 2 };

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

// Accepted, then refused, then untested drafts, then what the target added.
function stepGroup(step) {
  const group = el('span', 'sv-step'), order = step.tok.map((token, j) => [token, j]);
  group._step = step.i;
  if (step.tok.some((t, j) => j && ORDER[t[FATE]] < ORDER[step.tok[j - 1][FATE]])) {
    order.sort((a, b) => ORDER[a[0][FATE]] - ORDER[b[0][FATE]] || a[1] - b[1]);
  }
  group._order = order.map(([, j]) => j).concat(step.ex ? -1 : []);
  for (const [token] of order) {
    group.append(tokenChip(step, token));
    // a discarded line break breaks no line
    if (token[FATE] === 'a') lineBreaks(group, token[BREAKS]);
  }
  if (step.ex) {
    group.append(tokenChip(step, step.ex));
    lineBreaks(group, step.ex[BREAKS]);
  }
  if (step.stop) group.append(el('span', 'sv-stop', '■ ' + (step.stop === 'eos' ? 'end token' : step.stop)));
  return group;
}

function promptGroup(prompt, at, count) {
  const group = el('span', 'sv-step sv-prompt');
  group._prompt = at;
  for (const [, shown, breaks] of prompt.slice(at, at + count)) {
    group.append(chipNode('sv-p', shown));
    lineBreaks(group, breaks);
  }
  return group;
}

const chipsOf = (group) => [...group.querySelectorAll('.sv-chip')];

// Moves chip `at` and all after it into a new group that goes on where this one ends.
function splitGroup(group, at) {
  const rest = group.cloneNode(false), chips = chipsOf(group);
  rest.classList.add('sv-rest');
  Object.assign(rest, { _step: group._step, _order: group._order, _prompt: group._prompt, _skip: (group._skip || 0) + at });
  for (let node = chips[at]; node;) {
    const next = node.nextSibling;
    rest.append(node);
    node = next;
  }
  return rest;
}

// A group as plain numbers, and back: what a chunk keeps while it is away.
const pieceOf = (group) => ({ step: group._step, prompt: group._prompt, skip: group._skip || 0, count: chipsOf(group).length });

function groupOf(piece, store) {
  let group = some(piece.step) ? stepGroup(store.steps[piece.step]) : promptGroup(store.head.prompt, piece.prompt, piece.skip + piece.count);
  if (piece.skip) group = splitGroup(group, piece.skip);
  if (chipsOf(group).length > piece.count) splitGroup(group, piece.count);
  return group;
}

// Which token a chip is, told from its place in its group.
function chipTip(chip, store) {
  const group = chip.parentNode, at = (group._skip || 0) + chipsOf(group).indexOf(chip);
  if (some(group._prompt)) {
    const [id, shown] = store.head.prompt[group._prompt + at];
    return ['prompt · ' + shown + ' · id ' + id];
  }
  const step = store.steps[group._step], j = group._order[at], detail = store.details.get(step.i);
  return tokenTip(j < 0 ? step.ex : step.tok[j], step, detail && (j < 0 ? detail.ex : detail.tok[j]));
}
