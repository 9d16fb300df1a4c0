// Entry of the race: lanes of a finished comparison on one wall clock, each at its own measured pace. Plays what was
// measured, in real time or slower; holds up no run. With reduced motion nothing moves by itself: the bar alone.
// `element`, `props` and `watch` are Gradio's.

import { CONFIG } from './config.js';
import { add, asIs, button, calm, el, setText, some } from './dom.js';
import { makeScore, makeTracks, measured, sameSoFar, seconds, standing } from './lanes.js';
import { amount, say } from './say.js';

const SPEEDS = [['¼×', 0.25], ['½×', 0.5], ['1×', 1]];
// A tab that was hidden goes on where it was left.
const MOST_MS = 250;

export function mount({ element, props, watch }) {
  const box = element.querySelector('.sv-race');
  box.replaceChildren();
  box.hidden = true;

  // --- controls
  const title = el('h3', '', 'Race'), about = el('p', 'sv-muted'), picks = el('div', 'sv-race-picks');
  picks.setAttribute('role', 'group');
  picks.setAttribute('aria-label', say('view.race_lanes'));
  const bar = el('div', 'sv-race-bar'), play = button('sv-race-play', '▶ Race', '', () => (timer ? stop() : start()));
  const paces = el('span', 'sv-race-paces'), range = el('input'), clock = el('span', 'sv-race-clock');
  paces.setAttribute('role', 'group');
  paces.setAttribute('aria-label', say('view.race_pace'));
  range.type = 'range';
  range.min = '0';
  range.step = '1';
  range.setAttribute('aria-label', say('view.race_moment'));
  const back = button('sv-icon', '◀', say('view.race_before'), () => jump(-1)), forth = button('sv-icon', '▶', say('view.race_next'), () => jump(1));
  const still = el('span', 'sv-muted', say('view.race_still'));
  add(bar, play, paces, add(el('span', 'sv-race-scrub'), back, range, forth), clock, still);
  const key = el('p', 'sv-race-key'), outcome = el('div', 'sv-race-outcome'), room = el('div');
  outcome.setAttribute('role', 'status');
  add(box, title, about, picks, bar, room);
  const tracks = makeTracks(room), score = makeScore(room);
  add(room, key, outcome);
  for (const [letter, look] of [...Object.entries(CONFIG.palette.fates).filter(([l]) => 'asb'.includes(l)), ['t', { word: CONFIG.palette.target.word }]])
    add(key, asIs(el('span', 'sv-chip sv-' + letter, (look.mark && letter !== 'b' ? look.mark + ' ' : '') + look.word)), ' ');
  add(key, el('span', 'sv-muted', say('view.race_key')));

  let all = [], lanes = [], alone = null, end = 0, moment = 0, pace = 1, timer = 0, last = 0;

  const paceButtons = SPEEDS.map(([name, value]) => button('sv-toggle', name, value === 1 ? say('view.race_real', { pace: name }) : name, () => setPace(value)));
  add(paces, ...paceButtons);

  function setPace(value) {
    pace = value;
    paceButtons.forEach((node, i) => node.setAttribute('aria-pressed', String(SPEEDS[i][1] === pace)));
  }

  // --- the clock
  function start() {
    if (!lanes.length || calm()) return dress();
    if (moment >= end) show(0);
    last = performance.now();
    timer = requestAnimationFrame(tick);
    dress();
  }

  function stop() {
    cancelAnimationFrame(timer);
    timer = 0;
    dress();
  }

  function tick(now) {
    if (!element.isConnected) return stop();
    show(moment + Math.min(MOST_MS, Math.max(0, now - last)) * pace);
    last = now;
    if (moment >= end) return stop();
    timer = requestAnimationFrame(tick);
  }

  // To the next or the last end of a step in any lane.
  function jump(way) {
    stop();
    const ends = lanes.flatMap((lane) => lane.at);
    show(way > 0 ? Math.min(...ends.filter((at) => at > moment + 0.01), end) : Math.max(...ends.filter((at) => at < moment - 0.01), 0));
  }

  function show(ms) {
    moment = Math.max(0, Math.min(end, ms));
    range.value = String(Math.round(moment));
    const words = say('view.race_of', { moment: seconds(moment), end: seconds(end) });
    setText(clock, words);
    range.setAttribute('aria-valuetext', words);
    back.disabled = moment <= 0;
    forth.disabled = moment >= end;
    tracks.at(moment, beside);
    score.at(moment);
    tell(moment >= end);
  }

  // What stands behind a lane's figures while the clock goes.
  function beside(lane, now) {
    const finish = rank(lane, now), held = lane.held, same = held && alone ? sameSoFar(lane, alone, moment) : 0;
    const parted = held && some(held.position) && same >= held.position &&
      standing(lane, moment).tokens > held.position && standing(alone, moment).tokens > held.position;
    return (held ? (parted ? ' · ' + say('view.race_parted', { n: held.position + 1 }) : same ? ' · ' + say('view.race_same', { n: same }) : '') : '') + (finish ? ' · ' + finish : '');
  }

  function rank(lane, now) {
    if (!now.done || !lane.stop) return '';
    const before = lanes.filter((other) => other.stop && other.end < lane.end).length;
    return say(before < 3 ? 'view.rank_' + before : 'view.rank_n', { n: before + 1 });
  }

  // --- the outcome, once all have come in
  function tell(over) {
    if (outcome.hidden === !over) return;
    outcome.hidden = !over;
    outcome.replaceChildren();
    if (!over) return;
    const won = lanes.filter((lane) => lane.stop).sort((a, b) => a.end - b.end)[0], list = el('ul');
    const cut = lanes.some((lane) => !lane.stop);
    add(outcome, el('p', 'sv-race-won', cut || !won ? say('view.race_stopped')
      : say('view.race_won', { name: won.name, n: lanes.length, tokens: amount('tokens', won.tokens), time: seconds(won.end) })));
    for (const lane of lanes) if (!lane.alone) add(list, el('li', '', verdict(lane)));
    outcome.append(list);
    if (!cut && lanes.some((lane) => lane.tokens !== alone.tokens)) add(outcome, el('p', 'sv-muted', say('view.race_lengths')));
  }

  function verdict(lane) {
    const gain = lane.rate && alone.rate ? say('view.race_gain', { gain: (lane.rate / alone.rate).toFixed(2), rate: lane.rate.toFixed(1), alone: alone.rate.toFixed(1) })
      : say('view.race_no_gain');
    return lane.name + ': ' + gain + (lane.held ? '. ' + (lane.held.same ? '✓ ' : '≠ ') + lane.held.says : '.');
  }

  // --- who races
  function pick() {
    stop();
    lanes = all.filter((lane) => lane.in);
    end = Math.max(...lanes.map((lane) => lane.end));
    range.max = String(Math.ceil(end));
    tracks.set(lanes);
    score.set(lanes);
    outcome.hidden = true;
    show(end);
  }

  function choices() {
    picks.replaceChildren();
    for (const lane of all) {
      const node = button('sv-toggle', lane.name, '', () => {
        lane.in = !lane.in;
        node.setAttribute('aria-pressed', String(lane.in));
        pick();
      });
      node.setAttribute('aria-pressed', String(lane.in));
      node.disabled = lane.alone; // the others are measured against it
      picks.append(node);
    }
  }

  function dress() {
    const stay = calm();
    still.hidden = !stay;
    play.hidden = paces.hidden = stay;
    setText(play, say(timer ? 'view.race_pause' : 'view.race_play'));
    play.setAttribute('aria-label', say(timer ? 'view.race_pause_name' : 'view.race_play'));
  }

  function receive(value) {
    let told = { lanes: [] };
    try { told = JSON.parse(value || '{"lanes":[]}'); } catch { /* half a message: the whole one follows */ }
    stop();
    all = told.lanes.map(measured);
    alone = all[0];
    box.hidden = !all.length;
    if (box.hidden) return;
    setText(about, told.note);
    choices();
    pick();
  }

  range.addEventListener('input', () => { stop(); show(Math.min(end, Number(range.value))); });
  range.addEventListener('keydown', (event) => {
    const way = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
    if (!way || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    jump(way);
  });
  // elsewhere these keys drive the run above
  box.addEventListener('keydown', (event) => {
    if (event.key === ' ' && event.target === range) {
      event.preventDefault();
      play.click();
    }
    if ([' ', 'ArrowLeft', 'ArrowRight', 'Home', 'End'].includes(event.key)) event.stopPropagation();
  });
  matchMedia('(prefers-reduced-motion: reduce)').addEventListener('change', stop);

  setPace(1);
  dress();
  watch('value', () => receive(props.value));
  receive(props.value);
}
