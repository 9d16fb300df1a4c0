// Finished plotly figures in the colours of the theme that is on, for the views that draw some (picture.js, sweep.js).

import { isDark } from './dom.js';

// `tint(trace, dark)` gives a trace its colours; font and lines are those of `room`.
export function drawFigure(plot, figure, room, tint) {
  const dark = isDark(room), style = getComputedStyle(room), rule = dark ? '#374151' : '#e3e7ed';
  const { data, layout } = structuredClone(figure);
  for (const trace of data) tint(trace, dark);
  layout.font = { size: 12, family: style.fontFamily, color: style.color };
  for (const axis of [layout.xaxis, layout.yaxis]) axis.gridcolor = rule;
  layout.hoverlabel = { align: 'left', bgcolor: dark ? '#111827' : '#ffffff', bordercolor: rule, font: { color: style.color } };
  window.Plotly.react(plot, data, layout, { displayModeBar: false, responsive: true, doubleClick: false });
}

// Calls `draw` whenever the room's width or the theme has changed. `element`: what holds the room, and is never hidden.
export function redrawn(element, room, draw) {
  let width = 0;
  new ResizeObserver(() => {
    if (room.clientWidth === width) return;
    width = room.clientWidth;
    draw();
  }).observe(element); // an empty room is hidden, and what is hidden has no size to watch
  new MutationObserver(draw).observe(document.body, { attributes: true, attributeFilter: ['class'] });
}
