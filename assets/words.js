// Sentences about steps and tokens, in the words of the glossary. No elements, no state.
// Example: verdictWords of a rejected token → "coin 0.72 ≥ 0.39".

import { CONFIG } from './config.js';
import { apart, ms, prob, quoted, some } from './dom.js';
import { amount, has, say } from './say.js';
import { countStep, depths, isTree, parentOf, pathEnd, walkOrder } from './shape.js';
import { lossy } from './store.js';
import { ACCEPT, COIN, DRAFTER, FATE, ID, P, Q, SHOWN, VERIFIER } from './wire.js';

const WHY = { eos: 'why_eos', length: 'why_length', 'stop string': 'why_stop_string', context: 'why_context' };
const SHORT_DRAFT = {
  room: 'short_room', 'end token': 'short_end_token', 'no match': 'short_no_match', 'end of match': 'short_end_of_match',
  'draft context': 'short_draft_context', 'draft failed: its logits are not numbers': 'short_failed',
  'nothing read': 'short_nothing_read', confidence: 'short_confidence',
};
const known = (table) => (code) => (table[code] ? say('view.' + table[code]) : '');

// Why a run stopped, and why a draft is shorter than its K; nothing for a code that says nothing.
export const whyOf = known(WHY), shortDraft = known(SHORT_DRAFT);
export const stateWord = (state) => (has('view.state_' + state) ? say('view.state_' + state) : state);

export const look = (letter) => CONFIG.palette.fates[letter];
export const fateWord = (letter, k) => (letter === 'b' && k === 0 ? CONFIG.palette.target.word : look(letter).word);
const fateSays = (letter, k) => (letter === 'b' && k === 0 ? CONFIG.palette.target.says : look(letter).says);

// What differs in a tree from what the legend says of a chain.
const treeSays = (letter, k) => ('rub'.includes(letter) ? say('view.tree_' + letter) : fateSays(letter, k));

// A draft that was chosen, not drawn: all the mass on one token.
export const pointMass = (step) => step.T > 0 && step.tok.length > 0 && step.tok.every((t) => t[Q] === 1);

// The rule's formula filled in, as [formula, is it p/q]. Told from the numbers, so that a new rule needs no line here.
export function acceptFormula(token, step) {
  const q = token[Q], p = token[P], a = token[ACCEPT];
  // a rule that changes the output has bounds of its own
  if (!some(a) || lossy(step)) return '';
  if (some(p) && some(q) && q > 0 && q !== 1 && close(a, Math.min(1, p / q))) {
    return p >= q ? 'p ≥ q' : quotient(p, q, a);
  }
  if (some(p) && close(a, p)) return '= p';
  // a later sibling in a tree is held against what its rejected siblings left of the target
  const before = step.tok.slice(0, step.tok.indexOf(token));
  if (before.some((t) => t[FATE] === 'r' && parentOf(t) === parentOf(token))) return say(q === 1 ? 'view.rest_p' : 'view.rest_q');
  return '';
}

// As many digits as the shown result needs: 0.94÷0.94 is not 0.99.
function quotient(p, q, result) {
  const said = (d) => (Number(p.toFixed(d)) / Number(q.toFixed(d))).toFixed(2);
  const digits = p < 0.01 ? undefined : [2, 3, 4].find((d) => said(d) === result.toFixed(2));
  return digits && digits > 2 ? p.toFixed(digits) + '÷' + q.toFixed(digits) : prob(p) + '÷' + prob(q);
}

// At temperature 0 nothing is drawn: each model has one choice, and the chances worth showing are those before that.
export const cold = (step) => step.T === 0;
export const qOf = (token, step) => token[cold(step) ? DRAFTER : Q];
export const pOf = (token, step) => token[cold(step) ? VERIFIER : P];

// What the target writes after node `node`; null where the walk did not come there, or the run ended first.
export const choiceAt = (step, node) => step.tok.find((t) => t[FATE] === 'a' && parentOf(t) === node) || (pathEnd(step.tok) === node ? step.ex : null);

// How a tested token was decided.
export function verdictWords(token, step) {
  const kept = token[FATE] === 'a';
  if (cold(step)) {
    const choice = choiceAt(step, parentOf(token));
    return choice ? say(kept ? 'view.first_choice_kept' : 'view.first_choice_not',
      { choice: quoted(choice[SHOWN]), token: quoted(token[SHOWN]), fate: fateWord(token[FATE], step.k) }) : '';
  }
  if (!some(token[COIN]) || !some(token[ACCEPT])) return '';
  const [coin, chance] = apart(token[COIN], token[ACCEPT]);
  return say('view.coin_words', { comparison: coin + (kept ? ' < ' : ' ≥ ') + chance });
}

// Where the target's own token comes from.
export function drawnFrom(step) {
  if (cold(step)) return say('view.from_choice');
  if (step.ex[FATE] === 'b') return say('view.from_p');
  return say(lossy(step) ? 'view.from_target' : 'view.from_residual');
}

const close = (a, b) => Math.abs(a - b) <= 0.002 * Math.max(a, b) + 1e-6;

export function tokenTip(token, step, raw) {
  const letter = token[FATE], k = step.k;
  const lines = [fateWord(letter, k) + ' · ' + token[SHOWN] + ' · id ' + token[ID],
    isTree(step.tok) ? treeSays(letter, k) : fateSays(letter, k)];
  const q = qOf(token, step), p = pOf(token, step), unused = letter === 'u' ? ' · ' + say('view.unused') : '';
  if (some(q)) {
    lines.push(say('view.tip_q', { q: prob(q) }) + (q === 1 && !cold(step) ? ' ' + say('view.point_mass') : '') +
      (!cold(step) && some(token[DRAFTER]) && token[DRAFTER] !== q ? ' · ' + say('view.tip_own_q', { q: prob(token[DRAFTER]) }) : ''));
  }
  if (some(p)) {
    lines.push(say('view.tip_p', { p: prob(p) }) +
      (!cold(step) && some(token[VERIFIER]) && token[VERIFIER] !== p ? ' · ' + say('view.tip_own_p', { p: prob(token[VERIFIER]) }) : '') + unused);
  }
  if ('ar'.includes(letter)) {
    const how = verdictWords(token, step);
    if (how) lines.push(cold(step) ? how : say('view.accept_chance', { comparison: how }));
  } else if (token === step.ex && (cold(step) || some(token[COIN]))) {
    lines.push(cold(step) ? drawnFrom(step) : say('view.tip_drawn', { how: drawnFrom(step), u: prob(token[COIN]) }));
  }
  if (raw) lines.push(say('view.tip_text', { text: JSON.stringify(raw.length > 300 ? raw.slice(0, 300) + '…' : raw) }));
  lines.push(say('view.step', { n: step.i + 1 }));
  return lines;
}

// While a step is explained, before this token's verdict is.
export const pendingTip = (token) => (token ? [say('view.pending', { token: token[SHOWN], id: token[ID] })] : []);

// What else a tree held, position by position along the walk.
export function forkTip(step) {
  const c = countStep(step), tok = step.tok, depth = depths(tok), positions = [];
  for (const j of walkOrder(tok)) (positions[depth[j] - 1] ||= []).push(look(tok[j][FATE]).mark + ' ' + tok[j][SHOWN]);
  const lines = [say('view.fork_not_taken', { part: c.drafted - c.accepted, whole: c.drafted })];
  positions.slice(0, 8).forEach((words, i) => lines.push(say('view.fork_position', { n: i + 1, words: words.join('  ') })));
  if (positions.length > 8) lines.push('… ' + say('view.more_positions', { n: positions.length - 8 }));
  const untested = c.drafted - c.accepted - c.rejected;
  if (untested) lines.push(say('view.fork_untested', { tokens: amount('tokens', untested) }));
  return lines.concat(say('view.fork_step', { n: step.i + 1 }));
}

/** @param {import('./wire.js').Step} step */
export function stepSettings(step) {
  const parts = step.st === 'none' ? [say('view.no_draft')]
    : [(some(step.ks) ? say('view.k_of', { k: step.k, most: step.ks }) : 'K = ' + step.k) + (step.dl ? ' (' + step.dl + ')' : ''), step.st];
  if (step.k > 0 && step.st !== 'none') parts.push(step.ru);
  parts.push(say('view.temperature', { value: step.T }));
  if (step.tk > 0) parts.push('top-k ' + step.tk);
  if (step.tp < 1) parts.push('top-p ' + step.tp);
  if (step.rp !== 1) parts.push(say('view.repetition_penalty', { value: step.rp }));
  return parts;
}

/** @param {import('./wire.js').Step} step */
export function stepTimes(step) {
  const parts = [step.tok.length ? say('view.time_draft', { time: ms(step.d) }) : '', say('view.time_verify', { time: ms(step.v) })].filter(Boolean);
  if (step.o >= 0.05 * (step.d + step.v)) parts.push(say('view.time_other', { time: ms(step.o) }));
  if (step.c >= 1) parts.push(say('view.time_catch_up', { time: ms(step.c) }));
  return parts.join(', ');
}

// Which models, and the seed of the run made with them, in parts that a line may break between.
export function pairParts(pair, seed) {
  if (!pair) return [];
  const name = (x) => (x && typeof x === 'object' ? x.name || x.id || '' : x || '');
  const where = ['dtype', 'device'].flatMap((key) => (typeof pair[key] === 'string' ? [pair[key].replace('torch.', '')] : []));
  return [name(pair.target), name(pair.draft) && '← ' + name(pair.draft), where.length && '· ' + where.join(' · '), seed && say('view.seed', { seed })].filter(Boolean);
}

// What the line of models leaves out: notes, and what strategies draft with that have a draft of their own.
export function pairTip(pair, seed) {
  const own = Object.entries(pair?.drafted_with || {}).map(([strategy, what]) => say('view.drafts_with', { strategy, what }));
  return pair ? [pairParts(pair, seed).join(' '), ...(pair.notes || []), ...own].filter(Boolean) : [];
}

// Whole sentences one after the other, as a voice needs them.
export function sentences(...texts) {
  return texts.filter(Boolean).map((t) => t[0].toUpperCase() + t.slice(1) + (/[.!?…]$/.test(t) ? '' : '.')).join(' ');
}
