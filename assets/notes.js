// A control's note stands beside it, wherever its column is scrolled to. It goes by Escape, until focus or pointer come to
// that control again. A menu's list goes first.

import { find, findAll, hear } from './dom.js';

export function placeNotes(element) {
  const side = document.getElementById('sv-side'), sent = 'data-sent-away';
  if (!side) return;
  function place() {
    for (const knob of findAll('.sv-knob:is(:hover, :focus-within)', side)) {
      const note = find('.info-text', knob);
      if (!note || getComputedStyle(note).position !== 'fixed') continue;
      const lowest = innerHeight - note.offsetHeight - 8;
      note.style.top = Math.max(8, Math.min(knob.getBoundingClientRect().top + 4, lowest)) + 'px';
    }
  }
  // a finger on the words of a menu opens nothing and focuses nothing
  side.addEventListener('click', (/** @type {any} */ event) => {
    const knob = event.target.closest('[data-testid=block-info]')?.closest('.sv-knob');
    for (const other of findAll('[data-noted]', side)) if (other !== knob) other.removeAttribute('data-noted');
    knob?.toggleAttribute('data-noted');
  });
  for (const kind of ['pointerover', 'focusin', 'scroll']) side.addEventListener(kind, place, { capture: true, passive: true });
  hear(element, 'keydown', (event) => {
    if (event.key !== 'Escape' || event.target.closest?.('[role=combobox][aria-expanded=true]')) return;
    for (const knob of findAll('.sv-knob:is(:hover, :focus-within)', side)) knob.setAttribute(sent, '');
  }, true);
  for (const kind of ['pointerout', 'focusout']) {
    side.addEventListener(kind, (/** @type {any} */ event) => {
      const knob = event.target.closest('.sv-knob');
      if (knob && !knob.contains(event.relatedTarget)) knob.removeAttribute(sent);
    });
  }
}
