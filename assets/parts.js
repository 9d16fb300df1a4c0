// The parts of the view from top to bottom, alike on the page (view.js) and in an exported run (replay.js).

import { makeCard } from './card.js';
import { add, el } from './dom.js';
import { makeHeadline } from './headline.js';
import { makePrint } from './print.js';
import { makeRibbon } from './ribbon.js';
import { say } from './say.js';
import { makeSlow } from './slow.js';
import { makeLegend, makeStatus } from './status.js';
import { makeTip } from './tip.js';
import { makeTransport } from './transport.js';

// Fills `parts`. `moved` hears of another step on screen, `ask` of a step whose candidates are wanted; `charts` makes the
// charts in the element that it is given; `buttons`, where given, stand between ribbon and transport.
export function makeParts(root, { store, live, view, relay, reach, parts, trigger, moved, ask, charts, buttons = null }) {
  const top = el('div', 'sv-top'), hero = el('section', 'sv-hero'), lower = el('div', 'sv-lower');
  hero.setAttribute('aria-label', say('view.ribbon_section'));
  add(root, top, hero, lower);
  parts.tip = makeTip(root);
  parts.status = makeStatus(top, { root, store, live, reach, trigger, transport: () => parts.transport });
  parts.headline = makeHeadline(top, store);
  parts.legend = makeLegend(hero, root, parts, relay);
  parts.ribbon = makeRibbon(hero, store, (shown) => {
    if (store.shown === shown) return;
    store.shown = shown;
    moved(true);
  });
  add(hero, buttons);
  parts.transport = makeTransport(hero, root, store, live, parts, moved);
  parts.card = makeCard(lower, store, reach, ask, live.busy);
  parts.charts = charts(lower);
  parts.slow = makeSlow(parts.card.top, store, parts, live, view.known);
  makePrint(root, parts);
}
