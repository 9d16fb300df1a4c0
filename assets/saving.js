// What the visitor takes home from the charts: pictures and a table, made in the browser. And the switch of the x axis.

import { stepsCsv } from './csv.js';
import { add, button, download, el, isDark, saveText } from './dom.js';
import { say } from './say.js';

export function saveButtons(chart) {
  const box = el('span', 'sv-saves');
  for (const kind of ['png', 'svg']) {
    const name = say('view.save_as', { title: chart.meta.title, kind: kind.toUpperCase() });
    const node = button('sv-save', kind.toUpperCase(), name, () => saveChart(chart, kind));
    node._tip = () => [name, say('view.save_about')];
    box.append(node);
  }
  return box;
}

// On the page title and legend are page text; a picture has to carry its own.
async function saveChart(chart, kind) {
  if (!window.Plotly || !chart.made) return;
  const { plot, meta, name } = chart, style = getComputedStyle(plot.closest('.sv-root')), title = { text: meta.title, font: { size: 20 }, x: 0.5, xanchor: 'center' };
  const layout = structuredClone(plot.layout), page = isDark(plot) ? '#0f172a' : '#ffffff';
  delete layout.width;
  delete layout.height;
  Object.assign(layout, {
    title, showlegend: true, legend: { orientation: 'h', traceorder: 'normal', x: 0.5, xanchor: 'center', y: -0.2, yanchor: 'top' },
    paper_bgcolor: page, plot_bgcolor: page, margin: { l: 70, r: 30, t: 60 + (layout.margin?.t || 0), b: 90 },
    font: { ...layout.font, size: 15, family: style.fontFamily },
  });
  for (const axis of [layout.xaxis, layout.yaxis]) axis.title = { ...axis.title, font: { size: 15 } };
  const data = plot.data.map((trace) => ({ ...trace, showlegend: true }));
  download('specviz-' + name.replace(/\W+/g, '-') + '.' + kind,
    await window.Plotly.toImage({ data, layout }, { format: kind, width: 960, height: 540, scale: kind === 'png' ? 2 : 1 }));
}

// Above the charts: steps | tokens on the x axis, and the table of all steps.
export function chartTools(store, onAxis) {
  const row = el('div', 'sv-chart-tools'), pick = el('div', 'sv-axis'), buttons = {};
  pick.setAttribute('role', 'group');
  pick.setAttribute('aria-label', say('view.axis_of'));
  const set = (name) => {
    for (const key of Object.keys(buttons)) buttons[key].setAttribute('aria-pressed', String(key === name));
    onAxis(name);
  };
  for (const name of ['steps', 'tokens']) {
    buttons[name] = button('sv-toggle', say('view.axis_' + name), say('view.axis_in', { what: say('view.axis_' + name) }), () => {
      try { localStorage.setItem('specviz.axis', name); } catch { /* private window */ }
      set(name);
    });
  }
  let kept = null;
  try { kept = localStorage.getItem('specviz.axis'); } catch { /* same */ }
  set(kept in buttons ? kept : 'steps');
  const csv = button('', say('view.to_csv'), '', () => {
    saveText('specviz-steps.csv', stepsCsv(store), 'text/csv;charset=utf-8');
  });
  csv._tip = () => [say('view.to_csv'), say('view.csv_about', { steps: say('view.in_steps', { n: store.n }) })];
  return add(row, add(pick, el('span', 'sv-muted', say('view.axis') + ' '), buttons.steps, buttons.tokens), csv);
}
