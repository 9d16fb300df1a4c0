// Fills the empty plotly figures of specviz/views/figures from the tables of tables.js: any figure, by its `meta`.
// Redraws rarely: at most every 400 ms, and so that charts take at most 4 % of the time whatever a redraw costs
// (its script is held to 3 %, the browser's painting after it is not seen from here).
// Without Plotly the rest of the page works and the charts say so.

const MIN_GAP = 400, DUTY = 33;

function makeCharts(host, store) {
  const grid = el('div', 'sv-charts'), charts = [];
  host.append(grid);
  let last = 0, cost = 0, timer = 0, theme = null, top = {};

  for (const { name, figure } of CONFIG.figures) {
    const meta = figure.layout.meta, box = el('figure', 'sv-chart'), plot = el('div', 'sv-plot'), words = el('span', 'sv-sr');
    box.setAttribute('aria-label', meta.title);
    plot.setAttribute('role', 'img');
    plot.setAttribute('aria-label', meta.title);
    add(grid, add(box, caption(figure), plot, words));
    charts.push({ name, figure, meta, box, plot, seen: true, made: false, stale: true, at: 0 });
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
    const update = { x: [], y: [], customdata: [], text: [] };
    for (const { meta: m } of figure.data) {
      const table = tables[m.table];
      update.x.push(table[m.x]);
      update.y.push(table[m.y]);
      update.customdata.push(m.custom.length ? table[m.x].map((_, i) => m.custom.map((name) => table[name][i])) : null);
      update.text.push(m.text ? table[m.text] : null);
    }
    const size = meta.over === 'steps' ? Math.max(store.n, 1) : Math.max(tables.positions.position.length, 1);
    const room = roomFor(size, meta.over), layout = { 'xaxis.range': [0.5, room + 0.5] };
    if (meta.over === 'positions') layout['xaxis.dtick'] = size > 16 ? 4 : 1;
    if (meta.grow) layout['yaxis.range'] = [0, ceiling(chart, update)];
    if (meta.changes) Object.assign(layout, marks(plot.clientWidth / room));
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
    // one slow step must not flatten the others: the axis follows the 98th percentile of longer runs
    const sorted = sums.length > 40 ? Float64Array.from(sums).sort() : null;
    high = sorted ? sorted[Math.floor(sorted.length * 0.98)] : Math.max(0, ...sums);
    update.y.forEach((y, i) => { if (chart.figure.data[i].type !== 'bar' && some(y[0])) high = Math.max(high, y[y.length - 1]); });
    return (top[chart.name] = Math.max(top[chart.name] || 0, niceCeil(high * 1.08)));
  }

  // A dotted line where a setting changed; its words stand above the plot in up to three rows, where they have room.
  function marks(pxPerStep) {
    const shapes = [], annotations = [], rule = isDark() ? '#9ca3af' : '#6b7280', ends = [-1, -1, -1];
    for (const { step, label } of store.changes.filter((c) => c.step <= store.shown).slice(-40)) {
      const x = step - 0.5, at = x * pxPerStep, row = ends.findIndex((end) => end < at);
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
