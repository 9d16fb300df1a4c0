// Entry of a sweep's pictures: draws finished plotly figures in the colours of the theme that is on, and offers their
// numbers as files made in the browser. The table beside them is page text. `element`, `props`, `watch` are Gradio's.

const room = element.querySelector('.sv-sweep');
const files = el('div', 'sv-sweep-files'), grid = el('div', 'sv-sweep-pictures');
room.replaceChildren();
add(room, grid, files);
let told = { pictures: [] }, plots = [];

const FILES = [['CSV', 'csv', 'text/csv'], ['JSON lines', 'jsonl', 'application/jsonl']];
for (const [name, kind, type] of FILES) {
  files.append(button('', 'Save as ' + name, '', () => {
    const url = URL.createObjectURL(new Blob([told[kind]], { type: type + ';charset=utf-8' })), link = el('a');
    link.href = url;
    link.download = 'specviz-sweep.' + kind;
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
  }));
}

const faded = (colour) => colour + '33';

function tint(trace, dark) {
  const colour = trace.meta?.colours?.[dark ? 1 : 0];
  if (!colour) return;
  if (trace.meta.band) trace.fillcolor = faded(colour);
  else {
    trace.line = { ...trace.line, color: colour };
    if (trace.marker) trace.marker = { ...trace.marker, color: colour };
  }
}

function draw() {
  if (!window.Plotly || !room.clientWidth) return;
  const dark = isDark(), style = getComputedStyle(room), rule = dark ? '#374151' : '#e3e7ed';
  told.pictures.forEach(({ figure }, i) => {
    const { data, layout } = structuredClone(figure);
    for (const trace of data) tint(trace, dark);
    layout.font = { size: 12, family: style.fontFamily, color: style.color };
    for (const axis of [layout.xaxis, layout.yaxis]) axis.gridcolor = rule;
    layout.hoverlabel = { ...layout.hoverlabel, bgcolor: dark ? '#111827' : '#ffffff', bordercolor: rule, font: { color: style.color } };
    window.Plotly.react(plots[i], data, layout, { displayModeBar: false, responsive: true, doubleClick: false });
  });
}

function receive(value) {
  try { told = JSON.parse(value || '{"pictures":[]}'); } catch { return; } // half a message: the whole one follows
  room.hidden = !told.pictures.length;
  room.classList.toggle('sv-no-plotly', !window.Plotly);
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

let width = 0;
new ResizeObserver(() => {
  if (room.clientWidth === width) return;
  width = room.clientWidth;
  draw();
}).observe(room);
new MutationObserver(draw).observe(document.body, { attributes: true, attributeFilter: ['class'] });

watch('value', () => receive(props.value));
receive(props.value);
