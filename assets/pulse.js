// Whether the server still answers: asked now and then, and at once when Gradio's stream has broken.

// Unanswered questions after which it counts as gone.
const GONE = 4;

function makePulse(live, view) {
  let misses = 0, timer = 0, asking = false, broken = false;

  async function poll() {
    if (asking || !element.isConnected || !live.can('status')) return;
    clearTimeout(timer);
    asking = true;
    const sure = broken;
    let reply = null;
    try { reply = await live.call('status', {}); } catch { /* told below */ }
    asking = false;
    // Gradio does not throw where the server is gone: it answers with something else
    if (reply && reply.state) {
      misses = 0;
      if (sure) broken = false;
    } else {
      reply = null;
      misses = Math.max(misses + 1, sure ? GONE : 0);
    }
    view.models(reply, misses);
    if (misses >= GONE) live.ended();
    // once the models are there, ask now and then whether the server still is
    const settled = reply && (reply.state === 'ready' || reply.state === 'error');
    timer = setTimeout(poll, broken && !sure ? 0 : settled || misses >= GONE ? 5000 : 1000);
  }

  // The stream has broken: if the server does not answer now either, it is gone.
  function lost() {
    broken = true;
    poll();
  }

  return { poll, lost };
}
