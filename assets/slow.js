// A step told slowly, from its finished record: tokens drafted one after another, one target pass, verdicts from left to
// right, then the correction or bonus. Tells in ribbon and card at once; changes no record and holds up no run.
// Off unless asked for. Any key or click ends it. With reduced motion nothing moves by itself: its parts are buttons.

import { chipsOf } from './chips.js';
import { add, button, calm, el, hear, prob, quoted, setText, some } from './dom.js';
import { amount, say } from './say.js';
import { depths, isTree, walkOrder } from './shape.js';
import { stepPause } from './transport.js';
import { FATE, SHOWN } from './wire.js';
import { drawnFrom, look, qOf, verdictWords, whyOf } from './words.js';

const PHASES = [0, 1, 2, 3];
// Milliseconds of all drafts, the pass, all verdicts, the result; one token of a short draft takes at most ONE.
const TOLD = [1400, 1000, 1400, 1000], ONE = 600;
// The stages of a step: {phase, words, ms, at: token whose position is looked at, near: token to have in sight}, and from
// which stage on each thing is known.
export function taleOf(step) {
  const tok = step.tok, tree = isTree(tok), depth = depths(tok), tested = walkOrder(tok), stages = [], drawn = [], judged = [];
  const stage = (phase, words, ms, at, near = at) => stages.push({ phase, words, ms, at, near }) - 1;
  const each = (total, count) => Math.min(ONE, total / count);
  if (tree) {
    const positions = Math.max(...depth);
    for (let d = 1; d <= positions; d++) {
      const here = tok.map((_, j) => j).filter((j) => depth[j] === d);
      const at = stage(0, say('view.tale_tree', { n: d, tokens: amount('tokens', here.length) }), each(TOLD[0], positions));
      for (const j of here) drawn[j] = at;
    }
  } else tok.forEach((t, j) => { drawn[j] = stage(0, proposes(t, step), each(TOLD[0], tok.length), undefined, j); });
  const scored = stage(1, say('view.tale_scores', { positions: say('view.positions', { n: tok.length + 1 }) }), TOLD[1], undefined, tested[0]);
  tested.forEach((j, i) => {
    const t = tok[j];
    const left = i === tested.length - 1 ? tok.filter((x) => x[FATE] === 'u').length : 0;
    judged[j] = stage(2, look(t[FATE]).mark + ' ' + quoted(t[SHOWN]) + (verdictWords(t, step) && ': ' + verdictWords(t, step)) +
      (left ? say('view.tale_left', { n: left }) : ''), each(TOLD[2], tested.length), j);
  });
  const rest = stages.length - (tested.length ? 1 : 0);
  const why = whyOf(step.stop);
  const extra = stage(3, step.ex ? result(step) : why ? say('view.tale_ends_why', { why }) : say('view.tale_ends'), TOLD[3], step.ex ? -1 : undefined);
  tok.forEach((t, j) => { if (t[FATE] === 'u') judged[j] = Math.min(rest, extra); });
  return { step, stages, drawn, judged, scored, extra };
}

function proposes(token, step) {
  const q = qOf(token, step);
  return say(some(q) ? 'view.tale_token_q' : 'view.tale_token', { token: quoted(token[SHOWN]), q: some(q) ? prob(q) : '' });
}

function result(step) {
  const token = quoted(step.ex[SHOWN]);
  if (!step.tok.length) return say('view.tale_alone', { token });
  if (step.ex[FATE] === 's') return say('view.tale_correction', { token, how: drawnFrom(step) });
  return say(isTree(step.tok) ? 'view.tale_bonus_tree' : 'view.tale_bonus', { token });
}

// What is known at stage `at`, as ribbon, card and tree ask for it.
export const viewAt = (tale, at) => ({
  of: (j) => (j < 0 ? (at < tale.extra ? 'wait' : 'done') : at < tale.drawn[j] ? 'wait' : at < tale.judged[j] ? 'pending' : 'done'),
  scored: at >= tale.scored,
  at: tale.stages[at].at,
  near: tale.stages[at].near,
  // candidates of a position tell what came out of it: shown once that is known
  open: at >= tale.extra || (some(tale.stages[at].at) && tale.step.tok[tale.stages[at].at][FATE] === 'a'),
});

// Chips of one step in the ribbon. The branches of a tree stay folded in their mark.
function tellGroup(group, tale, view) {
  const skip = group._skip || 0, tree = isTree(tale.step.tok);
  group.classList.toggle('sv-telling', !!view);
  chipsOf(group).forEach((chip, i) => {
    const j = group._order[skip + i], now = view ? view.of(j) : 'done';
    chip.classList.toggle('sv-wait', now === 'wait' || (tree && now === 'pending'));
    chip.classList.toggle('sv-pending', now === 'pending');
  });
  for (const mark of group.querySelectorAll('.sv-fork,.sv-stop')) mark.classList.toggle('sv-wait', !!view && view.of(-1) === 'wait');
}

export function makeSlow(host, store, parts, live, onKnown) {
  const bar = el('div', 'sv-tale'), words = el('span', 'sv-tale-words'), stops = el('span', 'sv-tale-stops');
  bar.setAttribute('role', 'group');
  bar.setAttribute('aria-label', say('view.tale'));
  bar.hidden = true;
  const buttons = PHASES.map((phase) => button('sv-stage', say('view.phase_' + phase), '', () => halt(phase)));
  const skipper = button('', say('view.skip'), say('view.skip_to_end'), () => stop());
  add(host, add(bar, add(stops, ...buttons, skipper), words));
  const offer = button('sv-offer', say('view.tell_slowly'), say('view.tell_slowly_name'), () => begin());
  offer.hidden = true;
  offer._tip = () => [say('view.tell_title'), say('view.tell_about')];
  host.append(offer);
  let tale = null, at = 0, timer = 0, on = false, looked = false, asked = null;

  function begin() {
    const step = store.last();
    if (!step) return;
    end();
    parts.card.update();
    tale = taleOf(step);
    bar.hidden = false;
    host.classList.add('sv-telling');
    for (const name of ['keydown', 'pointerdown']) document.addEventListener(name, skip, true);
    // nothing moves by itself where motion is not wanted
    if (calm()) halt(0);
    else go(0);
  }

  // To a stage, and on from there.
  function go(next) {
    if (!host.isConnected || next >= tale.stages.length) return stop();
    at = next;
    paint();
    timer = setTimeout(go, tale.stages[at].ms, at + 1);
  }

  // To the end of a part, and stay.
  function halt(phase) {
    clearTimeout(timer);
    timer = 0;
    const last = tale.stages.findLastIndex((stage) => stage.phase <= phase);
    at = last < 0 ? 0 : last;
    paint();
  }

  function paint() {
    const view = viewAt(tale, at), { phase, words: say } = tale.stages[at];
    veil(at < tale.extra);
    parts.card.tell(view);
    for (const group of parts.ribbon.groups(tale.step.i)) tellGroup(group, tale, view);
    setText(words, say);
    words.setAttribute('aria-live', timer ? 'off' : 'polite');
    buttons.forEach((node, i) => {
      if (i === phase) node.setAttribute('aria-current', 'step');
      else node.removeAttribute('aria-current');
      node.disabled = !tale.stages.some((stage) => stage.phase === i);
    });
  }

  // Headline and charts stay at the step before until the result of this one is shown.
  function veil(on) {
    if (store.veiled === on) return;
    store.veiled = on;
    onKnown();
  }

  // The replay may also wait for a tale that has not begun: its step is drawn with the next frame.
  function stop() {
    end();
    parts.transport.told();
  }

  function end() {
    clearTimeout(timer);
    timer = 0;
    if (!tale) return;
    veil(false);
    const told = tale, focused = bar.contains(document.activeElement);
    tale = null;
    for (const name of ['keydown', 'pointerdown']) document.removeEventListener(name, skip, true);
    bar.hidden = true;
    setText(words, '');
    host.classList.remove('sv-telling');
    parts.card.tell(null);
    if (store.last() === told.step) parts.card.settle();
    for (const group of parts.ribbon.groups(told.step.i)) tellGroup(group, told, null);
    offerIt();
    // a hidden button must not keep the focus, nor leave it nowhere: there Space would be the page's own key
    if (focused) (offer.hidden ? parts.transport : offer).focus();
  }

  function skip(event) {
    if (!host.isConnected) return stop();
    if (bar.contains(event.target) && event.key !== 'Escape') return;
    if (event.type === 'keydown' && ['Tab', 'Shift', 'Control', 'Alt', 'Meta'].includes(event.key)) return;
    // told by hand it stays until it is closed or another step is looked at
    if (!timer && event.key !== 'Escape') return;
    const typing = event.target.closest?.('input,textarea,select,[contenteditable]');
    stop();
    // as in slides, the first → completes what is being shown
    if (['ArrowRight', 'PageDown'].includes(event.key) && !typing) {
      event.preventDefault();
      event.stopImmediatePropagation();
    }
  }

  // Below full speed somebody wants to follow: offer it where the step is.
  function offerIt() {
    offer.hidden = on || !!tale || !store.last() || !stepPause();
    host.classList.toggle('sv-offering', !offer.hidden);
  }

  function onClick(event) {
    if (event.target.closest?.('#sv-step')) asked = store.n;
    else if (event.target.closest?.('#sv-play,#sv-live')) asked = null;
  }
  hear(host, 'click', onClick, true);

  try { on = localStorage.getItem('specviz.slow') === '1'; } catch { /* private window */ }

  return {
    turn(value) {
      on = value;
      if (on && live.state() !== 'playing') begin();
      else if (!on) stop();
      offerIt();
    },
    get on() { return on; },
    // a step was asked for and has not come yet
    awaits: () => asked !== null,
    look() { looked = true; },
    fresh() {
      end();
      if (asked !== null) asked = 0;
      looked = false;
    },
    // After each drawing: does a tale begin, go on or end?
    drawn() {
      const made = asked !== null && !store.recording && store.n > asked && store.atEnd, seen = looked;
      if (made) asked = null;
      looked = false;
      const passing = store.atEnd && live.state() === 'playing' && !parts.transport.replaying;
      if (on && (made || (seen && !passing))) begin();
      else if (tale && store.last() !== tale.step) end();
      else if (tale && parts.ribbon.groups(tale.step.i).some((group) => !group.classList.contains('sv-telling'))) paint();
      else offerIt();
    },
  };
}
