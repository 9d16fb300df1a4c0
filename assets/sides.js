// A box that scrolls sideways says so: a line that counts what is in sight, with a button for each direction, and a
// shadow at the edge behind which there is more (style.css). Whoever fills the box tells where its columns stand.
// Example: makeSides(scroll, 'tokens') shows "tokens 1–4 of 12" after set({ starts, ends, before: 60, after: 90 }).

import { add, button, el, setText, some } from './dom.js';
import { say } from './say.js';

export function makeSides(scroll, noun) {
  const bar = el('div', 'sv-sides'), words = el('span', 'sv-muted');
  const back = button('sv-icon', '‹', say('view.before', { what: noun }), () => go(-1)), forth = button('sv-icon', '›', say('view.after', { what: noun }), () => go(1));
  bar.hidden = true;
  add(bar, back, words, forth);
  // columns in pixels of the content; `before` and `after`: what sticks to the edges and lies over it
  let at = null;

  /** @type {() => [number, number]} */
  const sight = () => [scroll.scrollLeft + at.before, scroll.scrollLeft + scroll.clientWidth - at.after];
  const seen = ([from, to]) => at.starts.map((start, i) => i).filter((i) => at.starts[i] >= from - 2 && at.ends[i] <= to + 2);

  function update() {
    if (!at) return;
    const [from, to] = sight(), found = seen([from, to]), last = at.ends.length - 1;
    const left = at.starts[0] < from - 2, right = at.ends[last] > to + 2;
    scroll.classList.toggle('sv-more-left', left);
    scroll.classList.toggle('sv-more-right', right);
    back.disabled = !left;
    forth.disabled = !right;
    const shown = !found.length ? '' : found.length === 1 ? String(found[0] + 1) : found[0] + 1 + '–' + (found.at(-1) + 1);
    setText(words, say(shown ? 'view.in_sight' : 'view.in_sight_none', { what: noun, shown, n: at.starts.length }));
  }

  // A screenful on, but never past a column.
  function go(way) {
    const found = seen(sight()), next = way > 0 ? (found.at(-1) ?? 0) + 1 : (found[0] ?? 1) - Math.max(1, found.length);
    show(Math.max(0, next), true);
  }

  // Brings column i into sight; `first`: as the first one there.
  function show(i, first = false) {
    if (!at || !some(at.starts[i])) return;
    const [from, to] = sight();
    if (!first && at.starts[i] >= from && at.ends[i] <= to) return;
    scroll.scrollLeft = at.starts[i] - at.before;
    update();
  }

  scroll.addEventListener('scroll', update, { passive: true });
  // elsewhere these keys drive the run
  scroll.addEventListener('keydown', (event) => {
    if (event.target !== scroll || !at || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return;
    event.preventDefault();
    event.stopPropagation();
    const found = seen(sight());
    show(Math.max(0, (found[0] ?? 0) + (event.key === 'ArrowRight' ? 1 : -1)), true);
  });

  return {
    bar, show,
    // null: everything has room.
    set(columns) {
      at = columns;
      bar.hidden = !at;
      if (at) update();
      else scroll.classList.remove('sv-more-left', 'sv-more-right');
    },
  };
}
