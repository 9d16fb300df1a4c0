// Entry of the live view: builds the parts in the component's root, passes what changed to the parts it concerns, and
// draws at most once a frame. `element`, `props`, `watch` and `server` are Gradio's.

const root = element.querySelector('.sv-root');
root.replaceChildren();

const store = makeStore();
const parts = {};
const dirty = new Set();
let frameAsked = 0;

function want(...names) {
  for (const name of names) dirty.add(name);
  // a hidden tab gets no animation frames; what piled up is drawn when it is shown again
  if (!frameAsked) frameAsked = requestAnimationFrame(flush);
}

let cardAt = 0, cardTimer = 0, askTimer = 0, widthAt = 0, relayTimer = 0;

function flush() {
  frameAsked = 0;
  const names = new Set(dirty);
  dirty.clear();
  for (const name of ['headline', 'transport', 'status']) if (names.has(name)) parts[name].update();
  if (names.has('card')) {
    clearTimeout(cardTimer);
    // nobody reads a card that changes more than twice a second
    const wait = cardAt + 600 - performance.now();
    if (wait <= 0 || live.state() !== 'playing') drawCard();
    else cardTimer = setTimeout(drawCard, wait);
  }
  // last, since it asks for positions: one layout a frame
  if (names.has('ribbon')) parts.ribbon.update();
  parts.slow.drawn();
}

function relay() {
  parts.ribbon.relay();
  parts.card.resize();
  parts.slow.drawn();
}

function drawCard() {
  cardAt = performance.now();
  parts.card.update();
}

const view = {
  fresh() {
    parts.card.forget();
    parts.charts.restart();
    parts.transport.stopReplay();
    parts.tip.hide();
    parts.slow.fresh();
    want('ribbon', 'headline', 'transport', 'card', 'status');
    parts.charts.touch();
  },
  steps() {
    want('ribbon', 'headline', 'transport', 'card', 'status');
    parts.charts.touch();
    parts.tip.refresh();
  },
  // the result of a step came into sight, or is kept back while the step is explained
  known() {
    parts.headline.update();
    parts.status.update();
    parts.charts.touch();
  },
  moved(settled) {
    if (settled) parts.slow.look();
    parts.tip.refresh();
    want('ribbon', 'headline', 'transport', 'card', 'status');
    parts.charts.touch();
    if (settled) parts.charts.soon();
  },
  state() {
    want('status', 'transport');
    if (!store.n) want('card'); // what it says before the first step depends on the state
    if (live && !BUSY.includes(live.state())) parts.charts.soon();
  },
  answered() { closeDrawer(); },
  plays() { parts.transport.holdIfSlow(); },
  baseline() { want('headline'); parts.charts.touch(); parts.charts.soon(); },
  detailed(i) { parts.card.detailed(i); },
  models(reply) { parts.status.models(reply); },
  reach() {
    const step = store.last();
    want('status');
    parts.unheard.update();
    if (!step) return;
    parts.card.detailed(step.i); // why there are no candidates is told there
    if (!reach.gone) live.details(step.i);
  },
  all() { want('ribbon', 'headline', 'transport', 'card', 'status'); parts.charts.retheme(); },
};

let live = null;
live = makeLive(store, view);

// --- the parts, from top to bottom
const top_ = el('div', 'sv-top'), hero = el('section', 'sv-hero'), lower = el('div', 'sv-lower');
hero.setAttribute('aria-label', 'Ribbon of tokens');
add(root, top_, hero, lower);
parts.tip = makeTip(root);
parts.status = makeStatus(top_, store, live, () => parts.transport);
parts.headline = makeHeadline(top_, store);
parts.legend = makeLegend(hero, root, store, () => { relay(); parts.charts.resize(); });
parts.ribbon = makeRibbon(hero, store, (shown) => { if (store.shown !== shown) { store.shown = shown; view.moved(true); } });
parts.transport = makeTransport(hero, store, live, view.moved);
parts.card = makeCard(lower, store, (step) => {
  clearTimeout(askTimer);
  // ask for a step that is looked at, not for every one that rushes by
  if (!store.details.has(step.i)) askTimer = setTimeout(() => live.details(step.i), live.state() === 'playing' ? 250 : 30);
}, () => BUSY.includes(live.state()));
parts.charts = makeCharts(lower, store, () => performance.now() - widthAt > 200);
loadPlotly(() => parts.charts.soon());
parts.slow = makeSlow(parts.card.top, store, parts, live, view.known);

parts.runs = makeRuns(parts.legend, root, store, live);
parts.unheard = makeUnheard(live);
makePrint(parts);

// --- width in three sizes, by the component's own width (Gradio drops container queries from its style sheet)
let width = 0;
function measure() {
  const next = root.clientWidth;
  if (!next || next === width) return;
  root.dataset.width = next < 640 ? 'small' : next < 1240 ? 'middle' : 'large';
  if (width) {
    clearTimeout(relayTimer);
    relayTimer = setTimeout(() => { relay(); parts.charts.resize(); }, 250);
  }
  width = next;
  widthAt = performance.now();
}
measure();
new ResizeObserver(measure).observe(root);
new MutationObserver(() => parts.charts.retheme()).observe(document.body, { attributes: true, attributeFilter: ['class'] });

whenMounted(() => {
  mendDrawer();
  mendMenus();
  mendLists();
  mendTranslation();
  mendSwipes();
  mendHeadings();
  mendNotes();
  mendNumbers((words) => live.tell(words), live.untell);
});
const pulse = makePulse(live, store, view);
whenMounted(() => mendLostNote(pulse.lost));
view.fresh();
watch('value', () => live.receive(props.value));
if (props.value) live.receive(props.value);
live.open(new URLSearchParams(location.search).get('trace') || '');
pulse.poll();
