// Entry of a sweep's pictures: draws finished plotly figures in the colours of the theme that is on, and offers their
// numbers as files made in the browser. The table beside them is page text. `element`, `props`, `watch` are Gradio's.

import { add, button, el, saveText } from './dom.js';
import { drawFigure, redrawn } from './figure.js';
import { loadPlotly, markFailed } from './plotting.js';
import { say } from './say.js';

export function mount({ element, props, watch }) {
  const room = element.querySelector('.sv-sweep');
  const files = el('div', 'sv-sweep-files'), grid = el('div', 'sv-sweep-pictures');
  room.replaceChildren();
  add(room, grid, files);
  let told = { pictures: [] }, plots = [];

  const FILES = [['CSV', 'csv', 'text/csv'], ['JSON lines', 'jsonl', 'application/jsonl']];
  for (const [name, kind, type] of FILES) {
    files.append(button('', say('view.save_kind', { kind: name }), '', () => saveText('specviz-sweep.' + kind, told[kind], type + ';charset=utf-8')));
  }

  const faded = (colour) => colour + '33';

  // On a phone the values in the cells say it all, and the scale beside them would take their room.
  const NARROW = 520;

  function tint(trace, dark) {
    if (trace.type === 'heatmap' && room.clientWidth < NARROW) {
      trace.showscale = false;
      trace.textfont.size = 11;
    }
    const colour = trace.meta?.colours?.[dark ? 1 : 0];
    if (!colour) return;
    if (trace.meta.band) trace.fillcolor = faded(colour);
    else {
      trace.line = { ...trace.line, color: colour };
      if (trace.marker) trace.marker = { ...trace.marker, color: colour };
    }
  }

  function draw() {
    markFailed(room, 'view.sweep_failed');
    if (!window.Plotly || !room.clientWidth) return;
    told.pictures.forEach(({ figure }, i) => drawFigure(plots[i], figure, room, tint));
  }

  function receive(value) {
    try { told = JSON.parse(value || '{"pictures":[]}'); } catch { return; } // half a message: the whole one follows
    room.hidden = !told.pictures.length;
    if (plots.length !== told.pictures.length) {
      for (const plot of plots) window.Plotly?.purge(plot);
      plots = told.pictures.map(() => el('div', 'sv-sweep-plot'));
      grid.replaceChildren(...plots.map((plot, i) => add(el('figure', 'sv-sweep-picture'), el('figcaption', '', told.pictures[i].name), plot)));
    }
    told.pictures.forEach(({ name, says }, i) => {
      plots[i].setAttribute('role', 'img');
      plots[i].setAttribute('aria-label', name + ': ' + says);
    });
    draw();
  }

  redrawn(element, room, draw);
  loadPlotly(draw);

  watch('value', () => receive(props.value));
  receive(props.value);
}
