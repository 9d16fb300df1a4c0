// The line on top (state, why it stopped, progress, which models), the legend with the view's own switches, and the
// polite voice for screen readers. Says things; changes nothing but two switches on the root.

function makeStatus(host, store, live, replaying) {
  const line = el('div', 'sv-status'), pill = el('span', 'sv-pill'), words = el('span', 'sv-say'), pair = el('span', 'sv-pair');
  const track = el('div', 'sv-progress'), fill = el('div', 'sv-progress-fill'), voice = el('div', 'sv-sr');
  voice.setAttribute('aria-live', 'polite');
  track.setAttribute('role', 'progressbar');
  track.setAttribute('aria-label', 'Loading the models');
  track.hidden = true;
  add(host, add(line, pill, words, pair), add(track, fill), voice);
  let models = null, misses = 0, spoken = 0, timer = 0;

  function facts() {
    const f = plain();
    return live.facts().note ? { ...f, say: live.facts().note } : f;
  }

  function plain() {
    const f = live.facts(), loading = models && models.state === 'loading';
    if (replaying()) return { state: 'replay', say: 'showing what is recorded, then computing on' };
    if (f.state === 'finished') return { ...f, say: f.say || (f.why && WHY[f.why] ? WHY[f.why] : '') };
    if (misses > 3) {
      return { state: 'offline', say: 'The server cannot be reached. What is on screen still works; reload the page to run again.' };
    }
    if (['playing', 'paused', 'waiting', 'error', 'loading', 'measuring'].includes(f.state)) return f;
    if (models && models.state === 'error') return { state: 'error', say: models.say || '' };
    if (loading) {
      const title = f.say.startsWith('“') ? f.say.slice(0, f.say.lastIndexOf(' — ')) : 'a recording of a real run';
      const note = f.state === 'recording' ? ' — meanwhile, ' + title : '';
      return { state: 'loading', say: (models.say || 'getting the models ready') + note, progress: models.progress };
    }
    // no network and nothing fetched before: what runs instead is said before anybody presses Play
    const fallback = models?.state === 'ready' && models.pair && !models.pair.draft ? (models.pair.notes || [])[0] : '';
    if (fallback && (f.state === 'empty' || f.state === 'recording')) return { ...f, say: fallback };
    if (f.state === 'empty') return { state: 'empty', say: 'Press Play, or Step for one step at a time.' };
    return f;
  }

  function speak() {
    timer = 0;
    spoken = performance.now();
    const f = store.figures(), now = facts();
    const count = store.shown ? ' Step ' + store.shown + ': ' + plural(f.tokens, 'token') + ' so far' +
      (f.tested ? ', ' + f.accepted + ' of ' + f.tested + ' tested drafts accepted.' : '.') : '';
    setText(voice, (STATES[now.state] || now.state) + '.' + (now.say ? ' ' + now.say : '') + count);
  }

  return {
    models(reply, missed) {
      if (reply) models = reply;
      misses = missed;
      this.update();
    },
    update() {
      const f = facts();
      if (pill.dataset.state !== f.state) pill.dataset.state = f.state;
      setText(pill, STATES[f.state] || f.state);
      setText(words, f.say || '');
      const notes = (store.head?.pair?.notes || models?.pair?.notes || []).join(' ');
      if (pair.title !== notes) pair.title = notes;
      setText(pair, pairWords(store.head?.pair && Object.keys(store.head.pair).length ? store.head.pair : models?.pair));
      track.hidden = f.state !== 'loading' && f.state !== 'measuring';
      if (!track.hidden) {
        const known = some(f.progress);
        track.classList.toggle('sv-unknown', !known);
        fill.style.width = known ? 100 * f.progress + '%' : '';
        if (known) track.setAttribute('aria-valuenow', String(Math.round(100 * f.progress)));
        else track.removeAttribute('aria-valuenow');
      }
      root.classList.toggle('sv-has-error', f.state === 'error');
      // at most every five seconds, or a reader would speak of nothing else
      if (!timer) timer = setTimeout(speak, Math.max(50, spoken + 5000 - performance.now()));
    },
  };
}

function makeLegend(host, root, store, onResize) {
  const row = el('div', 'sv-tools'), list = el('ul', 'sv-legend');
  list.setAttribute('aria-label', 'What became of a token');
  for (const [letter, l] of Object.entries(CONFIG.palette.fates)) {
    const item = el('li'), chip = el('span', 'sv-chip sv-' + letter, l.word);
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
  const discarded = toggle('Discarded drafts', 'discarded', true, (on) => root.classList.toggle('sv-clean', !on));
  const slow = toggle('Slow steps', 'slow', false, (on) => parts.slow?.turn(on), false);
  slow._tip = () => ['Slow steps', 'A step that is looked at, or made by Step, is told in order: draft, one target pass, verdicts, result. ' +
    'The run itself is never slowed, and any key or click ends the telling.'];
  const large = toggle('Large type', 'large', false, (on) => root.classList.toggle('sv-presenter', on));
  const copy = button('', 'Copy text', 'Copy text', async () => {
    const done = store.text !== null && await copyText(store.text);
    setText(copy, done ? 'Copied' : store.text === null ? 'Pause first' : 'Not allowed here');
    setTimeout(() => setText(copy, 'Copy text'), 1600);
  });
  add(host, add(row, list, add(el('div', 'sv-switches'), discarded, slow, large, copy)));
  return row;
}
