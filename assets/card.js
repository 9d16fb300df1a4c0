// The step card: one step under the glass. Draft lane (what was proposed, with q) above verify lane (p, the rule's
// formula filled in, the coin against its threshold, the verdict), then the correction or bonus. A tree is drawn by
// tree.js, and the lanes hold what the walk tested of it. Choosing a token asks position.js for the two distributions
// there. Drawn for the last step on screen only.

import { add, apart, asIs, button, el, prob, setText, some } from './dom.js';
import { makePosition } from './position.js';
import { amount, say } from './say.js';
import { countStep, depths, isTree, parentOf, walkOrder } from './shape.js';
import { makeSides } from './sides.js';
import { changeLabel, lossy } from './store.js';
import { letters, makeTree } from './tree.js';
import { ACCEPT, COIN, FATE, SHOWN } from './wire.js';
import {
  acceptFormula, choiceAt, cold, drawnFrom, fateWord, look, pOf, pendingTip, pointMass, qOf, shortDraft, stepSettings,
  stepTimes, tokenTip,
} from './words.js';

// In widths of the type: names of the rows (card.css), the result, the result on a phone, and the least and most for one
// drafted token; on a phone three closer ones say more than two.
const NAMES = 4.4, RESULT = 8, SHORT = 6, NARROW = 6, CLOSE = 5.25, WIDE = 9;
// Letters of a token that fit into such a column at full size; a longer one is set smaller, and wraps where it must.
const ROOMY = 7;

export function makeCard(host, store, reach, ask, busy) {
  const card = el('section', 'sv-card');
  card.setAttribute('aria-label', say('view.step_card'));
  const title = el('h3', 'sv-card-title'), sub = el('div', 'sv-muted'), scroll = el('div', 'sv-lanes');
  scroll.tabIndex = 0;
  scroll.setAttribute('role', 'region');
  scroll.setAttribute('aria-label', say('view.lanes'));
  // what it drafts with, where that is not the pair's draft model
  sub._tip = () => {
    const own = step && (store.details.get(step.i)?.with || store.head?.pair?.drafted_with?.[step.st]);
    return own ? [step.st, say('view.drafts_with_what', { what: own })] : null;
  };
  const top = add(el('div', 'sv-card-head'), title, sub);
  add(card, top);
  host.append(card);
  const tree = makeTree(card, (j) => choose(j), (j) => tip(j));
  const sides = makeSides(scroll, say('view.noun_tokens'));
  add(card, sides.bar, scroll);
  const position = makePosition(card, reach);
  // cells: what of the lanes belongs to which token, and from which part of a step on it is known
  // telling: what is known while the step is explained; unused: p's that the target computed in vain
  let step = null, chosen = 0, heads = [], cells = [], unused = [], room = null, telling = null;

  function choose(j) {
    chosen = j;
    heads.forEach(([at, node]) => node.setAttribute('aria-pressed', String(at === j)));
    tree.select(j);
    position.show(step, j, store.details.get(step.i));
  }

  function tip(j) {
    if (telling && telling.of(j) !== 'done') return pendingTip(step.tok[j]);
    const detail = store.details.get(step.i);
    return tokenTip(j < 0 ? step.ex : step.tok[j], step, detail && (j < 0 ? detail.ex : detail.tok[j]));
  }

  function head(token, j) {
    const letter = token[FATE], node = button('sv-chip sv-pick sv-' + (letter === 'b' && step.k === 0 ? 't' : letter), token[SHOWN],
      say('view.show_position', { token: token[SHOWN], fate: fateWord(letter, step.k) }), () => choose(j));
    asIs(node).dir = 'auto';
    node.classList.toggle('sv-long', letters(token[SHOWN]) > ROOMY);
    node._tip = () => tip(j);
    heads.push([j, node]);
    return node;
  }

  // Width of a column of drafted tokens: whole columns only, so that none is cut where the box ends. Measured anew when
  // the box or its type changes, not for every step.
  function fit(count) {
    room ||= { wide: scroll.clientWidth, size: parseFloat(getComputedStyle(scroll).fontSize) || 13 };
    const { wide, size } = room, before = NAMES * size, after = (wide < 400 ? SHORT : RESULT) * size, free = wide - before - after;
    const most = Math.max(1, Math.floor(free / ((wide < 400 ? CLOSE : NARROW) * size)));
    const column = Math.min(WIDE * size, free / Math.min(most, count || 1));
    scroll.style.setProperty('--sv-column', column + 'px');
    scroll.style.setProperty('--sv-result', after + 'px');
    const starts = Array.from({ length: count }, (_, i) => before + i * column);
    sides.set(count > most ? { starts, ends: starts.map((x) => x + column), before, after } : null);
  }

  function row(table, name, explain, order, known, contents, last, cls) {
    const tr = el('tr', cls), th = el('th', '', name);
    if (name.length === 1) asIs(th); // q and p are symbols
    th.scope = 'row';
    th.tabIndex = 0;
    th._tip = () => [name, explain];
    tr.append(th);
    contents.forEach((content, i) => {
      const td = add(el('td'), content);
      tr.append(td);
      cells.push([td, order[i], known]);
    });
    if (last) {
      const td = add(el('td', 'sv-extra'), last);
      tr.append(td);
      cells.push([td, -1, known]);
    }
    table.append(tr);
  }

  const text = (s, cls) => el('span', cls || '', s);
  const figure = (s, cls) => asIs(text(s, cls));

  // A formula breaks before its sign and never inside a number: a cut digit would be another number.
  function formula(s) {
    const node = figure('', 'sv-muted');
    s.split(/(?=[÷≥])/).forEach((part, i) => node.append(...(i ? [el('wbr')] : []), part));
    return node;
  }

  function coin(token) {
    if (!some(token[COIN]) || !some(token[ACCEPT]) || !'ar'.includes(token[FATE])) return text('–', 'sv-muted');
    const [c, a] = apart(token[COIN], token[ACCEPT]), kept = token[FATE] === 'a';
    const bar = el('span', 'sv-coin'), fill = el('span', 'sv-coin-fill'), dot = el('span', 'sv-coin-dot' + (kept ? '' : ' sv-out'));
    fill.style.width = 100 * token[ACCEPT] + '%';
    dot.style.left = 100 * token[COIN] + '%';
    bar.setAttribute('aria-hidden', 'true');
    return add(el('span'), add(bar, fill, dot), figure(c + (kept ? ' < ' : ' ≥ ') + a, 'sv-coin-text'));
  }

  // At temperature 0 no random number decides: what the target would write there does.
  function choice(token) {
    const there = 'ar'.includes(token[FATE]) && choiceAt(step, parentOf(token));
    if (!there) return text('–', 'sv-muted');
    return add(el('span', 'sv-two'), asIs(text(there[SHOWN], 'sv-choice')), text(say(token[FATE] === 'a' ? 'view.is_drafted' : 'view.is_not_drafted'), 'sv-muted'));
  }

  // p of a token that was never tested was computed in the same pass.
  function chance(token, j) {
    const value = figure(prob(pOf(token, step)));
    if (token[FATE] !== 'u' || !some(pOf(token, step))) return value;
    const both = add(el('span', 'sv-two sv-unused'), value, text(say('view.unused'), 'sv-unused-words'));
    unused.push([both, j]);
    return both;
  }

  function verdict(token) {
    const l = look(token[FATE]);
    return add(el('span', 'sv-verdict sv-v-' + token[FATE]), text(l.mark + ' '), text(fateWord(token[FATE], step.k)));
  }

  function lanes() {
    const table = el('table'), tok = step.tok, ex = step.ex;
    heads = [];
    cells = [];
    unused = [];
    const frozen = cold(step), point = pointMass(step), depth = depths(tok), forked = isTree(tok);
    const order = forked ? walkOrder(tok) : tok.map((_, j) => j);
    const lane = (name, explain, known, make, last, cls) =>
      row(table, name, explain, order, known, order.map((j) => make(tok[j], j)), last, cls);
    lane(say(forked ? 'view.row_tested' : tok.length ? 'view.row_draft' : 'view.row_token'),
      say(forked ? 'view.row_tested_about' : 'view.row_draft_about'), 'draft',
      (t, j) => (forked ? add(el('span', 'sv-two'), add(el('span'), head(t, j)), text(say('view.position', { n: depth[j] }), 'sv-muted')) : head(t, j)),
    ex && head(ex, -1), 'sv-lane-draft');
    if (tok.length) {
      lane('q', say(frozen ? 'view.q_cold' : point ? 'view.q_point' : 'view.q_drawn'),
      'draft', (t) => figure(prob(qOf(t, step))), ex && text('–', 'sv-muted'), 'sv-lane-q');
    }
    lane('p', say(frozen ? 'view.p_cold' : 'view.p_about'), 'score', chance,
    ex && figure(prob(pOf(ex, step))), 'sv-lane-p');
    if (tok.length && frozen) {
      lane(say('view.row_choice'), say('view.choice_about'), 'verdict', choice, ex && text(drawnFrom(step), 'sv-muted sv-from'));
    } else if (tok.length) {
      lane(say('view.row_accept'), say('view.accept_about', { rule: step.ru }), 'verdict', (t) => {
        return some(t[ACCEPT]) ? add(el('span', 'sv-two'), figure(prob(t[ACCEPT]), 'sv-strong'), formula(acceptFormula(t, step))) : text('–', 'sv-muted');
      }, ex && text(say(ex[FATE] === 's' ? 'view.correction' : 'view.extra'), 'sv-muted'));
      lane(say('view.row_coin'), say('view.coin_about'), 'verdict',
      coin, ex && add(el('span', 'sv-two'), figure(some(ex[COIN]) ? prob(ex[COIN]) : '–'), text(drawnFrom(step), 'sv-muted sv-from')));
    }
    lane(say('view.row_fate'), say('view.fate_about'), 'verdict', verdict, ex && verdict(ex), 'sv-lane-fate');
    scroll.replaceChildren(table);
    fit(order.length);
    tree.draw(step);
  }

  // The first position where something was decided against the draft is the most telling one.
  function first() {
    const rejected = step.tok.findIndex((t) => t[FATE] === 'r');
    if (rejected >= 0) return rejected;
    return step.ex ? -1 : step.tok.length - 1;
  }

  // Scrolls the column of token j into sight. What the target added (-1) stays at the edge and is no column: the first
  // one then, as a row is read.
  const bring = (j) => sides.show(Math.max(0, heads.filter(([at]) => at >= 0).findIndex(([at]) => at === j)));

  function rest() {
    const j = first();
    choose(j);
    bring(j);
  }

  // What is drawn anew takes the focus with it. Called before that; what it returns, called after, gives the focus to the
  // same of the next step: the chosen token or node, or the row of that name.
  function keepFocus() {
    const at = document.activeElement;
    if (!card.contains(at) || !at.matches('.sv-pick, .sv-lanes th, .sv-node')) return () => {};
    return () => {
      const next = at.matches('.sv-node') ? card.querySelector('.sv-node[tabindex="0"]')
        : at.matches('th') && [...scroll.querySelectorAll('th')].find((th) => th.textContent === at.textContent);
      (next || card.querySelector('.sv-pick[aria-pressed=true]') || scroll).focus({ preventScroll: true });
    };
  }

  return {
    update() {
      const next = store.last();
      if (next === step && step) return;
      const give = keepFocus();
      step = next;
      if (!step) {
        setText(title, say(store.head ? 'view.only_prompt' : 'view.step_card'));
        setText(sub, say(!store.head ? 'view.card_empty' : busy() ? 'view.first_coming' : store.recording ? 'view.press_next' : 'view.press_step'));
        scroll.replaceChildren();
        sides.set(null);
        tree.draw(null);
        position.clear();
        give();
        return;
      }
      const before = store.steps[step.i - 1], changed = before && changeLabel(before, step);
      const kept = countStep(step);
      title.replaceChildren(text(say('view.step_title', { n: step.i + 1 })),
        text(' · ' + [step.tok.length ? say('view.kept_of', { part: kept.accepted, whole: step.tok.length }) : step.st === 'none' ? '' : say('view.no_draft'),
          say('view.tokens_out', { tokens: amount('tokens', kept.tokens) })].filter(Boolean).join(', ')));
      for (const badge of [changed, lossy(step) && '⚠ ' + say('view.lossy'), shortDraft(step.ds)]) if (badge) title.append(' ', text(badge, 'sv-badge'));
      setText(sub, stepSettings(step).join(' · ') + ' — ' + stepTimes(step));
      lanes();
      rest();
      give();
      ask(step);
    },
    // Details of the step on the card have come.
    detailed(i) { if (step && step.i === i) choose(chosen); },
    forget() { step = undefined; },
    top,
    // While a step is told (slow.js): shows what is known by now. null: all of it, as ever.
    tell(view) {
      telling = view;
      for (const [node, j] of unused) node.classList.toggle('sv-open', !!view && view.of(j) !== 'done');
      card.classList.toggle('sv-telling', !!view);
      // the lanes of a tree hold tested tokens only, so which those are is told by the verdicts
      const early = view && !isTree(step.tok) ? { draft: true, score: view.scored } : {};
      for (const [td, j, known] of cells) {
        const now = view ? view.of(j) : 'done';
        td.classList.toggle('sv-wait', now === 'wait' || (now === 'pending' && !early[known]));
      }
      for (const [j, node] of heads) node.classList.toggle('sv-pending', !!view && view.of(j) === 'pending');
      tree.tell(view);
      if (view && some(view.at) && view.at !== chosen && view.of(view.at) === 'done') choose(view.at);
      if (view && view.near >= 0) bring(view.near);
      card.classList.toggle('sv-untold', !!view && !view.open);
    },
    settle() { if (step && (step.ex || step.tok.length)) rest(); },
    // The box or its type has another size now.
    resize() {
      room = null;
      if (!step) return;
      fit(heads.filter(([j]) => j >= 0).length);
      tree.draw(step);
      tree.select(chosen);
    },
  };
}
