// What a finger does to a slider that was meant for the page.

import { hear } from './dom.js';

// A swipe that begins on a slider sets it before it turns out to scroll. Then the browser cancels the pointer, and the
// slider goes back to where it stood; whoever listens to it hears of that as of any other move.
export function mendSwipes(element) {
  let held = null;
  function onDown(event) {
    const slider = event.isPrimary && event.target.closest?.('input[type=range]');
    held = slider && event.pointerType === 'touch' ? { slider, value: slider.value, id: event.pointerId } : null;
  }
  function onCancel(event) {
    const was = held;
    if (!was || was.id !== event.pointerId) return;
    held = null;
    if (was.slider.value === was.value) return;
    was.slider.value = was.value;
    for (const type of ['input', 'change']) was.slider.dispatchEvent(new Event(type, { bubbles: true }));
  }
  hear(element, 'pointerdown', onDown, true);
  hear(element, 'pointercancel', onCancel, true);
}
