// One position of one step: the likeliest tokens there, how much the draft and the target gave each, what they share, and
// after a rejection what is left of the target. Bars are absolute probabilities on one scale.

import { add, asIs, el, fixed, niceCeil, prob, setText, some } from './dom.js';
import { say } from './say.js';
import { childrenOf, depths, parentOf, pathEnd } from './shape.js';
import { lossy } from './store.js';
import { FATE, ID, P, SHOWN } from './wire.js';
import { cold, pointMass } from './words.js';

// Stands for a token in a sentence, and is in none.
const SLOT = '\u0000';

// `reach`: whether the server answers (pulse.js).
export function makePosition(host, reach) {
  const box = el('div', 'sv-position'), title = el('div', 'sv-position-title'), note = el('div', 'sv-muted'), rows = el('div', 'sv-rows');
  rows.setAttribute('role', 'table');
  rows.setAttribute('aria-label', say('view.candidates_at'));
  add(host, add(box, title, note, rows));

  // Node whose continuation token j is; the target's own token follows the last accepted one.
  function nodeOf(step, j) {
    return j >= 0 ? parentOf(step.tok[j]) : pathEnd(step.tok);
  }

  function residualOf(step, position, use) {
    const rejected = step.tok.filter((t) => t[FATE] === 'r' && parentOf(t) === position.node);
    if (!rejected.length || step.T === 0 || !some(position.beta) || lossy(step)) return null;
    const [token] = rejected, siblings = childrenOf(step.tok, position.node).length;
    if (siblings > 1) {
      // chosen siblings: p without those rejected; what drawn ones leave needs whole distributions
      const gone = new Set(rejected.map((t) => t[ID])), rest = 1 - rejected.reduce((sum, t) => sum + t[P], 0);
      return pointMass(step) && rest > 1e-4 ? (c) => (gone.has(c[ID]) ? 0 : (c[use.p] || 0) / rest) : null;
    }
    if (step.ru === 'speculative sampling' && position.beta < 1) {
      return (c) => Math.max(0, (c[use.p] || 0) - (c[use.q] || 0)) / (1 - position.beta);
    }
    if (step.ru === 'token matching' && token[P] < 1) return (c) => (c[ID] === token[ID] ? 0 : (c[use.p] || 0) / (1 - token[P]));
    return null;
  }

  function bar(width, cls) {
    const node = el('span', 'sv-bar ' + cls);
    node.style.width = Math.max(0, Math.min(100, width)) + '%';
    return node;
  }

  function line(cls, cells) {
    const node = el('div', 'sv-row ' + cls);
    node.setAttribute('role', 'row');
    for (const [content, role, c] of cells) {
      const cell = content instanceof Node ? content : el('span', '', content);
      if (/^([qp]|[\d>].*|)$/.test(cell.textContent)) asIs(cell); // a symbol or a figure
      if (c) cell.classList.add(c);
      cell.setAttribute('role', role || 'cell');
      node.append(cell);
    }
    return node;
  }

  function show(step, j, detail) {
    const token = j < 0 ? step.ex : step.tok[j], node = nodeOf(step, j);
    if (!token) return clear();
    const position = detail && detail.positions.find((x) => x.node === node);
    const [before, after] = say(node >= 0 ? 'view.position_after' : 'view.position_first', { n: depthOf(step, node) + 1, token: SLOT }).split(SLOT);
    title.replaceChildren(before);
    if (node >= 0) title.append(asIs(el('bdi', '', step.tok[node][SHOWN])), after);
    if (!position) {
      rows.replaceChildren();
      setText(note, token[FATE] === 'u' ? say(some(token[P]) ? 'view.p_unused' : 'view.never_tested')
        : say(detail ? 'view.no_candidates' : reach.gone ? 'view.candidates_away' : 'view.candidates_later'));
      return;
    }
    const frozen = cold(step), siblings = childrenOf(step.tok, node).length, drafted = siblings > 0;
    const chosen = drafted && pointMass(step), several = siblings > 1;
    // columns of a candidate on the wire: id, shown, q, p, drafter's own, target's own
    // several chosen siblings are a point mass each, so no one q tells of them all: the draft's own probability does
    const use = frozen ? { q: 4, p: 5 } : { q: chosen && several ? 4 : 2, p: 3 };
    const left = residualOf(step, position, use), hasDraft = position.cand.some((c) => some(c[use.q]));
    const words = [];
    if (some(position.beta)) {
      words.push(say(step.ru !== 'speculative sampling' ? 'view.overlap' : several ? 'view.overlap_first' : 'view.overlap_here',
        { beta: fixed(position.beta, 3), n: siblings }));
    } else if (!drafted) words.push(say('view.nothing_drafted'));
    if (frozen) words.push(say('view.cold_bars'));
    else if (chosen) words.push(say(several ? 'view.siblings_point' : 'view.draft_point'));
    if (left) words.push(say(several ? 'view.left_siblings' : step.ru === 'speculative sampling' ? 'view.left_sampling' : 'view.left_token'));
    setText(note, words.join(' · '));
    const values = position.cand.flatMap((c) => [c[use.q] || 0, c[use.p] || 0, left ? left(c) : 0]);
    const scale = Math.min(1, niceCeil(Math.max(0.05, ...values)));
    const tried = new Set(step.tok.filter((t) => parentOf(t) === node).map((t) => t[ID]));
    const out = nodeOf(step, -1) === node && step.ex ? step.ex[ID] : (step.tok.find((t) => t[FATE] === 'a' && parentOf(t) === node) || [])[ID];
    const lines = [line('sv-row-head', [[say('view.row_token'), 'columnheader'], ['0 – ' + scale, 'columnheader', 'sv-scale'],
      hasDraft ? ['q', 'columnheader', 'sv-key-q'] : [''], ['p', 'columnheader', 'sv-key-p'], left ? [say('view.left'), 'columnheader', 'sv-key-left'] : ['']])];
    for (const c of position.cand) {
      const q = c[use.q] || 0, p = c[use.p] || 0, r = left ? left(c) : null, track = el('span', 'sv-track');
      if (hasDraft) add(track, bar((100 * Math.min(p, q)) / scale, 'sv-bar-both'), bar((100 * q) / scale, 'sv-bar-q'));
      add(track, bar((100 * p) / scale, 'sv-bar-p'));
      if (left) track.append(bar((100 * r) / scale, 'sv-bar-left'));
      const name = el('span', 'sv-cand');
      name.append(asIs(el('bdi', '', c[SHOWN])));
      const marks = [tried.has(c[ID]) ? 'drafted' : '', c[ID] === out ? 'emitted' : ''].filter(Boolean);
      for (const m of marks) name.append(el('span', 'sv-tag sv-tag-' + m, say('view.tag_' + m)));
      lines.push(line(left ? 'sv-row-3' : '', [[name, 'rowheader'], [track], [hasDraft ? prob(c[use.q] ?? 0) : ''], [prob(p)], [left ? prob(r) : '']]));
    }
    const rest = (key) => Math.max(0, 1 - position.cand.reduce((s, c) => s + (c[key] || 0), 0));
    lines.push(line('sv-row-tail', [[say('view.all_others'), 'rowheader'], [''], [hasDraft ? prob(use.q === 4 ? rest(4) : position.qt) : ''],
      [prob(frozen ? rest(5) : position.pt)], ['']]));
    rows.replaceChildren(...lines);
  }

  function depthOf(step, node) {
    return node < 0 ? 0 : depths(step.tok)[node];
  }

  function clear() {
    setText(title, '');
    setText(note, '');
    rows.replaceChildren();
  }

  return { show, clear };
}
