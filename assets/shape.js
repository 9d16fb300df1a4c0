// The shape of a draft: a chain, or a tree whose tokens name their parents. Counts by position, the order in which the
// walk looked, and where to draw. Pure functions of a step's tokens; no elements, no state.
// Example: parents −1, −1, 0 are two siblings and a child of the first.

import { FATE, PARENT } from './wire.js';

export const parentOf = (token) => token[PARENT] ?? -1;

// A chain is a tree with one child at each node; only what branches is drawn as a tree.
export const isTree = (tok) => tok.some((token, j) => parentOf(token) !== j - 1);

export function depths(tok) {
  const depth = [];
  for (const token of tok) depth.push(parentOf(token) >= 0 ? depth[parentOf(token)] + 1 : 1);
  return depth;
}

export const childrenOf = (tok, node) => tok.flatMap((token, j) => (parentOf(token) === node ? [j] : []));

// Last token of the winning branch, -1 where nothing was kept.
export function pathEnd(tok) {
  let end = -1;
  tok.forEach((token, j) => { if (token[FATE] === 'a' && parentOf(token) === end) end = j; });
  return end;
}

// Tested tokens in the order the walk looked at them: siblings one after the other, then into the one that was kept.
export function walkOrder(tok) {
  const order = [];
  for (let node = -1, next; ; node = next) {
    next = null;
    for (const j of childrenOf(tok, node)) {
      if (!'ar'.includes(tok[j][FATE])) continue;
      order.push(j);
      if (tok[j][FATE] === 'a') next = j;
    }
    if (next === null) return order;
  }
}

// Acceptance by position: j positions accepted, and one more tested where the walk ended in a rejection. In a tree several
// siblings may be rejected at one position, and a position counts once; specviz/metrics/rates.py is the reference.
/** @param {import('./wire.js').Step} step */
export function countStep(step) {
  let accepted = 0, rejected = 0;
  for (const token of step.tok) {
    if (token[FATE] === 'a') accepted++;
    else if (token[FATE] === 'r') rejected++;
  }
  const end = rejected ? pathEnd(step.tok) : -1;
  const rejectedHere = rejected && step.tok.some((token) => token[FATE] === 'r' && parentOf(token) === end) ? 1 : 0;
  return {
    accepted, rejected, drafted: step.tok.length, tested: accepted + rejectedHere,
    tokens: accepted + (step.ex ? 1 : 0),
  };
}

// A row for each node: the first child beside its parent, the next below whatever stands in its columns already.
// Branches never cross. `extra`: the target's own token is one more node, after the end of the winning branch.
export function treeRows(tok, extra) {
  const end = pathEnd(tok), rows = new Map();
  // returns how deep each column reaches below `node`: {depth: lowest row}
  function layOut(node, row) {
    rows.set(node, row);
    const low = new Map(), children = node === 'extra' ? [] : childrenOf(tok, node);
    if (extra && node === end) children.push('extra');
    children.forEach((child, i) => {
      const below = layOut(child, 0);
      let at = 0;
      if (i) for (const column of below.keys()) at = Math.max(at, (low.get(column) ?? -1) + 1);
      shift(child, at);
      for (const [column, deep] of below) low.set(column, Math.max(low.get(column) ?? 0, deep + at));
    });
    const found = new Map([[0, 0]]);
    for (const [column, deep] of low) found.set(column + 1, deep);
    // columns are counted from the node itself, and rows from its own
    return found;
  }
  function shift(node, by) {
    if (!by) return;
    rows.set(node, rows.get(node) + by);
    if (node === 'extra') return;
    for (const child of childrenOf(tok, node)) shift(child, by);
    if (extra && node === end) shift('extra', by);
  }
  layOut(-1, 0);
  return rows;
}
