// The wire: messages in, gaps filled, state told. Nothing is drawn here; `view` is called with what changed.
// A frame carries the newest steps only. Frames may be lost (a hidden tab coalesces them): a step that is not the next
// one makes the client ask for what it lacks.

function makeLive(store, view) {
  let state = 'empty', say = '', progress = null, why = null, seq = null, floor = -1, filling = false, again = false;

  const call = async (name, argument) => {
    const result = await server[name](argument);
    return typeof result === 'string' ? JSON.parse(result) : result;
  };
  const can = (name) => typeof server !== 'undefined' && server && typeof server[name] === 'function';

  function setState(next, words, part) {
    state = next;
    say = words || '';
    progress = some(part) ? part : null;
    view.state();
  }

  function receive(text) {
    let message;
    try { message = JSON.parse(text); } catch { return; }
    if (!message || (some(message.seq) && message.seq === seq)) return;
    if (some(message.seq) && message.seq < floor) return; // sent before a Reset, arrived after it
    seq = message.seq;
    if (message.m === 'frame') frame(message);
    else if (message.m === 'baseline' && message.r === store.run) {
      store.baseline = message.b;
      view.baseline();
    } else if (message.m === 'clear') {
      store.begin(null, null);
      why = null;
      if (some(message.seq)) floor = message.seq;
      setState('empty');
      view.fresh();
    }
  }

  function frame(message) {
    if (message.r !== undefined && message.r !== null && message.r !== store.run) {
      store.begin(message.r, message.head || { prompt: [] });
      why = null;
      view.fresh();
    } else if (message.head && store.run === message.r && !store.head?.prompt?.length) {
      store.head = message.head;
    }
    take(message);
    if ((message.f ?? 0) > store.n && (message.s || []).length) fill();
    else if (message.f > store.n) fill();
  }

  function take(message) {
    let count = 0;
    for (const step of message.s || []) if (store.push(step)) count++;
    if (message.text !== undefined && message.text !== null) store.text = message.text;
    if (message.b) { store.baseline = message.b; view.baseline(); }
    if (message.why !== undefined) why = message.why;
    if (message.state) setState(message.state, message.say, message.progress);
    else if (message.say) setState(state, message.say, message.progress);
    if (count) view.steps(count);
    return count;
  }

  // Ask for what is missing until nothing new comes. One question at a time.
  async function fill() {
    if (filling) { again = true; return; }
    if (!can('resync') || store.recording || !store.run) return;
    filling = true;
    try {
      for (;;) {
        again = false;
        const run = store.run, reply = await call('resync', { r: run, f: store.n });
        if (run !== store.run || !reply || reply.error) break;
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
      if (!reply || !(reply.places || reply.gone)) return;
      store.details.set(i, reply.places ? reply : { i, tok: [], ex: null, places: [] });
      view.detailed(i);
    } catch { /* shown again when the step is looked at again */ }
  }

  function showRecording(reply) {
    const r = reply.recording;
    store.begin(null, r.head, true);
    for (const step of r.s) store.push(step);
    for (const detail of r.details || []) store.details.set(detail.i, detail);
    store.baseline = r.b || null;
    store.text = r.text ?? null;
    why = r.stop;
    setState('recording', 'This is a recording of a real run — press Play for a live one.');
    view.fresh();
    view.steps(store.n);
  }

  async function open() {
    if (!can('recording') || store.run) return;
    try {
      const reply = await call('recording', {});
      // a live run that has begun meanwhile comes first
      if (reply && reply.recording && !store.run) showRecording(reply);
    } catch { /* an empty page is a state too */ }
  }

  let misses = 0;
  async function poll() {
    if (!element.isConnected || !can('status')) return;
    let reply = null;
    try { reply = await call('status', {}); } catch { /* told below */ }
    // Gradio does not throw where the server is gone: it answers with something else
    if (!reply || !reply.state) { reply = null; misses++; } else misses = 0;
    view.models(reply, misses);
    // what was going on has ended with the server
    if (misses > 3 && ['playing', 'waiting', 'loading'].includes(state)) setState('paused');
    // once the models are there, ask now and then whether the server still is
    const settled = reply && (reply.state === 'ready' || reply.state === 'error');
    setTimeout(poll, settled || misses > 3 ? 5000 : 1000);
  }

  function onVisible() {
    if (!element.isConnected) return document.removeEventListener('visibilitychange', onVisible);
    if (!document.hidden) { fill(); view.all(); }
  }
  document.addEventListener('visibilitychange', onVisible);

  return {
    receive, details, open, poll,
    state: () => state,
    facts: () => ({ state, say, progress, why }),
  };
}
