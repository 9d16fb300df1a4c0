// Entry of the live view: builds the parts in the component's root and gives each what it needs. `element`, `props`,
// `watch`, `server` and `trigger` are Gradio's.

import { followBare } from './bare.js';
import { makeCard } from './card.js';
import { makeCharts } from './charts.js';
import { add, el } from './dom.js';
import { makeDrawing } from './drawing.js';
import { fixWidgets, whenMounted } from './gradio_fixes/all.js';
import { fixClosingStream } from './gradio_fixes/closing_stream.js';
import { fixLostConnection } from './gradio_fixes/lost_connection.js';
import { makeUnheard } from './gradio_fixes/unheard.js';
import { makeHeadline } from './headline.js';
import { fillLanguageLinks } from './language.js';
import { makeLive } from './live.js';
import { loadPlotly } from './plotting.js';
import { placeNotes } from './notes.js';
import { makePrint } from './print.js';
import { makePulse, makeReach } from './pulse.js';
import { makeRibbon } from './ribbon.js';
import { makeRuns } from './runs.js';
import { say } from './say.js';
import { makeSlow } from './slow.js';
import { makeLegend, makeStatus } from './status.js';
import { makeStore } from './store.js';
import { makeTip } from './tip.js';
import { keepFromTranslation } from './translation.js';
import { makeTransport } from './transport.js';
import { watchWidth } from './width.js';

// How long a step must be looked at before its candidates are asked for: while a run goes, and else.
const ASK_PLAYING_MS = 250, ASK_MS = 30;

export function mount({ element, props, watch, server, trigger }) {
  const root = element.querySelector('.sv-root');
  root.replaceChildren();
  followBare();
  const store = makeStore(), reach = makeReach(), parts = {};
  const { view, relay } = makeDrawing(store, parts, reach);
  const live = parts.live = makeLive(store, view, root, server, trigger);
  const width = watchWidth(root, relay);
  makeParts(element, root, { store, live, view, relay, reach, parts, trigger, width });
  width.begin();
  new MutationObserver(() => parts.charts.retheme()).observe(document.body, { attributes: true, attributeFilter: ['class'] });

  const pulse = makePulse(root, live, store, view, reach);
  fixLostConnection(pulse.lost, pulse.answered);
  const stream = fixClosingStream(() => trigger('listen', {}));
  whenMounted(() => {
    fixWidgets(element, live);
    keepFromTranslation();
    fillLanguageLinks();
    placeNotes(element);
    parts.transport.update(); // its buttons may not have been there
  });
  view.fresh();
  watch('value', () => {
    stream.heard();
    live.receive(props.value);
  });
  if (props.value) live.receive(props.value);
  live.open(new URLSearchParams(location.search).get('trace') || '');
  pulse.poll();
}

// The parts, from top to bottom.
function makeParts(element, root, { store, live, view, relay, reach, parts, trigger, width }) {
  const top = el('div', 'sv-top'), hero = el('section', 'sv-hero'), lower = el('div', 'sv-lower');
  let askTimer = 0;
  hero.setAttribute('aria-label', say('view.ribbon_section'));
  add(root, top, hero, lower);
  parts.tip = makeTip(root);
  parts.status = makeStatus(top, { root, store, live, reach, trigger, transport: () => parts.transport });
  parts.headline = makeHeadline(top, store);
  parts.legend = makeLegend(hero, root, parts, relay);
  parts.ribbon = makeRibbon(hero, store, (shown) => {
    if (store.shown === shown) return;
    store.shown = shown;
    view.moved(true);
  });
  parts.transport = makeTransport(hero, root, store, live, parts, view.moved);
  parts.card = makeCard(lower, store, reach, (step) => {
    clearTimeout(askTimer);
    // ask for a step that is looked at, not for every one that rushes by
    if (!store.details.has(step.i)) askTimer = setTimeout(() => live.details(step.i), live.state() === 'playing' ? ASK_PLAYING_MS : ASK_MS);
  }, live.busy);
  parts.charts = makeCharts(lower, store, width.settled);
  loadPlotly(() => parts.charts.soon());
  parts.slow = makeSlow(parts.card.top, store, parts, live, view.known);
  parts.runs = makeRuns(parts.legend, root, store, live, trigger);
  parts.unheard = makeUnheard(element, live, reach);
  makePrint(root, parts);
}
