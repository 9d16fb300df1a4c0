// Sentences about steps and tokens, in the words of the glossary. No elements, no state.
// Example: verdictWords of a rejected token → "coin 0.72 ≥ 0.39".

import { CONFIG } from './config.js';
import { apart, ms, plural, prob, quoted, some } from './dom.js';
import { countStep, depths, isTree, parentOf, pathEnd, walkOrder } from './shape.js';
import { lossy } from './store.js';
import { ACCEPT, COIN, DRAFTER, FATE, ID, P, Q, SHOWN, VERIFIER } from './wire.js';

export const WHY = {
  eos: 'the target wrote its end token',
  length: 'the token limit was reached',
  'stop string': 'a stop string appeared',
  context: 'the context window is full',
};

export const SHORT_DRAFT = {
  room: 'draft cut short: little room left',
  'end token': 'draft ended with an end token',
  'no match': 'no match found in the text',
  'end of match': 'draft ended where the match did',
  'draft context': 'draft cut short: the draft model reads no longer text',
  'draft failed: its logits are not numbers': 'draft failed: its logits are not numbers',
  'nothing read': 'no draft: the target has not read this text yet',
  confidence: 'draft stopped: the drafter was unsure',
};

export const STATES = {
  empty: 'No run yet', loading: 'Loading', measuring: 'Measuring', playing: 'Running', paused: 'Paused', finished: 'Finished',
  waiting: 'Waiting', error: 'Stopped by an error', refused: 'Not done', unloaded: 'No models', recording: 'Recording', ready: 'Ready', offline: 'Offline',
  replay: 'Replaying',
};

export const LOSSY = 'changes the output';

export const look = (letter) => CONFIG.palette.fates[letter];
export const fateWord = (letter, k) => (letter === 'b' && k === 0 ? CONFIG.palette.target.word : look(letter).word);
const fateSays = (letter, k) => (letter === 'b' && k === 0 ? CONFIG.palette.target.says : look(letter).says);

// What differs in a tree from what the legend says of a chain.
const TREE_SAYS = {
  r: 'Drafted, tested by the target and refused; its next sibling was tried, or the step ended here.',
  u: 'Drafted on a branch the walk did not enter; the target’s opinion was never used.',
  b: 'One more token from the same target pass, because the walk came to the end of a branch.',
};

// A draft that was chosen, not drawn: all the mass on one token.
export const pointMass = (step) => step.T > 0 && step.tok.length > 0 && step.tok.every((t) => t[Q] === 1);

// The rule's formula filled in, as [formula, is it p/q]. Told from the numbers, so that a new rule needs no line here.
export function acceptFormula(token, step) {
  const q = token[Q], p = token[P], a = token[ACCEPT];
  // a rule that changes the output has bounds of its own
  if (!some(a) || lossy(step)) return '';
  if (some(p) && some(q) && q > 0 && q !== 1 && close(a, Math.min(1, p / q))) {
    return p >= q ? 'p ≥ q' : prob(p) + '÷' + prob(q);
  }
  if (some(p) && close(a, p)) return '= p';
  // a later sibling in a tree is held against what its refused siblings left of the target
  const before = step.tok.slice(0, step.tok.indexOf(token));
  if (before.some((t) => t[FATE] === 'r' && parentOf(t) === parentOf(token))) return q === 1 ? 'rest of p' : 'rest ÷ q';
  return '';
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
    return choice ? 'target’s first choice: ' + quoted(choice[SHOWN]) + (kept ? ' → ' : ' ≠ ' + quoted(token[SHOWN]) + ' → ') + fateWord(token[FATE], step.k) : '';
  }
  if (!some(token[COIN]) || !some(token[ACCEPT])) return '';
  const [coin, chance] = apart(token[COIN], token[ACCEPT]);
  return 'coin ' + coin + (kept ? ' < ' : ' ≥ ') + chance;
}

// Where the target's own token comes from.
export function drawnFrom(step) {
  if (cold(step)) return 'the target’s first choice';
  if (step.ex[FATE] === 'b') return 'drawn from p';
  return lossy(step) ? 'drawn by the target' : 'drawn from the residual';
}

const close = (a, b) => Math.abs(a - b) <= 0.002 * Math.max(a, b) + 1e-6;

export function tokenTip(token, step, raw) {
  const letter = token[FATE], k = step.k;
  const lines = [fateWord(letter, k) + ' · ' + token[SHOWN] + ' · id ' + token[ID],
    isTree(step.tok) ? TREE_SAYS[letter] || fateSays(letter, k) : fateSays(letter, k)];
  const q = qOf(token, step), p = pOf(token, step), unused = letter === 'u' ? ' · computed, not used' : '';
  if (some(q)) {
    lines.push('draft q = ' + prob(q) + (q === 1 && !cold(step) ? ' (point mass)' : '') +
      (!cold(step) && some(token[DRAFTER]) && token[DRAFTER] !== q ? ' · drafter’s own ' + prob(token[DRAFTER]) : ''));
  }
  if (some(p)) {
    lines.push('target p = ' + prob(p) +
      (!cold(step) && some(token[VERIFIER]) && token[VERIFIER] !== p ? ' · target’s own ' + prob(token[VERIFIER]) : '') + unused);
  }
  if ('ar'.includes(letter)) {
    const how = verdictWords(token, step);
    if (how) lines.push(how + (cold(step) ? '' : ' chance to be accepted'));
  } else if (token === step.ex && (cold(step) || some(token[COIN]))) {
    lines.push(drawnFrom(step) + (cold(step) ? '' : ' by the random number ' + prob(token[COIN]) + ', which is compared with nothing'));
  }
  if (raw) lines.push('text ' + JSON.stringify(raw.length > 300 ? raw.slice(0, 300) + '…' : raw));
  lines.push('step ' + (step.i + 1));
  return lines;
}

// While a step is explained, before this token's verdict is.
export const pendingTip = (token) => (token ? ['drafted · ' + token[SHOWN] + ' · id ' + token[ID]] : []);

// What else a tree held, place by place along the walk.
export function forkTip(step) {
  const c = countStep(step), tok = step.tok, depth = depths(tok), places = [];
  for (const j of walkOrder(tok)) (places[depth[j] - 1] ||= []).push(look(tok[j][FATE]).mark + ' ' + tok[j][SHOWN]);
  const lines = [c.drafted - c.accepted + ' of ' + c.drafted + ' drafted tokens not taken: the draft was a tree'];
  places.slice(0, 8).forEach((words, i) => lines.push('place ' + (i + 1) + ': ' + words.join('  ')));
  if (places.length > 8) lines.push('… ' + plural(places.length - 8, 'more place'));
  const untested = c.drafted - c.accepted - c.rejected;
  if (untested) lines.push(plural(untested, 'token') + ' untested: on branches the walk did not enter');
  return lines.concat('step ' + (step.i + 1) + '; the step card draws the tree');
}

/** @param {import('./wire.js').Step} step */
export function stepSettings(step) {
  const parts = step.st === 'none' ? ['no draft']
    : ['K = ' + step.k + (some(step.ks) ? ' of ' + step.ks : '') + (step.dl ? ' (' + step.dl + ')' : ''), step.st];
  if (step.k > 0 && step.st !== 'none') parts.push(step.ru);
  parts.push('temperature ' + step.T);
  if (step.tk > 0) parts.push('top-k ' + step.tk);
  if (step.tp < 1) parts.push('top-p ' + step.tp);
  if (step.rp !== 1) parts.push('repetition penalty ' + step.rp);
  return parts;
}

/** @param {import('./wire.js').Step} step */
export function stepTimes(step) {
  const parts = [step.tok.length ? 'draft ' + ms(step.d) : '', 'verify ' + ms(step.v)].filter(Boolean);
  if (step.o >= 0.05 * (step.d + step.v)) parts.push('other ' + ms(step.o));
  if (step.c >= 1) parts.push('+ ' + ms(step.c) + ' reading the text first');
  return parts.join(', ');
}

// Which models, and the seed of the run made with them, in parts that a line may break between.
export function pairParts(pair, seed) {
  if (!pair) return [];
  const name = (x) => (x && typeof x === 'object' ? x.name || x.id || '' : x || '');
  const where = ['dtype', 'device'].flatMap((key) => (typeof pair[key] === 'string' ? [pair[key].replace('torch.', '')] : []));
  return [name(pair.target), name(pair.draft) && '← ' + name(pair.draft), where.length && '· ' + where.join(' · '), seed && '· seed ' + seed].filter(Boolean);
}

// What the line of models leaves out: notes, and what strategies draft with that have a draft of their own.
export function pairTip(pair, seed) {
  const own = Object.entries(pair?.drafted_with || {}).map(([strategy, what]) => strategy + ' drafts with ' + what);
  return pair ? [pairParts(pair, seed).join(' '), ...(pair.notes || []), ...own].filter(Boolean) : [];
}

// Whole sentences one after the other, as a voice needs them.
export function sentences(...texts) {
  return texts.filter(Boolean).map((t) => t[0].toUpperCase() + t.slice(1) + (/[.!?…]$/.test(t) ? '' : '.')).join(' ');
}
