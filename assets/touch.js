// What a finger does to a slider that was meant for the page.

// A swipe that begins on a slider sets it before it turns out to scroll. Then the browser cancels the pointer, and the
// slider goes back to where it stood; whoever listens to it hears of that as of any other move.
function mendSwipes() {
  let held = null;
  function onDown(event) {
    if (!element.isConnected) {
      document.removeEventListener('pointerdown', onDown, true);
      return document.removeEventListener('pointercancel', onCancel, true);
    }
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
  document.addEventListener('pointerdown', onDown, true);
  document.addEventListener('pointercancel', onCancel, true);
}
