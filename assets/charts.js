// Fills the empty plotly figures of specviz/views/figures from the tables of tables.js: any figure, by its `meta`.
// While a run goes one chart is filled at a time, the one that has waited longest, as often as `pause` says.
// Without Plotly the rest of the page works and the charts say so.

import { changeGroups, makeKey, placeLabels } from './changes.js';
import { CONFIG } from './config.js';
import { add, el, isDark, niceCeil, setText, some } from './dom.js';
import { markFailed } from './plotting.js';
import { chartTools, saveButtons } from './saving.js';
import { say } from './say.js';
import { positionTable, sentence, stepTable } from './tables.js';

// Which column places a row on the x axis, for marks and lines and for bars.
const AXES = {
  steps: { title: 'view.title_steps', point: 'step', bar: 'step' },
  tokens: { title: 'view.title_tokens', point: 'x_end', bar: 'x_mid' },
};
// In milliseconds: between two charts' first fillings in a run, between any two later ones at least, and within which
// each chart in sight has its turn; what a filling costs is to be at most a share 1 / DUTY of the time.
const AT_ONCE = 30, LEAST = 200, ROUND = 1200, DUTY = 30;
// What lies beside the plot in a chart's width (the margins of figures/base.py, a little more for long numbers).
const SIDES = 56;
// Size of a chart on paper, in CSS pixels: two beside each other upright, three across (print.css).
const PAPER = { autosize: false, width: 310, height: 180 };

// How long the next filling waits. Live comes first: where fillings are dear, a round of all charts in sight still takes
// no longer than ROUND. Example: pause([12, 80], 3, false) is 360, and pause([80], 3, false) is 400.
export function pause(costs, inSight, first) {
  if (first) return AT_ONCE;
  // the cheapest of the last ones: the others were held up by something else
  return Math.min(Math.max(LEAST, DUTY * Math.min(...costs)), ROUND / Math.max(1, inSight));
}

// Places between two ticks: a label for each where they are few, never more than fit.
export const tickEvery = (size) => (size > 16 ? 4 * Math.ceil(size / 64) : 1);

// What stands on a bar stands above one too low for it, and upright where bars are narrow. `high`: of the whole chart.
export function wordsOnBars(values, high) {
  const upright = values.length > 8, needs = (upright ? 44 : 18) / Math.max(60, high - 48);
  return { textposition: [values.map((v) => (v < needs ? 'outside' : 'inside'))], textangle: [upright ? -90 : 0] };
}

export function makeCharts(host, store, settled) {
  const room = el('section', 'sv-analysis'), grid = el('div', 'sv-charts'), charts = [], key = makeKey();
  room.setAttribute('aria-label', say('view.charts'));
  let last = 0, costs = [], timer = 0, theme = null, top = {}, axis = 'steps';
  add(room, add(chartTools(store, (name) => { axis = name; if (charts.length) api.retheme(); }), key.box), grid);
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
    return Object.values(fates).find((f) => f.name === role)[dark ? 'dark' : 'light'].line;
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
    const { title, means } = figure.layout.meta, node = el('figcaption', 'sv-chart-title'), name = el('span', 'sv-chart-name', title);
    name.tabIndex = 0;
    name.setAttribute('role', 'note');
    name._tip = () => [title, means];
    node.append(name);
    for (const trace of figure.data) {
      const kind = trace.type === 'bar' ? 'bar' : trace.mode === 'markers' ? 'dot' : trace.line?.dash ? 'dash' : 'line';
      const key = el('span', 'sv-key sv-key-' + kind);
      key.style.setProperty('--sv-key', 'var(--sv-' + trace.meta.role + ')');
      const item = add(el('span', 'sv-key-item'), key, trace.name);
      // the legend names the target alone from when it has been timed
      item.hidden = trace.meta.role === 'alone';
      item.dataset.role = trace.meta.role;
      add(node, item);
    }
    add(node, el('span', 'sv-key-item sv-beyond'));
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
    chart.layout = '';
  }

  function tint(trace, dark) {
    const colour = paint(trace.meta.role, dark);
    if (trace.line) trace.line.color = colour;
    if (trace.marker) trace.marker.color = colour;
    if (trace.textposition) {
      trace.insidetextfont = { color: dark ? '#0b0f19' : '#ffffff' };
      trace.outsidetextfont = { color: getComputedStyle(grid).color };
    }
  }

  function fill(chart, tables) {
    const { figure, meta, plot } = chart;
    const update = { x: [], y: [], customdata: [], text: [] }, by = AXES[meta.over === 'steps' ? axis : 'steps'];
    // bars of tokens are as wide as their step is long; undefined leaves a trace alone, null lets plotly choose
    update.width = figure.data.map((t) => (t.type !== 'bar' ? undefined : by === AXES.steps ? null : tables.steps.x_wide.map((w) => 0.85 * w)));
    if (meta.over !== 'steps') delete update.width;
    for (const { meta: m, type } of figure.data) {
      const table = tables[m.table];
      update.x.push(table[m.x === 'step' ? by[type === 'bar' ? 'bar' : 'point'] : m.x]);
      update.y.push(table[m.y]);
      update.customdata.push(m.custom.length ? table[m.x].map((_, i) => m.custom.map((name) => table[name][i])) : null);
      update.text.push(m.text ? table[m.text] : null);
    }
    if (meta.over === 'positions') Object.assign(update, wordsOnBars(tables.positions.alpha, plot.clientHeight));
    const size = meta.over !== 'steps' ? tables.positions.position.length : axis === 'steps' ? store.n : store.sum(store.n).tokens;
    const room = roomFor(Math.max(size, 1), meta.over), layout = { 'xaxis.range': [0.5, room + 0.5] };
    if (meta.over === 'steps') layout['xaxis.title.text'] = say(by.title);
    if (meta.over === 'positions') layout['xaxis.dtick'] = tickEvery(size);
    if (meta.grow) layout['yaxis.range'] = [0, ceiling(chart, update)];
    figure.data.forEach((t, i) => {
      if (t.meta.role === 'alone') chart.box.querySelector('.sv-key-item[data-role=alone]').hidden = !update.y[i].some(some);
    });
    if (meta.changes) Object.assign(layout, marks(chart, room, axis));
    // a layout that says the same again would be laid out again
    const wanted = JSON.stringify(layout);
    if (wanted === chart.layout) window.Plotly.restyle(plot, update);
    else window.Plotly.update(plot, update, layout);
    chart.layout = wanted;
    const table = tables[meta.over], words = sentence(meta.says, table);
    plot.setAttribute('aria-label', meta.title + ': ' + (words || say('view.nothing_yet')));
    chart.stale = false;
  }

  // Ranges only grow, in round numbers, so that nothing jumps while a run goes.
  const roomFor = (n, over) => {
    if (over !== 'steps') return Math.max(4, n);
    for (let room = 20; ; room *= 2) for (const m of [1, 1.5]) if (n <= room * m) return room * m;
  };

  function ceiling(chart, update) {
    const of = (kind) => update.y.filter((_, i) => kind(chart.figure.data[i])), bars = of((t) => t.type === 'bar');
    const sums = bars.length ? bars[0].map((_, i) => bars.reduce((s, b) => s + (b[i] || 0), 0)) : [];
    const high = Math.max(crest(sums), ...of((t) => t.mode).flat().filter(some));
    const most = (top[chart.name] = Math.max(top[chart.name] || 0, niceCeil(high * 1.08)));
    const beyond = sums.filter((sum) => sum > most);
    setText(chart.box.querySelector('.sv-beyond'), beyond.length ? say('view.bars_beyond',
      { n: beyond.length, most: Math.max(...beyond).toFixed(0) + ' ' + chart.figure.layout.yaxis.title.text }) : '');
    return most;
  }

  // One odd step must not flatten the others: of a long run's bars the axis follows the 98th percentile, and says so.
  function crest(values) {
    const known = values.filter(some);
    return known.length > 40 ? Float64Array.from(known).sort()[Math.floor(known.length * 0.98)] : Math.max(0, ...known);
  }

  // A dotted line where a setting changed, and its words above the plot.
  function marks(chart, room, axis) {
    const rule = isDark(host) ? '#9ca3af' : '#6b7280', wide = chart.plot.clientWidth - SIDES;
    const start = (step) => (axis === 'steps' ? step - 1 : store.sums[step - 1].tokens);
    chart.groups = changeGroups(store, (step) => (wide * start(step)) / room);
    const { numbered, rows, labels } = placeLabels(chart.groups, wide);
    chart.numbered = numbered;
    const shapes = chart.groups.flatMap((g) => g.lines).map((step) => {
      const x = start(step) + 0.5;
      return { type: 'line', xref: 'x', yref: 'paper', x0: x, x1: x, y0: 0, y1: 1, line: { color: rule, width: 1, dash: 'dot' } };
    });
    const annotations = labels.map(({ row, text, anchor }, i) => ({
      x: start(chart.groups[i].from) + 0.5, xref: 'x', y: 1, yref: 'paper', yshift: 12 * row, text: escapeText(text), showarrow: false,
      xanchor: anchor, yanchor: 'bottom', font: { size: 11 }, hovertext: escapeText(say('view.from_step', { n: chart.groups[i].step, label: chart.groups[i].label })),
    }));
    return { shapes, annotations, 'margin.t': 8 + 13 * rows };
  }

  const inSight = () => charts.filter((c) => c.seen && c.plot.clientWidth);

  // While a run goes one chart a turn, the one that has waited longest; all at once when things have settled.
  // `now`: whatever the width may still become.
  function draw(all, now) {
    timer = 0;
    if (!host.isConnected) return;
    markFailed(grid, 'view.charts_failed');
    if (!window.Plotly) return;
    const start = performance.now(), dark = isDark(host);
    if (theme !== dark) { theme = dark; for (const chart of charts) chart.made = false; }
    for (const chart of charts) if (chart.meta.needs) reveal(chart);
    const todo = inSight().filter((c) => c.stale || !c.made).sort((a, b) => a.at - b.at);
    const tables = {}, usual = todo.length && todo[0].made && store.known > 0;
    // while the page finds its width a new chart would be drawn for another one
    if (!now && todo.some((c) => !c.made) && !settled()) return void (timer = setTimeout(draw, 100, all));
    for (const chart of all ? todo : todo.slice(0, 1)) {
      const over = chart.meta.over;
      tables[over] ||= over === 'steps' ? stepTable(store, store.known) : positionTable(store, store.known);
      if (!chart.made) make(chart, dark);
      fill(chart, tables);
      // an empty chart has not had its turn
      chart.at = store.known ? performance.now() : 0;
    }
    key.show(charts.find((c) => c.numbered && c.seen)?.groups);
    last = performance.now();
    // what is made anew or emptied says nothing of what a filling costs
    if (usual && !all) costs = [...costs.slice(-4), last - start];
    if (!all && todo.length > 1) later();
  }

  // A chart that needs what has not been measured is not there.
  function reveal(chart) {
    const column = stepTable(store, store.known, 1)[chart.meta.needs];
    const hide = !some(column[column.length - 1]);
    if (chart.box.hidden === hide) return;
    chart.box.hidden = hide;
    requestAnimationFrame(fit); // those after it move to another column, which may be narrower
  }

  function fit() {
    for (const chart of charts) if (chart.made && chart.plot.clientWidth) window.Plotly.Plots.resize(chart.plot);
  }

  function later() {
    if (timer) return;
    const seen = inSight(), first = seen.some((c) => c.stale && !c.at);
    timer = setTimeout(draw, Math.max(0, last + pause(costs, seen.length, first) - performance.now()), false);
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
    // Another run: what is drawn of the one before is none of its own.
    restart() {
      top = {};
      for (const chart of charts) chart.at = 0;
    },
    // The component's width changes without the window's (a side bar opens): plotly does not see that by itself.
    resize() {
      if (!window.Plotly) return;
      fit();
      api.retheme();
    },
    retheme() { for (const chart of charts) chart.stale = true; api.soon(); },
    // For paper: every chart drawn at once, seen or not, at a size of its own (print.css). Returns what undoes it.
    whole() {
      const seen = charts.map((chart) => chart.seen), shown = charts.filter((chart) => !chart.box.hidden);
      for (const chart of shown) Object.assign(chart, { seen: true, stale: true });
      draw(true, true);
      const drawn = shown.filter((chart) => chart.made);
      for (const { plot } of drawn) window.Plotly.relayout(plot, PAPER);
      return () => {
        charts.forEach((chart, i) => { chart.seen = seen[i]; });
        for (const { plot } of drawn) window.Plotly.relayout(plot, { autosize: true, width: null, height: null });
      };
    },
  };
  return api;
}

// Plotly reads a little markup in labels; strategy names must not become any.
const escapeText = (s) => s.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
