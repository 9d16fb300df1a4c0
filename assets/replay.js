// Entry of an exported run (specviz/export/page.py): one document without a server. The views are those of the page, over
// a recording that the document brings along.

import { followBare } from './bare.js';
import { configure, CONFIG } from './config.js';
import { add, button, el } from './dom.js';
import { makeDrawing } from './drawing.js';
import { makeFragment } from './fragment.js';
import { makeLive } from './live.js';
import { makeParts } from './parts.js';
import { makeReach } from './pulse.js';
import { makeStillCharts } from './still_charts.js';
import { makeStore } from './store.js';
import { watchWidth } from './width.js';

const dataOf = (id) => JSON.parse(document.getElementById(id).textContent);

export function mount() {
  configure(dataOf('specviz-config'));
  const run = dataOf('specviz-run'), root = document.querySelector('.sv-root');
  followTheme();
  followBare();
  const store = makeStore(), reach = makeReach(), parts = {};
  const { view, relay } = makeDrawing(store, parts, reach);
  const live = parts.live = makeLive(store, view, root, null, () => {});
  const width = watchWidth(root, relay), fragment = makeFragment(store, (shown) => parts.transport.goTo(shown));
  const nothing = () => {}, goTo = (shown) => parts.transport.goTo(shown);
  const moved = (settled) => {
    view.moved(settled);
    fragment.write();
  };
  const charts = (host) => makeStillCharts(host, document.querySelector('.sv-analysis'), store, goTo);
  const buttons = makeButtons();
  makeParts(root, { store, live, view, relay, reach, parts, trigger: nothing, moved, ask: nothing, charts, buttons });
  width.begin();
  live.showRecording(run, run.title, {}, fragment.step() ?? run.start);
}

// The buttons that belong to the page around the view (transport.js).
function makeButtons() {
  const { names, speeds, speed } = CONFIG.export, box = el('div'), menu = el('select'), label = el('label', '', names.speed_name + ' ');
  box.id = 'sv-transport';
  label.id = 'sv-speed';
  for (const words of speeds) menu.append(new Option(words, words, words === speed, words === speed));
  for (const name of ['play', 'pause', 'step']) {
    const node = button('sv-run-button', names[name], names[name]);
    node.id = 'sv-' + name;
    box.append(node);
  }
  return add(box, add(label, menu));
}

function followTheme() {
  const dark = matchMedia('(prefers-color-scheme: dark)'), set = () => document.body.classList.toggle('dark', dark.matches);
  dark.addEventListener('change', set);
  set();
}
