// Number boxes beside the sliders hand on whole and allowed values only: what is half typed, or no number, or beyond the
// range is not heard by the page, so that no setting is changed by clearing a box in order to type another number.
// Left at that, the box goes back to what it was, or to the nearest value that is allowed, and it is said.

// The nearest allowed value of a box with these ends and step, null where `text` is no number.
// Example: allowed('99', 0, 32, 1) is 32, and allowed('abc', 0, 32, 1) is null.
function allowed(text, low, high, step) {
  const value = Number(text);
  if (String(text).trim() === '' || !Number.isFinite(value)) return null;
  const near = low + Math.round((value - low) / step) * step;
  return Number(Math.min(high, Math.max(low, near)).toFixed(6));
}

function mendNumbers(tell) {
  const kept = new WeakMap();
  const boxOf = (event) => (event.target.matches?.('#sv-side .sv-knob input[type=number]') ? event.target : null);
  const found = (box) => allowed(box.value, Number(box.min), Number(box.max), Number(box.step) || 1);
  const whole = (box) => box.value !== '' && found(box) === Number(box.value);

  function put(box, value) {
    box.value = String(value);
    box.dispatchEvent(new Event('input', { bubbles: true }));
  }

  // A slider shows no other number than its box.
  function settle(box) {
    if (whole(box)) return;
    const typed = box.value, name = box.closest('.sv-knob').querySelector('[data-testid=block-info]')?.textContent.trim();
    put(box, found(box) ?? kept.get(box) ?? box.min);
    const what = typed === '' ? 'what was typed is no number' : typed + ' is not one of them';
    tell((name || 'This') + ' goes from ' + box.min + ' to ' + box.max + (box.step === '1' ? ' in whole numbers' : '') +
      '; ' + what + ', so it stands at ' + box.value + '.');
  }

  function onEvent(event) {
    if (!element.isConnected) {
      for (const kind of ['focusin', 'input', 'change', 'focusout']) document.removeEventListener(kind, onEvent, true);
      return;
    }
    const box = boxOf(event);
    if (!box) return;
    if (event.type === 'focusin') { if (whole(box)) kept.set(box, box.value); }
    else if (event.type === 'input') {
      if (whole(box)) kept.set(box, box.value);
      else event.stopImmediatePropagation();
    } else settle(box);
  }
  for (const kind of ['focusin', 'input', 'change', 'focusout']) document.addEventListener(kind, onEvent, true);
}
