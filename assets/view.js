// Entry of the live view: builds the parts in the component's root and gives each what it needs. `element`, `props`,
// `watch`, `server` and `trigger` are Gradio's.

import { followBare } from './bare.js';
import { makeCharts } from './charts.js';
import { makeDrawing } from './drawing.js';
import { fixWidgets, whenMounted } from './gradio_fixes/all.js';
import { fixClosingStream } from './gradio_fixes/closing_stream.js';
import { fixLostConnection } from './gradio_fixes/lost_connection.js';
import { makeUnheard } from './gradio_fixes/unheard.js';
import { fillLanguageLinks } from './language.js';
import { makeLive } from './live.js';
import { placeNotes } from './notes.js';
import { makeParts } from './parts.js';
import { loadPlotly } from './plotting.js';
import { makePulse, makeReach } from './pulse.js';
import { makeRuns } from './runs.js';
import { makeStore } from './store.js';
import { keepFromTranslation } from './translation.js';
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
  const charts = (host) => makeCharts(host, store, width.settled);
  makeParts(root, { store, live, view, relay, reach, parts, trigger, moved: view.moved, ask: makeAsk(store, live), charts });
  loadPlotly(() => parts.charts.soon());
  parts.runs = makeRuns(parts.legend, root, store, live, trigger);
  parts.unheard = makeUnheard(element, live, reach);
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

// Asks for the candidates of a step that is looked at, not of every one that rushes by.
function makeAsk(store, live) {
  let timer = 0;
  return (step) => {
    clearTimeout(timer);
    if (!store.details.has(step.i)) timer = setTimeout(() => live.details(step.i), live.state() === 'playing' ? ASK_PLAYING_MS : ASK_MS);
  };
}
