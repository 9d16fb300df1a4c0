// The step in the fragment of the address: `#step=12` opens an exported run there, and stepping writes it.

import { some } from './dom.js';

const fields = () => new URLSearchParams(location.hash.slice(1));

// `go` takes the number of the step to show.
export function makeFragment(store, go) {
  function step() {
    const number = Number.parseInt(fields().get('step'), 10);
    return some(number) ? Math.max(0, number) : null;
  }

  addEventListener('hashchange', () => {
    if (some(step())) go(step());
  });

  return {
    step,
    write() {
      const now = fields();
      if (now.get('step') === String(store.shown)) return;
      now.set('step', String(store.shown));
      // a value of none is written without its sign: `bare`, not `bare=`
      const text = String(now).replace(/=(?=&|$)/g, '');
      try { history.replaceState(null, '', '#' + text); } catch { /* a frame without an address of its own */ }
    },
  };
}
