// Defect in Gradio 6.31.0: a swipe that begins on a gr.Slider and turns out to scroll the page leaves the slider moved.
// Upstream: gradio-app/gradio issue 4096 (closed).
// Canary: tests/ui/test_gradio_fixes.py::test_a_swipe_that_scrolls_leaves_a_slider_moved

import { hear } from '../dom.js';

// The browser cancels the pointer once it scrolls. Then the slider goes back to where it was; whoever listens to it hears
// of that as of any other move.
export function fixSwipes(element) {
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
