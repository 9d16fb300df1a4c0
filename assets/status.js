// The line on top (state, why it stopped, progress, which models), the legend with the view's own switches, and the
// polite voice for screen readers. Says things; changes nothing but two switches on the root.

import { CONFIG } from './config.js';
import { add, asIs, button, el, setText, some } from './dom.js';
import { BUSY } from './live.js';
import { amount, say } from './say.js';
import { lossy } from './store.js';
import { pairParts, pairTip, sentences, stateWord, whyOf } from './words.js';

// Milliseconds after which a wait between two steps is told.
const WAIT_SHOWN = 1500;

// With a busy neighbour a run waits for a moment at every step: it goes on running on screen unless the wait lasts.
// What to show of `f` at the time `now`, and for how many milliseconds more a wait is not told.
export function makePatience() {
  let running = null, since = 0;
  return (f, now) => {
    if (f.state !== 'waiting') {
      running = f.state === 'playing' ? f : null;
      since = 0;
      return [f, 0];
    }
    since ||= now;
    const left = since + WAIT_SHOWN - now;
    return running && left > 0 ? [running, left] : [f, 0];
  };
}

// `transport` gives the transport, made later; `reach` says whether the server answers (pulse.js); `trigger` is Gradio's.
export function makeStatus(host, { root, store, live, transport, reach, trigger }) {
  const line = el('div', 'sv-status'), pill = el('span', 'sv-pill'), words = el('span', 'sv-say'), pair = asIs(el('span', 'sv-pair'));
  const track = el('div', 'sv-progress'), fill = el('div', 'sv-progress-fill'), voice = el('div', 'sv-sr');
  voice.setAttribute('aria-live', 'polite');
  voice.setAttribute('aria-atomic', 'true');
  const back = button('sv-back', say('view.go_back'), '', () => trigger('back', {}));
  back.hidden = true;
  track.setAttribute('role', 'progressbar');
  track.setAttribute('aria-label', say('view.progress'));
  track.hidden = true;
  // a rule that changes the output is told beside the state, whatever the state is
  const badge = el('span', 'sv-badge sv-lossy', '⚠ ' + say('view.lossy'));
  badge.tabIndex = 0;
  badge.setAttribute('role', 'note');
  badge.hidden = true;
  badge._tip = () => {
    const f = store.figures(), rules = [...new Set(store.steps.slice(0, store.known).filter(lossy).map((s) => s.ru))];
    return [say('view.not_lossless'),
      say('view.lossy_steps', { rules: rules.join(say('view.and')), part: f.lossy, steps: say('view.in_steps', { n: f.steps }) }),
      say('view.lossy_cold')];
  };
  add(host, add(line, pill, badge, words, back, pair), add(track, fill), voice);
  const shownPair = () => (store.head?.pair && Object.keys(store.head.pair).length ? store.head.pair : models?.pair);
  const shownSeed = () => (store.head && shownPair() === store.head.pair ? store.head.seed : '');
  for (const node of [pill, pair]) node._tip = () => pairTip(shownPair(), shownSeed());
  pair.tabIndex = 0;
  pair.setAttribute('role', 'note');
  let models = null, spoken = 0, spokenState = '', heard = 0, timer = 0, waitTimer = 0, againTimer = 0;
  const patient = makePatience();

  // What stands beside figures of a recording says so, whatever it is about.
  function facts() {
    const f = noted();
    return store.recording && !['recording', 'replay'].includes(f.state) && !f.whose ? { ...f, say: sentences(f.say, say('view.on_screen', { what: live.facts().named })) } : f;
  }

  function noted() {
    const f = settledOf(plain()), { note, wrong, hint } = live.facts();
    if (note && wrong && ![...BUSY, 'offline', 'not_done'].includes(f.state)) return { ...f, state: 'not_done', say: note, back: '' };
    if (note) return { ...f, say: note };
    const hinted = hint && ['playing', 'waiting', 'paused', 'finished'].includes(f.state);
    // of a finished run why it ended is enough beside it
    return hinted ? { ...f, say: sentences((f.state === 'finished' && whyOf(f.why)) || f.say, hint) } : f;
  }

  function settledOf(f) {
    const [shown, left] = patient(f, performance.now());
    if (left) waitTimer ||= setTimeout(() => { waitTimer = 0; api.update(); }, left);
    return shown;
  }

  function plain() {
    const f = live.facts(), loading = models && models.state === 'loading';
    if (transport().replaying && store.recording) return { state: 'replay', say: say('view.playing', { what: f.named }) };
    if (transport().replaying && !transport().lags) return { state: 'replay', say: say('view.showing') };
    if (transport().lags) return { ...f, state: f.state === 'finished' ? 'replay' : f.state, say: sentences(f.say, say('view.explained_here')) };
    const ended = f.state === 'finished' ? whyOf(f.why) : '';
    if (reach.say) return { ...(reach.gone ? { state: 'offline' } : f), say: sentences(ended, reach.say) };
    // why it stopped comes first, whatever else there is to say
    if (f.state === 'finished') return { ...f, say: ended && f.say ? sentences(ended, f.say) : ended || f.say };
    if (['playing', 'paused', 'waiting', 'error', 'not_done', 'loading', 'measuring'].includes(f.state)) return f;
    if (models && models.state === 'error') return { state: 'unloaded', say: models.say || '' };
    if (loading) {
      const note = f.state === 'recording' ? ' ' + say('view.meanwhile', { what: f.named }) : f.state === 'empty' && f.say ? ' — ' + f.say : '';
      return { state: 'loading', say: (models.say || say('view.getting_ready')) + note, progress: models.progress, whose: !!note };
    }
    // no network and nothing fetched before: what runs instead is said before anybody presses Play
    const instead = (models?.state === 'ready' && models.pair?.instead) || '';
    if (f.state === 'empty') return { state: 'empty', say: sentences(f.say || say('view.press_play'), instead) };
    return f.state === 'recording' && instead ? { ...f, say: sentences(f.say, instead) } : f;
  }

  function speak() {
    timer = 0;
    spoken = performance.now();
    const f = store.figures(), now = facts();
    const again = heard !== live.facts().told;
    spokenState = now.state;
    heard = live.facts().told;
    const count = store.known ? say('view.spoken', { step: store.known, tokens: amount('tokens', f.tokens) }) +
      (f.tested ? say(f.trees ? 'view.spoken_positions' : 'view.spoken_tested', { part: f.accepted, whole: f.tested }) : '') : '';
    const text = sentences(stateWord(now.state), now.say, count, f.lossy ? say('view.the_rule_lossy') : '');
    // the same words once more are news to a reader only after there were none
    clearTimeout(againTimer);
    if (again && voice.textContent === text) {
      setText(voice, '');
      againTimer = setTimeout(setText, 150, voice, text);
    } else setText(voice, text);
  }

  const api = {
    models(reply) {
      if (reply) models = reply;
      api.update();
    },
    update() {
      const f = facts();
      badge.hidden = !store.figures().lossy;
      if (pill.dataset.state !== f.state) pill.dataset.state = f.state;
      setText(pill, stateWord(f.state));
      setText(words, f.say || '');
      // a long sentence has the line for itself
      line.classList.toggle('sv-long', (f.say || '').length > 110);
      const names = pairParts(shownPair(), shownSeed());
      if (pair.textContent !== names.join(' ')) pair.replaceChildren(...names.flatMap((part) => [el('span', '', part), ' ']).slice(0, -1));
      const held = document.activeElement === back;
      back.hidden = !(f.back && ['not_done', 'error'].includes(f.state));
      if (!back.hidden) setText(back, say('view.go_back_to', { name: f.back }));
      else if (held) document.getElementById('sv-play')?.focus(); // what is hidden would leave the focus nowhere
      track.hidden = f.state !== 'loading' && f.state !== 'measuring';
      if (!track.hidden) {
        const known = some(f.progress);
        track.classList.toggle('sv-unknown', !known);
        fill.style.width = known ? 100 * f.progress + '%' : '';
        if (known) track.setAttribute('aria-valuenow', String(Math.round(100 * f.progress)));
        else track.removeAttribute('aria-valuenow');
      }
      root.classList.toggle('sv-has-error', ['error', 'not_done', 'unloaded', 'offline'].includes(f.state));
      // another state and what is said on purpose at once; steps at most every five seconds, or a reader would speak of
      // nothing else
      const news = f.state !== spokenState || live.facts().told !== heard;
      if (news) clearTimeout(timer);
      if (news || !timer) timer = setTimeout(speak, news ? 50 : Math.max(50, spoken + 5000 - performance.now()));
    },
  };
  return api;
}

// `parts` of the view: the switches act on some of them.
export function makeLegend(host, root, parts, onResize) {
  const row = el('div', 'sv-tools'), list = el('ul', 'sv-legend');
  list.setAttribute('aria-label', say('view.legend'));
  for (const [letter, l] of Object.entries(CONFIG.palette.fates)) {
    const item = el('li'), chip = asIs(el('span', 'sv-chip sv-' + letter, l.word));
    chip.tabIndex = 0;
    chip._tip = () => [l.mark + ' ' + l.word, l.says];
    add(item, el('span', 'sv-mark', l.mark), chip);
    item.firstChild.setAttribute('aria-hidden', 'true');
    list.append(item);
  }
  const toggle = (text, key, on, change, resizes = true) => {
    const node = button('sv-toggle', text, text, () => set(node.getAttribute('aria-pressed') !== 'true'));
    const set = (value) => {
      node.setAttribute('aria-pressed', String(value));
      change(value);
      try { localStorage.setItem('specviz.' + key, value ? '1' : '0'); } catch { /* private window */ }
      if (resizes && parts.ribbon) onResize();
    };
    let start = on;
    try { const kept = localStorage.getItem('specviz.' + key); if (kept !== null) start = kept === '1'; } catch { /* same */ }
    node.setAttribute('aria-pressed', String(start));
    change(start);
    return node;
  };
  const discarded = toggle(say('view.discarded'), 'discarded', true, (on) => root.classList.toggle('sv-clean', !on));
  const slow = toggle(say('view.slow_steps'), 'slow', false, (on) => parts.slow?.turn(on), false);
  slow._tip = () => [say('view.slow_steps'), say('view.slow_steps_tip')];
  const large = toggle(say('view.large_type'), 'large', false, (on) => root.classList.toggle('sv-presenter', on));
  add(host, add(row, list, add(el('div', 'sv-switches'), discarded, slow, large)));
  return row;
}
