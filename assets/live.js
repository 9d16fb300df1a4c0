// The wire: messages in, gaps filled, state told. Nothing is drawn here; `view` is called with what changed.
// A frame carries the newest steps only. Frames may be lost (a hidden tab coalesces them): a step that is not the next
// one makes the client ask for what it lacks. The run's id is kept for this tab, so that a page loaded again finds it.

import { CONFIG } from './config.js';
import { hear, some } from './dom.js';
import { addressWithoutLanguage } from './language.js';
import { say as inWords } from './say.js';
import { sentences } from './words.js';

const KEPT = 'specviz.run', KEPT_AT = 'specviz.address';
export const BUSY = ['playing', 'waiting', 'loading', 'measuring'];

function keptRun() {
  try {
    // a link opened in this tab is not a reload: the run of another address is left alone
    return (sessionStorage.getItem(KEPT_AT) || '') === addressWithoutLanguage() ? sessionStorage.getItem(KEPT) || '' : '';
  } catch { return ''; }
}

function keepRun(run) {
  try {
    sessionStorage.setItem(KEPT_AT, addressWithoutLanguage());
    if (run) sessionStorage.setItem(KEPT, run);
    else sessionStorage.removeItem(KEPT);
  } catch { /* storage is switched off: a reload begins anew */ }
}

// `server` and `trigger` are Gradio's; `root` is the element of the view.
export function makeLive(store, view, root, server, trigger) {
  let state = 'empty', say = '', progress = null, why = null, back = '', seq = null, top = 0, stated = 0, floor = -1, filling = false, again = false, picking = false;
  // `aside`: a live run that a recording lies over, `behind` its head; `taken`: another window drives the run on screen;
  // `source`: where the recording on screen came from, its name in the gallery or the file's name and text
  // `named`: that recording in a sentence; `wrong`: the note is of something bad
  // `hint`: what Play will do, where it is not what it seems; `told`: counts what must be heard, the same words or not
  // `unread`: the error of a link whose recording does not exist
  // `shelf`: the recording that was on screen last, and at which step
  let note = '', hint = '', noteTimer = 0, told = 0, aside = null, behind = {}, taken = false, source = {}, named = '', wrong = false, shelf = null, unread = '';

  const call = async (name, argument) => {
    const result = await server[name](argument);
    return typeof result === 'string' ? JSON.parse(result) : result;
  };
  const can = (name) => typeof server?.[name] === 'function';

  // `to`: name of the pair to go back to, where the wanted one could not be loaded.
  function setState(next, words, part, to) {
    // an answer to what was asked for in the drawer; its progress is none
    if (['loading', 'ready', 'not_done', 'error'].includes(next) && state !== 'loading') view.answered();
    const rests = !BUSY.includes(next) && (BUSY.includes(state) || next === 'recording');
    state = next;
    say = words || '';
    back = to || '';
    progress = some(part) ? part : null;
    if (next === 'not_done' || next === 'error') note = ''; // no note of a minute ago stands before what went wrong
    view.state();
    if (rests) trigger('rested', {});
  }

  // A sentence that stands before all others: for some seconds, or (`stays`) until something else is on screen.
  function tell(words, stays, bad) {
    clearTimeout(noteTimer);
    note = words || '';
    wrong = !!note && !!bad;
    if (note) told++;
    if (note && !stays) noteTimer = setTimeout(() => tell(''), 8000);
    view.state();
  }

  // The same of something that cannot be had as it was asked for: a link's setting, a file.
  const report = (words) => tell(words, true, true);

  // Takes this sentence away before its time, if it still stands.
  function untell(words) { if (note === words) tell(''); }

  function begin(run, head, recording) {
    if (store.recording && shelf) shelf.shown = store.shown;
    store.begin(run, head, recording);
    why = null;
    hint = '';
    taken = false;
    unread = '';
    tell('');
    nameShown();
  }

  // What is on screen, for whoever explains it on the server (specviz/ui/studies/desk.py).
  function nameShown() {
    const what = store.recording ? { name: source.name, kept: source.kept } : { r: store.run };
    root.dataset.shown = JSON.stringify(what);
  }

  function receive(text) {
    let message;
    try { message = JSON.parse(text); } catch { return; }
    if (!message || (some(message.seq) && message.seq === seq)) return;
    if (some(message.seq) && message.seq < floor) return; // sent before a Reset, arrived after it
    // of two messages that come at one moment Gradio hands over the later one alone
    const missed = top > 0 && message.seq > top + 1, late = message.seq < top;
    seq = message.seq;
    if (some(seq)) top = Math.max(top, seq);
    if (message.m === 'frame' && some(seq)) stated = Math.max(stated, seq);
    handle(message, late);
    if (missed || (['frame', 'hint'].includes(message.m) && headless())) fill();
  }

  // A run whose prompt and models have not been heard of.
  function headless() { return !!store.run && !store.recording && !store.head?.prompt?.length; }

  // `late`: one that was sent after it has come before it.
  function handle(message, late) {
    if (message.m === 'note') tell(unread && message.wrong ? sentences(unread, message.say) : message.say, !message.passes, message.wrong);
    else if (message.m === 'hint') {
      if (message.r !== (store.run || aside)) {
        // the messages with which that run began were lost
        if (message.r && message.r !== aside && !late && !taken) enter(message.r, null);
        return;
      }
      hint = message.hint;
      view.state();
    } else if (message.r && message.r === aside) return;
    else if (message.m === 'frame') frame(message);
    else if (message.m === 'baseline' && message.r === store.run) {
      store.baseline = message.b;
      view.baseline();
    } else if (message.m === 'clear') {
      begin(null, null);
      keepRun('');
      if (some(message.seq)) floor = message.seq;
      setState('empty');
      view.fresh();
    } else if (message.m === 'taken' && message.r === store.run) {
      taken = true;
      keepRun('');
      setState('paused');
      tell(message.say, true);
    }
  }

  /** @param {import('./wire.js').Frame} message */
  function frame(message) {
    if (message.r !== undefined && message.r !== null && message.r !== store.run) enter(message.r, message.head);
    else if (message.head && store.run === message.r && headless()) {
      store.head = message.head;
    }
    if (['not_done', 'error'].includes(message.state)) told++;
    take(message);
    if (message.f > store.n) fill();
  }

  // Another run is on screen from now on.
  function enter(run, head) {
    begin(run, head || (behind.run === run && behind.head) || { prompt: [] });
    keepRun(run);
    view.fresh();
  }

  /** @param {import('./wire.js').Frame} message */
  function take(message) {
    let count = 0;
    if (message.state === 'playing') view.plays();
    for (const step of message.s || []) if (store.push(step)) count++;
    if (message.text !== undefined && message.text !== null) store.text = message.text;
    if (message.b) { store.baseline = message.b; view.baseline(); }
    if (message.why !== undefined) why = message.why;
    if (message.state) hint = message.hint || '';
    if (message.others) store.others = message.others;
    if (message.state) setState(message.state, message.say, message.progress, message.back);
    else if (message.say) setState(state, message.say, message.progress);
    if (count) view.steps(count);
    return count;
  }

  // Ask for what is missing until nothing new comes. One question at a time. `back`: after a reload (lookups.py).
  async function fill(back = false) {
    if (filling || picking) { again = true; return; }
    if (!can('resync') || store.recording || taken || !store.run) return;
    filling = true;
    try {
      for (;;) {
        again = false;
        const run = store.run, reply = await call('resync', { r: run, f: store.n, head: headless(), ...(back && { back }) });
        if (run !== store.run || !reply || reply.error) break;
        // what was said after it, or of an error, stands
        if (reply.seq < top || reply.seq <= stated || ['not_done', 'error'].includes(state)) delete reply.state;
        if (reply.head && !store.head?.prompt?.length) { store.head = reply.head; view.fresh(); }
        if (!take(reply) && !again) break;
      }
    } catch { /* the next frame asks again */ } finally { filling = false; }
  }

  // Candidates of one step. Recordings bring theirs along.
  async function details(i) {
    const run = store.run;
    if (store.details.has(i) || store.recording || !can('details')) return;
    try {
      const reply = await call('details', { r: run, i });
      if (run !== store.run) return;
      // a lecture of thousands of steps must not hold all of them
      if (store.details.size > 400) store.details.delete(store.details.keys().next().value);
      // a server that is gone answers with something else; the step is asked for again when it is looked at again
      if (!reply || !(reply.positions || reply.gone)) return;
      store.details.set(i, reply.positions ? reply : { i, tok: [], ex: null, positions: [] });
      view.detailed(i);
    } catch { /* shown again when the step is looked at again */ }
  }

  // A recording takes the place of what is on screen, with `shown` of its steps, or as many as it opens with. A live run is
  // paused and stays behind it.
  function showRecording(reply, title, from, shown = reply.start) {
    const live = store.run || aside;
    if (store.run) behind = { run: store.run, head: store.head };
    if (BUSY.includes(state)) document.getElementById('sv-pause')?.click();
    const r = reply.recording;
    begin(null, r.head, true);
    aside = live;
    source = from;
    shelf = { reply, title, from };
    nameShown();
    for (const step of r.s) store.push(step);
    for (const detail of r.details || []) store.details.set(detail.i, detail);
    store.baseline = r.b || null;
    store.others = r.others || 0;
    store.text = r.text ?? null;
    why = r.stop;
    if (some(shown)) store.shown = Math.min(shown, store.n);
    const then = inWords(aside ? 'view.your_run_behind' : can('resync') ? 'view.play_or_live' : 'view.play_only');
    named = title ? inWords('view.named_run', { title }) : inWords('view.a_recording');
    setState('recording', sentences(inWords(title ? 'view.named_then' : 'view.this_is', { what: named, then }), !title && reply.opening));
    view.fresh();
    view.steps(store.n);
  }

  // A live run was asked for: what comes of it belongs on screen.
  function follow() { aside = null; }

  // What lies behind what is on screen, as the button that goes there says it; nothing where there is nothing.
  function behindNow() {
    if (store.recording) return aside ? inWords('view.back_to_run') : '';
    return shelf ? inWords('view.back_to_recording') : '';
  }

  async function goBack() {
    if (!store.recording) return shelf && showRecording(shelf.reply, shelf.title, shelf.from, shelf.shown);
    const run = aside, gone = await pickUp(run);
    if (gone || store.run === run) aside = null;
    if (gone) tell(inWords('view.run_gone'), true);
    else if (store.run !== run) tell(inWords('view.away_again'));
    view.state();
  }

  // Reset on a recording: the run behind it, or an empty page. The recording stays one click away.
  function putAway() {
    if (aside) return goBack();
    begin(null, null);
    setState('empty', inWords('view.put_away'));
    view.fresh();
  }

  // A link with settings and no recording shows no other run beside them.
  function openEmpty(lost) {
    nameShown();
    if (state === 'empty') setState('empty', inWords('view.link_ready'));
    if (lost) tell(inWords('view.tab_gone_play'), true);
  }

  // What the page begins with: the run that this tab had before, or else a recording.
  async function open(name) {
    if (store.run) return;
    const lost = await pickUp(keptRun());
    if (!can('recording') || store.run) return;
    if (!name && CONFIG.settings.some((key) => new URLSearchParams(location.search).has(key))) return openEmpty(lost);
    try {
      let reply = await call('recording', name ? { name } : {});
      const problem = reply && reply.error;
      if (problem && name) reply = await call('recording', {});
      // a live run that has begun meanwhile comes first
      if (!reply || !reply.recording || store.run) return;
      const gone = lost ? inWords('view.tab_gone_live') : '';
      // the link's other invalid values are reported before this or after it
      const words = problem && note && wrong ? sentences(problem, note) : problem || gone || note, bad = problem || (!gone && wrong);
      showRecording(reply, name && !problem ? reply.title : '', 
        { name: reply.name, chosen: !!name && !problem, controls: reply.controls });
      if (words) tell(words, true, bad);
      if (problem && name) unread = words;
    } catch { /* an empty page is a state too */ }
  }

  // True where there was a run and it is gone.
  async function pickUp(run) {
    if (!run || !can('resync')) return false;
    try {
      picking = true;
      const reply = await call('resync', { r: run, f: 0, back: true });
      picking = false;
      // a hint may have named this run meanwhile
      if (store.run && store.run !== run) return false;
      if (reply && reply.gone) { keepRun(''); return true; }
      if (!reply || !reply.s) return false;
      begin(run, reply.head || { prompt: [] });
      view.fresh();
      take(reply);
      await fill(true);
      if (state === 'paused' && store.run === run) setState(state, inWords(hint ? 'view.picked_up' : 'view.picked_up_play'));
    } catch { /* the server is away: the kept id stays for the next time */ } finally { picking = false; }
    return false;
  }

  // What was going on has ended with the server.
  function ended() { if (BUSY.includes(state)) setState('paused'); }

  function onVisible() {
    if (!document.hidden) { fill(); view.all(); }
  }
  hear(root, 'visibilitychange', onVisible);

  return {
    receive, details, open, ended, call, can, tell, report, untell, follow, showRecording, goBack, putAway,
    behind: behindNow,
    waiting: () => aside !== null,
    source: () => source,
    state: () => state,
    busy: () => BUSY.includes(state),
    facts: () => ({ state, say, progress, why, back, note, wrong, hint, named, told }),
  };
}
