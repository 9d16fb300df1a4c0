// The cursor's controls: scrub bar, ◀ ▶, keys, and the replay, in which the screen moves on by itself over steps that
// exist. The buttons of the run (#sv-play, #sv-pause, #sv-step, …) belong to the page around this view; their clicks are
// looked at on the way in. On a recording they replay it and compute nothing: "Run live" (#sv-live) does that. On a live
// run they are held back only while the cursor is behind its end.

import { passOn } from './bare.js';
import { CONFIG } from './config.js';
import { add, button, el, hear, setText } from './dom.js';
import { say } from './say.js';

// Between two steps of a replay at full speed, and the least between the explanation of one step and the next.
const REPLAY_MS = 125, BREATH_MS = 400;
const OWN_BUTTONS = '#sv-play,#sv-pause,#sv-step,#sv-reset,#sv-alone';
const TYPED = 'textarea,select,input:not([type=range],[type=checkbox],[type=radio]),[contenteditable]:not([contenteditable=false]),[role=listbox],[role=combobox],[role=option],[role=dialog]';
const KEYED = TYPED + ',input,[role=slider],[role=tab]';
const PRESSED = 'button,a,summary,[role=button]';

// Milliseconds between two steps at the speed of the menu; 0 at full speed.
export function stepPause() {
  const speed = CONFIG.speeds[/** @type {HTMLInputElement | null} */ (document.querySelector('#sv-speed :is(input, select)'))?.value];
  return speed ? 1000 / speed : 0;
}

// `parts` of the view: some are made later.
export function makeTransport(host, root, store, live, parts, onMove) {
  const bar = el('div', 'sv-scrub'), range = el('input'), label = el('span', 'sv-scrub-label');
  range.type = 'range';
  range.min = '0';
  range.step = '1';
  range.setAttribute('aria-label', say('view.step_on_screen'));
  const back = button('sv-icon', '◀', say('view.one_back'), () => move(store.shown - 1));
  const forth = button('sv-icon', '▶', say('view.one_forward'), () => move(store.shown + 1));
  const way = button('sv-return', '', '', () => live.goBack());
  way.id = 'sv-return';
  add(host, add(bar, back, range, forth, label, way));
  let passing = false, pointed = null, swallowed = false;

  function move(to, settled = true) {
    stopReplay();
    parts.tip.hide();
    go(to, settled);
  }

  function go(to, settled) {
    const shown = Math.max(0, Math.min(store.n, to));
    if (shown === store.shown) return;
    live.untell(endWords());
    store.shown = shown;
    onMove(settled);
  }

  range.addEventListener('input', () => move(Number(range.value), false));
  range.addEventListener('change', () => onMove(true));

  // --- the replay
  // `lags`: the screen explains each step of a live run, which is never slowed and so may be ahead of the screen.
  // `tells`: waits until the step on screen is explained (slow.js). `waits`: for a step that is not made yet.
  let replay = false, timer = 0, lags = false, tells = false, waits = false, began = 0;

  function stopReplay() {
    clearTimeout(timer);
    replay = lags = tells = waits = store.held = false;
  }

  function playFromCursor() {
    if (replay || store.atEnd) return;
    replay = true;
    timer = setTimeout(tick, REPLAY_MS);
    onMove(false);
  }

  const slowly = () => parts.slow.on && stepPause() > 0;
  const goesOn = () => live.state() === 'playing' || live.state() === 'waiting';

  function tick() {
    if (!host.isConnected) return stopReplay();
    if (lags && goesOn() && !slowly()) {
      stopReplay();
      return go(store.n, true);
    }
    if (store.atEnd) return lags && goesOn() ? void (waits = true) : arrive();
    began = performance.now();
    tells = parts.slow.on;
    go(store.shown + 1, tells);
    if (!tells) timer = setTimeout(tick, stepPause() || REPLAY_MS);
  }

  function arrive() {
    const lagged = lags;
    stopReplay();
    onMove(!parts.slow.on);
    if (store.recording) sayEnd();
    // what was recorded is shown; now compute on, unless the run is going or over
    else if (!lagged && !goesOn() && live.state() !== 'finished') press('sv-play');
  }

  // Below full speed with slow steps the screen follows a live run step by step, each explained before the next. Called
  // before the first of its steps comes, which the cursor must not pass.
  function holdIfSlow() {
    if (!replay && !store.recording && store.atEnd && slowly() && !parts.slow.awaits()) replay = lags = waits = store.held = true;
  }

  function followSlowly() {
    if (live.state() === 'playing') holdIfSlow();
    if (waits && !store.atEnd) {
      waits = false;
      tick();
    } else if (waits && !goesOn()) stopReplay();
  }

  // --- the page's own buttons
  /** @returns {any} */
  const find = (id) => {
    const node = document.getElementById(id);
    return node && (node.matches('button') ? node : node.querySelector('button') || node);
  };

  function press(id) {
    const node = find(id);
    if (!node || node.disabled) return false;
    passing = true;
    try { node.click(); } finally { passing = false; }
    return true;
  }

  const endWords = () => say(store.recording ? 'view.end_recording' : 'view.end_run');
  const sayEnd = () => live.tell(endWords());

  const isOver = () => store.recording || live.state() === 'finished';

  // At the end of what is over, a key neither begins a new run nor starts again.
  function over() {
    if (!store.atEnd || !isOver()) return false;
    sayEnd();
    return true;
  }

  function pauseReplay() {
    stopReplay();
    onMove(true);
  }

  const onRecording = {
    'sv-play': () => { if (store.atEnd) go(0, false); playFromCursor(); },
    'sv-pause': () => { if (replay) pauseReplay(); },
    'sv-step': () => { if (!over()) move(store.shown + 1); },
    'sv-reset': () => live.putAway(),
    'sv-alone': () => live.tell(say('view.only_live')),
  };

  function onClick(event) {
    const node = !passing && event.target.closest?.(OWN_BUTTONS);
    if (!node) return;
    const hold = () => {
      event.preventDefault();
      event.stopImmediatePropagation();
    };
    if (store.recording) {
      hold();
      onRecording[node.id]();
    } else if (node.id === 'sv-pause') {
      if (replay) pauseReplay();
    } else if (['sv-play', 'sv-step'].includes(node.id) && !store.atEnd) {
      hold();
      if (node.id === 'sv-play') playFromCursor();
      else move(store.shown + 1);
    }
  }

  const stepOn = () => {
    if (!store.atEnd) move(store.shown + 1);
    else return over() || clickThrough('sv-step');
    return true;
  };
  const stepBack = () => (move(store.shown - 1), true);
  const ACTS = {
    ' ': () => {
      const ahead = goesOn() && (store.atEnd || lags);
      if (replay) pauseReplay();
      else if (!ahead) return over() || clickThrough('sv-play');
      if (ahead) press('sv-pause');
      return true;
    },
    ArrowRight: stepOn,
    ArrowLeft: stepBack,
    // what clickers of lecturers send
    PageDown: stepOn,
    PageUp: stepBack,
    Home: () => (move(0), true),
    End: () => (move(store.n), true),
  };

  function onKey(event) {
    if (event.key === 'Tab') pointed = null;
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    if (!event.target.closest?.(TYPED) && passOn(event.key, store, isOver())) return event.preventDefault();
    const at = event.target, scrubs = at === range && event.key === ' ';
    if (!scrubs && at.closest?.(event.key.startsWith('Page') ? TYPED : KEYED)) return;
    // a button that has the focus from the keyboard is pressed by Space; one that was clicked is not pressed again
    const pressed = event.key === ' ' && at.closest?.(PRESSED);
    if (pressed && pressed !== pointed) return;
    swallowed = !!pressed;
    if (ACTS[event.key]?.() || pressed) event.preventDefault();
  }

  // Some browsers press a button when Space comes up again.
  function onKeyUp(event) {
    if (event.key === ' ' && swallowed) event.preventDefault();
    swallowed = false;
  }

  function onPointer(event) {
    pointed = event.target.closest?.(':is(#sv-transport, .sv-root) :is(' + PRESSED + ')') || null;
  }

  // Through the capturing listener on purpose: Play behind the end replays first.
  function clickThrough(id) {
    const node = find(id);
    if (!node || node.disabled) return false;
    node.click();
    return true;
  }

  hear(host, 'click', onClick, true);
  hear(host, 'keydown', onKey);
  hear(host, 'keyup', onKeyUp);
  hear(host, 'pointerdown', onPointer, true);

  return {
    update() {
      followSlowly();
      find('sv-live')?.toggleAttribute('data-on', store.recording);
      setText(way, live.behind());
      way.hidden = !live.behind();
      // a phone has room for it only below: above the ribbon it would move the ribbon when it comes
      const row = root.dataset.width === 'small' ? host : bar;
      if (way.parentNode !== row) row.append(way);
      const n = store.n;
      if (range.max !== String(n)) range.max = String(n);
      if (range.value !== String(store.shown)) range.value = String(store.shown);
      const words = say(!n ? 'view.no_steps' : store.shown ? 'view.step_of' : 'view.before_first', { n: store.shown, all: n });
      setText(label, words);
      range.setAttribute('aria-valuetext', words);
      range.disabled = !n;
      back.disabled = store.shown <= 0;
      forth.disabled = store.atEnd;
    },
    stopReplay,
    holdIfSlow,
    // Shows that many steps.
    goTo: (shown) => move(shown),
    focus() { range.focus(); },
    // The step on screen has been explained: the next one after what is left of its pause.
    told() {
      if (!tells) return;
      tells = false;
      timer = setTimeout(tick, Math.max(BREATH_MS, stepPause() - (performance.now() - began)));
    },
    get replaying() { return replay; },
    get lags() { return lags; },
  };
}
