// Entry of an exported run (specviz/export/page.py): one document without a server. The views are those of the page, over
// a recording that the document brings along.

import { followBare } from './bare.js';
import { makeCard } from './card.js';
import { configure, CONFIG } from './config.js';
import { add, button, el } from './dom.js';
import { makeDrawing } from './drawing.js';
import { makeFragment } from './fragment.js';
import { makeHeadline } from './headline.js';
import { makeLive } from './live.js';
import { makePrint } from './print.js';
import { makeReach } from './pulse.js';
import { makeRibbon } from './ribbon.js';
import { say } from './say.js';
import { makeSlow } from './slow.js';
import { makeLegend, makeStatus } from './status.js';
import { makeStillCharts } from './still_charts.js';
import { makeStore } from './store.js';
import { makeTip } from './tip.js';
import { makeTransport } from './transport.js';
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
  makeParts(root, { store, live, view, relay, reach, parts, fragment });
  width.begin();
  live.showRecording(run, run.title, {}, fragment.step() ?? run.start);
}

// The parts, from top to bottom.
function makeParts(root, { store, live, view, relay, reach, parts, fragment }) {
  const top = el('div', 'sv-top'), hero = el('section', 'sv-hero'), lower = el('div', 'sv-lower');
  hero.setAttribute('aria-label', say('view.ribbon_section'));
  add(root, top, hero, lower);
  const moved = (settled) => {
    view.moved(settled);
    fragment.write();
  };
  parts.tip = makeTip(root);
  parts.status = makeStatus(top, { root, store, live, reach, trigger: () => {}, transport: () => parts.transport });
  parts.headline = makeHeadline(top, store);
  parts.legend = makeLegend(hero, root, parts, relay);
  parts.ribbon = makeRibbon(hero, store, (shown) => {
    if (store.shown === shown) return;
    store.shown = shown;
    moved(true);
  });
  hero.append(makeButtons());
  parts.transport = makeTransport(hero, root, store, live, parts, moved);
  parts.card = makeCard(lower, store, reach, () => {}, live.busy);
  parts.charts = makeStillCharts(lower, document.querySelector('.sv-analysis'), store, (shown) => parts.transport.goTo(shown));
  parts.slow = makeSlow(parts.card.top, store, parts, live, view.known);
  makePrint(root, parts);
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
