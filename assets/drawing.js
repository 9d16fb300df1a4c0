// When the parts of the live view are drawn: at most once a frame, and only those that a change concerns. Returns `view`,
// what live.js and transport.js call with what changed, and `relay`, for another width or type size.
// `parts` of the view are made later than this; `parts.live` is the wire.

import { closeDrawer } from './gradio_fixes/drawer.js';

// Milliseconds between two drawings of the step card while a run goes.
const CARD_MS = 600;

export function makeDrawing(store, parts, reach) {
  const dirty = new Set();
  let frameAsked = 0, cardAt = 0, cardTimer = 0;

  function want(...names) {
    for (const name of names) dirty.add(name);
    // a hidden tab gets no animation frames; what piled up is drawn when it is shown again
    if (!frameAsked) frameAsked = requestAnimationFrame(flush);
  }

  function flush() {
    frameAsked = 0;
    const names = new Set(dirty);
    dirty.clear();
    for (const name of ['headline', 'transport', 'status']) if (names.has(name)) parts[name].update();
    if (names.has('card')) {
      clearTimeout(cardTimer);
      // nobody reads a card that changes more than twice a second
      const wait = cardAt + CARD_MS - performance.now();
      if (wait <= 0 || parts.live.state() !== 'playing') drawCard();
      else cardTimer = setTimeout(drawCard, wait);
    }
    // last, since it asks for positions: one layout a frame
    if (names.has('ribbon')) parts.ribbon.update();
    parts.slow.drawn();
  }

  function drawCard() {
    cardAt = performance.now();
    parts.card.update();
  }

  function relay() {
    parts.ribbon.relay();
    parts.card.resize();
    parts.slow.drawn();
    parts.charts.resize();
  }

  const all = ['ribbon', 'headline', 'transport', 'card', 'status'];

  const view = {
    fresh() {
      parts.card.forget();
      parts.charts.restart();
      parts.transport.stopReplay();
      parts.tip.hide();
      parts.slow.fresh();
      want(...all);
      parts.charts.touch();
    },
    steps() {
      want(...all);
      parts.charts.touch();
      parts.tip.refresh();
    },
    // the result of a step came into sight, or is kept back while the step is explained
    known() {
      parts.headline.update();
      parts.status.update();
      parts.charts.touch();
      parts.tip.refresh();
    },
    moved(settled) {
      if (settled) parts.slow.look();
      parts.tip.refresh();
      want(...all);
      parts.charts.touch();
      if (settled) parts.charts.soon();
    },
    state() {
      want('status', 'transport');
      if (!store.n) want('card'); // what it says before the first step depends on the state
      if (!parts.live.busy()) parts.charts.soon();
    },
    answered() { closeDrawer(); },
    plays() { parts.transport.holdIfSlow(); },
    baseline() {
      want('headline');
      parts.charts.touch();
      parts.charts.soon();
    },
    detailed(i) { parts.card.detailed(i); },
    models(reply) { parts.status.models(reply); },
    reach() {
      const step = store.last();
      want('status');
      parts.unheard.update();
      if (!step) return;
      parts.card.detailed(step.i); // why there are no candidates is told there
      if (!reach.gone) parts.live.details(step.i);
    },
    all() {
      want(...all);
      parts.charts.retheme();
    },
  };

  return { view, relay };
}
