// The charts of an exported run: drawn already, as SVG. What lies behind the cursor is faded, and a click goes to a step.
// Has what drawing.js and print.js ask of charts.

import { findAll, svg } from './dom.js';

export function makeStillCharts(host, section, store, go) {
  host.append(section);
  for (const name of findAll('.sv-chart-name', section)) name._tip = () => [name.textContent, name.dataset.about];
  const veils = findAll('.sv-still-plot[data-over=steps] > svg', section).map((picture) => {
    const veil = svg('rect', { class: 'sv-still-later', y: 0, height: '100%' });
    // the lines of the grid go on over it
    const lines = findAll('.sv-still-grid', picture).map((line) => /** @type {Element} */ (line.cloneNode()));
    picture.append(veil, ...lines);
    picture.addEventListener('click', (event) => {
      const box = picture.getBoundingClientRect();
      go(Math.min(store.n, Math.max(1, Math.ceil((store.n * (event.clientX - box.left)) / box.width))));
    });
    return { veil, lines };
  });

  function touch() {
    const part = store.n ? store.known / store.n : 1;
    for (const { veil, lines } of veils) {
      for (const line of lines) line.setAttribute('x1', 100 * part + '%');
      veil.setAttribute('x', 100 * part + '%');
      veil.setAttribute('width', 100 * (1 - part) + '%');
    }
  }

  return { touch, soon: touch, restart() {}, resize() {}, retheme() {}, whole: () => () => {} };
}
