// Entry of a picture of its own: draws one finished plotly figure with the page's plotly, in the colours of the theme
// that is on. On every change the same plot is redrawn, never a new one made. `element`, `props`, `watch` are Gradio's.

import { CONFIG } from './config.js';
import { el } from './dom.js';
import { drawFigure, redrawn } from './figure.js';
import { loadPlotly, markFailed } from './plotting.js';

export function mount({ element, props, watch }) {
  const room = element.querySelector('.sv-picture');
  const plot = el('div', 'sv-plot');
  room.replaceChildren(plot);
  plot.setAttribute('role', 'img');
  let told = null;

  // Roles of the palette, or for a trace that has none its own colours.
  function tint(trace, dark) {
    const pair = CONFIG.palette.roles[trace.meta?.role];
    if (!pair) return;
    const colour = pair[dark ? 1 : 0];
    if (trace.line) trace.line.color = colour;
    if (trace.marker) trace.marker.color = colour;
  }

  function draw() {
    room.hidden = !told;
    markFailed(room, 'view.picture_failed');
    if (!told || !window.Plotly || !room.clientWidth) return;
    plot.setAttribute('aria-label', told.says);
    drawFigure(plot, told.figure, room, tint);
  }

  function receive(value) {
    try { told = value ? JSON.parse(value) : null; } catch { return; } // half a message: the whole one follows
    draw();
  }

  redrawn(element, room, draw);
  loadPlotly(draw);

  watch('value', () => receive(props.value));
  receive(props.value);
}
