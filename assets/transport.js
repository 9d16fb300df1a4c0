// The cursor's controls: scrub bar, ◀ ▶, keys, and the replay of what is recorded before a live run goes on.
// The live run's own buttons (#sv-play, #sv-pause, #sv-step) belong to the page around this view; their clicks are
// looked at on the way in, and held back only while the cursor is behind the end of a live run.

const REPLAY_MS = 125;

function makeTransport(host, store, live, onMove) {
  const bar = el('div', 'sv-scrub'), range = el('input'), label = el('span', 'sv-scrub-label');
  range.type = 'range';
  range.min = '0';
  range.step = '1';
  range.setAttribute('aria-label', 'Step on screen');
  const back = button('sv-icon', '◀', 'One step back', () => move(store.shown - 1));
  const forth = button('sv-icon', '▶', 'One step forward', () => move(store.shown + 1));
  add(host, add(bar, back, range, forth, label));
  let replay = 0, passing = false;

  function move(to, settled = true) {
    stopReplay();
    go(to, settled);
  }

  function go(to, settled) {
    const shown = Math.max(0, Math.min(store.n, to));
    if (shown === store.shown) return;
    store.shown = shown;
    onMove(settled);
  }

  range.addEventListener('input', () => move(Number(range.value), false));
  range.addEventListener('change', () => onMove(true));

  function stopReplay() {
    clearInterval(replay);
    replay = 0;
  }

  function playFromCursor() {
    if (replay || store.atEnd) return;
    replay = setInterval(() => {
      if (!element.isConnected) return stopReplay();
      go(store.shown + 1, false);
      if (!store.atEnd) return;
      stopReplay();
      onMove(true);
      // what was recorded is shown; now compute on, unless the run is going or over
      if (live.state() !== 'playing' && live.state() !== 'finished') press('sv-play');
    }, REPLAY_MS);
    onMove(false);
  }

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

  function hold(event) {
    event.preventDefault();
    event.stopImmediatePropagation();
  }

  function onClick(event) {
    if (!element.isConnected) return document.removeEventListener('click', onClick, true);
    const node = !passing && event.target.closest?.('#sv-play,#sv-pause,#sv-step');
    if (!node || store.recording || !store.n) return;
    if (node.id === 'sv-pause') {
      if (replay) { stopReplay(); onMove(true); }
      return;
    }
    if (store.atEnd) return;
    hold(event);
    if (node.id === 'sv-play') playFromCursor();
    else move(store.shown + 1);
  }

  function onKey(event) {
    if (!element.isConnected) return document.removeEventListener('keydown', onKey);
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const at = event.target, scrubs = at === range && event.key === ' ';
    if (!scrubs && at.closest?.('input,textarea,select,[contenteditable]:not([contenteditable=false]),[role=slider],[role=tab],[role=listbox],[role=combobox],[role=option],[role=dialog]')) return;
    if (event.key === ' ' && at.closest?.('button,a,summary,[role=button]')) return;
    const act = {
      ' ': () => {
        if (replay) { stopReplay(); onMove(true); return true; }
        return ['playing', 'waiting'].includes(live.state()) && store.atEnd ? press('sv-pause') : clickThrough('sv-play');
      },
      ArrowRight: () => (store.atEnd ? clickThrough('sv-step') : (move(store.shown + 1), true)),
      ArrowLeft: () => (move(store.shown - 1), true),
      Home: () => (move(0), true),
      End: () => (move(store.n), true),
    }[event.key];
    if (act && act()) event.preventDefault();
  }

  // Through the capturing listener on purpose: Play behind the end replays first.
  function clickThrough(id) {
    const node = find(id);
    if (!node || node.disabled) return false;
    node.click();
    return true;
  }

  document.addEventListener('click', onClick, true);
  document.addEventListener('keydown', onKey);

  return {
    update() {
      const n = store.n;
      if (range.max !== String(n)) range.max = String(n);
      if (range.value !== String(store.shown)) range.value = String(store.shown);
      const words = n ? (store.shown ? 'step ' + store.shown + ' of ' + n : 'before step 1 of ' + n) : 'no steps yet';
      setText(label, words);
      range.setAttribute('aria-valuetext', words);
      range.disabled = !n;
      back.disabled = store.shown <= 0;
      forth.disabled = store.atEnd;
    },
    stopReplay,
    get replaying() { return !!replay; },
  };
}
