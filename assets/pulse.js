// Whether the server still answers: asked now and then, and at once when Gradio's stream has broken.

import { some } from './dom.js';
import { say as inWords } from './say.js';

// Unanswered questions after which it counts as gone.
const GONE = 4;

// What came of that. `gone`: it does not answer; `say`: why nothing can be asked of it now, empty where all is well.
export const makeReach = () => ({ gone: false, say: '' });

// Keeps `reach` up to date while `root` is on the page.
export function makePulse(root, live, store, view, reach) {
  // `deaf`: Gradio has lost the server, and sends nothing any more until the page is loaded again
  let misses = 0, timer = 0, asking = false, broken = false, deaf = false, there = false, told = '';

  // True where the run on screen is no longer on the server.
  async function without() {
    if (!store.run) return false;
    try { return !some((await live.call('resync', { r: store.run, f: store.n }))?.n); } catch { return true; }
  }

  // The server is there again: what stands in the way all the same.
  async function back() {
    const bare = await without();
    if (deaf) return inWords(bare ? 'view.back_bare_reload' : store.run ? 'view.back_reload_run' : 'view.back_reload');
    told = bare ? inWords('view.back_bare') : '';
    live.tell(told, true);
    return '';
  }

  async function poll() {
    if (asking || !root.isConnected || !live.can('status')) return;
    clearTimeout(timer);
    asking = true;
    const sure = broken;
    let reply = null;
    try { reply = await live.call('status', {}); } catch { /* told below */ }
    // Gradio does not throw where the server is gone: it answers with something else
    if (!reply?.state) reply = null;
    // another version of the app may answer Gradio and not this page
    const here = reply || there;
    there = false;
    misses = here ? 0 : Math.max(misses + 1, sure ? GONE : 0);
    if (here && sure) broken = false;
    const gone = misses >= GONE, returned = reach.gone || (here && sure && deaf && !reach.say);
    const say = gone ? inWords('view.away') : returned ? await back() : reach.say;
    asking = false;
    const news = gone !== reach.gone || say !== reach.say;
    if (news) for (const old of [reach.say, gone && told]) if (old) live.untell(old);
    Object.assign(reach, { gone, say });
    view.models(reply);
    if (say) live.ended();
    if (news) view.reach();
    // once the models are there, ask now and then whether the server still is
    const settled = reply && (reply.state === 'ready' || reply.state === 'error');
    timer = setTimeout(poll, broken && !sure ? 0 : settled || gone || deaf ? 5000 : 1000);
  }

  // Gradio has lost the server: if the server does not answer now either, it is gone.
  function lost() {
    deaf = true;
    broken = true;
    poll();
  }

  // The server has answered Gradio.
  function answered() {
    if (!reach.gone) return;
    there = true;
    poll();
  }

  return { poll, lost, answered };
}
