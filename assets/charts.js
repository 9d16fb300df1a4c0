// Fills the empty plotly figures of specviz/views/figures from the tables of tables.js: any figure, by its `meta`.
// Redraws rarely: at most every 400 ms, and so that charts take at most 2 % of the time whatever a redraw costs
// (its script is held to 3 %, the browser's painting after it is not seen from here).
// Without Plotly the rest of the page works and the charts say so.

// Which column places a row on the x axis, for marks and lines and for bars.
const AXES = {
  steps: { title: 'step', point: 'step', bar: 'step' },
  tokens: { title: 'output tokens', point: 'x_end', bar: 'x_mid' },
};
const MIN_GAP = 400, DUTY = 50;

function makeCharts(host, store) {
  const room = el('section', 'sv-analysis'), grid = el('div', 'sv-charts'), charts = [];
  room.setAttribute('aria-label', 'Charts');
  let last = 0, cost = 0, timer = 0, theme = null, top = {}, axis = 'steps';
  add(room, chartTools(store, (name) => { axis = name; if (charts.length) api.retheme(); }), grid);
  host.append(room);

  for (const { name, figure } of CONFIG.figures) {
    const meta = figure.layout.meta, box = el('figure', 'sv-chart'), plot = el('div', 'sv-plot'), words = el('span', 'sv-sr');
    box.setAttribute('aria-label', meta.title);
    plot.setAttribute('role', 'img');
    plot.setAttribute('aria-label', meta.title);
    const chart = { name, figure, meta, box, plot, seen: true, made: false, stale: true, at: 0 };
    box.hidden = !!meta.needs;
    add(grid, add(box, caption(figure), plot, saveButtons(chart), words));
    charts.push(chart);
  }
  const eye = 'IntersectionObserver' in window ? new IntersectionObserver((entries) => {
    for (const entry of entries) {
      const chart = charts.find((c) => c.box === entry.target);
      chart.seen = entry.isIntersecting;
      if (chart.seen && chart.stale) api.soon();
    }
  }, { rootMargin: '80px' }) : null;
  if (eye) for (const chart of charts) eye.observe(chart.box);

  const paint = (role, dark) => {
    const { roles, fates } = CONFIG.palette;
    if (roles[role]) return roles[role][dark ? 1 : 0];
    return Object.values(fates).find((f) => f.word === role)[dark ? 'dark' : 'light'].line;
  };

  function skin(dark) {
    const style = getComputedStyle(grid), ink = style.color, rule = dark ? '#374151' : '#e3e7ed';
    return {
      'font.color': ink, 'font.family': style.fontFamily, 'font.size': parseFloat(style.fontSize) || 12,
      'xaxis.gridcolor': rule, 'yaxis.gridcolor': rule, 'hoverlabel.bgcolor': dark ? '#111827' : '#ffffff',
      'hoverlabel.font.color': ink, 'hoverlabel.bordercolor': rule,
    };
  }

  // Title and legend as page text: sharper, cheaper to draw than plotly's, and it wraps.
  function caption(figure) {
    const node = el('figcaption', 'sv-chart-title', figure.layout.meta.title);
    for (const trace of figure.data) {
      const kind = trace.type === 'bar' ? 'bar' : trace.mode === 'markers' ? 'dot' : trace.line?.dash ? 'dash' : 'line';
      const key = el('span', 'sv-key sv-key-' + kind);
      key.style.setProperty('--sv-key', 'var(--sv-' + trace.meta.role + ')');
      add(node, add(el('span', 'sv-key-item'), key, trace.name));
    }
    return node;
  }

  function make(chart, dark) {
    const { figure, meta } = chart, layout = structuredClone(figure.layout);
    chart.meta = meta;
    for (const [path, value] of Object.entries(skin(dark))) {
      const keys = path.split('.'), tail = keys.pop();
      let at = layout;
      for (const key of keys) at = at[key] ||= {};
      at[tail] = value;
    }
    const data = structuredClone(figure.data);
    for (const trace of data) tint(trace, dark);
    window.Plotly.newPlot(chart.plot, data, layout, { displayModeBar: false, responsive: true, doubleClick: false });
    chart.made = true;
  }

  function tint(trace, dark) {
    const colour = paint(trace.meta.role, dark);
    if (trace.line) trace.line.color = colour;
    if (trace.marker) trace.marker.color = colour;
    if (trace.text !== undefined || trace.textposition) trace.textfont = { color: dark ? '#0b0f19' : '#ffffff' };
  }

  function fill(chart, tables) {
    const { figure, meta, plot } = chart;
    const update = { x: [], y: [], customdata: [], text: [] }, by = AXES[meta.over === 'steps' ? axis : 'steps'];
    // bars of tokens are as wide as their step is long; undefined leaves a trace alone, null lets plotly choose
    update.width = figure.data.map((t) => (t.type !== 'bar' ? undefined : by.title === 'step' ? null : tables.steps.x_wide.map((w) => 0.85 * w)));
    if (meta.over !== 'steps') delete update.width;
    for (const { meta: m, type } of figure.data) {
      const table = tables[m.table];
      update.x.push(table[m.x === 'step' ? by[type === 'bar' ? 'bar' : 'point'] : m.x]);
      update.y.push(table[m.y]);
      update.customdata.push(m.custom.length ? table[m.x].map((_, i) => m.custom.map((name) => table[name][i])) : null);
      update.text.push(m.text ? table[m.text] : null);
    }
    const size = meta.over !== 'steps' ? tables.positions.position.length : axis === 'steps' ? store.n : store.sum(store.n).tokens;
    const room = roomFor(Math.max(size, 1), meta.over), layout = { 'xaxis.range': [0.5, room + 0.5] };
    if (meta.over === 'steps') layout['xaxis.title.text'] = by.title;
    if (meta.over === 'positions') layout['xaxis.dtick'] = size > 16 ? 4 : 1;
    if (meta.grow) layout['yaxis.range'] = [0, ceiling(chart, update)];
    if (meta.changes) Object.assign(layout, marks(plot.clientWidth / room, axis));
    window.Plotly.update(plot, update, layout);
    const table = tables[meta.over], words = sentence(meta.says, table);
    plot.setAttribute('aria-label', meta.title + ': ' + (words || 'nothing yet'));
    chart.stale = false;
  }

  // Ranges only grow, in round numbers, so that nothing jumps while a run goes.
  const roomFor = (n, over) => {
    if (over !== 'steps') return Math.max(4, n);
    for (let room = 20; ; room *= 2) for (const m of [1, 1.5]) if (n <= room * m) return room * m;
  };

  function ceiling(chart, update) {
    const bars = chart.figure.data.map((t, i) => (t.type === 'bar' ? update.y[i] : null)).filter(Boolean);
    let high = 0;
    const sums = bars.length ? bars[0].map((_, i) => bars.reduce((s, b) => s + (b[i] || 0), 0)) : [];
    for (const values of [sums, ...update.y.filter((_, i) => chart.figure.data[i].type !== 'bar')]) high = Math.max(high, crest(values));
    return (top[chart.name] = Math.max(top[chart.name] || 0, niceCeil(high * 1.08)));
  }

  // One odd step must not flatten the others: the axis follows the 98th percentile of longer runs.
  function crest(values) {
    const known = values.filter(some);
    return known.length > 40 ? Float64Array.from(known).sort()[Math.floor(known.length * 0.98)] : Math.max(0, ...known);
  }

  // A dotted line where a setting changed; its words stand above the plot in up to three rows, where they have room.
  function marks(pxPerStep, axis) {
    const shapes = [], annotations = [], rule = isDark() ? '#9ca3af' : '#6b7280', ends = [-1, -1, -1];
    for (const { step, label } of store.changes.filter((c) => c.step <= store.shown).slice(-40)) {
      const x = (axis === 'steps' ? step - 1 : store.sums[step - 1].tokens) + 0.5, at = x * pxPerStep, row = ends.findIndex((end) => end < at);
      shapes.push({ type: 'line', xref: 'x', yref: 'paper', x0: x, x1: x, y0: 0, y1: 1, line: { color: rule, width: 1, dash: 'dot' } });
      if (row < 0) continue;
      ends[row] = at + 8 + 6.4 * label.length;
      annotations.push({ x, xref: 'x', y: 1, yref: 'paper', yshift: 12 * row, text: escapeText(label), showarrow: false, xanchor: 'left', yanchor: 'bottom', font: { size: 11 } });
    }
    const rows = ends.filter((end) => end > 0).length;
    return { shapes, annotations, 'margin.t': 8 + 13 * rows };
  }

  // While a run goes one chart a turn, the one that has waited longest; all at once when things have settled.
  function draw(all) {
    timer = 0;
    if (!element.isConnected) return;
    grid.classList.toggle('sv-no-plotly', !window.Plotly);
    if (!window.Plotly) return;
    const start = performance.now(), dark = isDark();
    if (theme !== dark) { theme = dark; for (const chart of charts) chart.made = false; }
    for (const chart of charts) if (chart.meta.needs) reveal(chart);
    const todo = charts.filter((c) => c.seen && (c.stale || !c.made) && c.plot.clientWidth).sort((a, b) => a.at - b.at);
    const tables = {};
    for (const chart of all ? todo : todo.slice(0, 1)) {
      const over = chart.meta.over;
      tables[over] ||= over === 'steps' ? stepTable(store, store.shown) : positionTable(store, store.shown);
      if (!chart.made) make(chart, dark);
      fill(chart, tables);
      chart.at = performance.now();
    }
    last = performance.now();
    cost = last - start;
    if (!all && todo.length > 1) later();
  }

  // A chart that needs what has not been measured is not there.
  function reveal(chart) {
    const column = stepTable(store, store.shown, 1)[chart.meta.needs];
    chart.box.hidden = !some(column[column.length - 1]);
  }

  function later() {
    if (!timer) timer = setTimeout(draw, Math.max(0, last + Math.max(MIN_GAP, DUTY * cost) - performance.now()), false);
  }

  const api = {
    // Something changed: redraw when it is affordable.
    touch() {
      for (const chart of charts) chart.stale = true;
      later();
    },
    // A pause, a stop, the end of a scrub: draw now.
    soon() {
      clearTimeout(timer);
      timer = setTimeout(draw, 0, true);
    },
    restart() { top = {}; },
    // The component's width changes without the window's (a side bar opens): plotly does not see that by itself.
    resize() {
      if (!window.Plotly) return;
      for (const chart of charts) if (chart.made && chart.plot.clientWidth) window.Plotly.Plots.resize(chart.plot);
      api.retheme();
    },
    retheme() { for (const chart of charts) chart.stale = true; api.soon(); },
  };
  return api;
}

// Plotly reads a little markup in labels; strategy names must not become any.
const escapeText = (s) => s.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
