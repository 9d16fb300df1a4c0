// The views within another page, as in slides: `?bare=1` in the app's address or `#bare` in that of an exported run leaves
// ribbon, step card and transport. A key that leads beyond either end of the run is passed to the page around it, as the
// message { type: 'specviz', key, at: 'start' | 'end' }, so that a clicker is not stuck in the frame (docs/EXPORT.md).

const TOWARDS = { ArrowRight: 'end', PageDown: 'end', ArrowLeft: 'start', PageUp: 'start' };

const asks = (fields) => fields.has('bare') && fields.get('bare') !== '0';
const isBare = () => asks(new URLSearchParams(location.hash.slice(1))) || asks(new URLSearchParams(location.search));

// Which end of a run a key leads beyond; nothing for any other. `over`: nothing comes after the last step.
// Example: edgeOf('PageDown', { shown: 9, atEnd: true }, true) is 'end'.
export function edgeOf(key, { shown, atEnd }, over) {
  const at = TOWARDS[key];
  return (at === 'end' && atEnd && over) || (at === 'start' && shown <= 0) ? at : '';
}

// Passes such a key on; true where it did.
export function passOn(key, store, over) {
  const at = edgeOf(key, store, over);
  if (!at || window.parent === window || !isBare()) return false;
  window.parent.postMessage({ type: 'specviz', key, at }, '*');
  return true;
}

export function followBare() {
  const set = () => document.body.classList.toggle('sv-bare', isBare());
  addEventListener('hashchange', set);
  set();
}
