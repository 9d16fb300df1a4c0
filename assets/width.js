// Three sizes, by the component's own width (Gradio drops container queries from its style sheet).

// Milliseconds between the last change of the width and laying the page out anew.
const RELAY_MS = 250;

// Writes the size into `root.dataset.width`; calls `relay` some time after a change.
export function watchWidth(root, relay) {
  let width = 0, changed = 0, timer = 0;
  function measure() {
    const next = root.clientWidth;
    if (!next || next === width) return;
    root.dataset.width = next < 640 ? 'small' : next < 1240 ? 'middle' : 'large';
    if (width) {
      clearTimeout(timer);
      timer = setTimeout(relay, RELAY_MS);
    }
    width = next;
    changed = performance.now();
  }
  return {
    // Once the parts are there, which are laid out anew with each change.
    begin() {
      measure();
      new ResizeObserver(measure).observe(root);
    },
    settled: () => performance.now() - changed > 200,
  };
}
