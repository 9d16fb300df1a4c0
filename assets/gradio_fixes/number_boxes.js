// Defect in Gradio 6.31.0: the number box of a gr.Slider sends each keystroke on as a new value: what is half typed, an empty
// box as 0, and numbers beyond the range.
// Upstream: gradio-app/gradio issue 2371 (closed: moved to the nearest end once the box is left).
// Canary: tests/ui/test_gradio_fixes.py::test_a_number_box_sends_what_is_beyond_its_range
//
// Number boxes beside the sliders hand on whole and allowed values only: what is half typed, or no number, or beyond the
// range is not heard by the page, so that no setting is changed by clearing a box in order to type another number.
// Left at that, the box goes back to what it was, or to the nearest value that is allowed, and it is said.

import { hear } from '../dom.js';
import { say } from '../say.js';

// The nearest allowed value of a box with these ends and step, null where `text` is no number.
// Example: allowed('99', 0, 32, 1) is 32, and allowed('abc', 0, 32, 1) is null.
export function allowed(text, low, high, step) {
  const value = Number(text);
  if (String(text).trim() === '' || !Number.isFinite(value)) return null;
  const from = Number.isFinite(low) ? low : 0, near = from + Math.round((value - from) / step) * step;
  return Number(Math.min(high, Math.max(low, near)).toFixed(6));
}

export function fixNumberBoxes(element, tell, untell) {
  const kept = new WeakMap(), said = new WeakMap();
  const boxOf = (event) => (event.target.matches?.('input[type=number]') ? event.target : null);
  const blockOf = (node) => node.closest('.sv-knob, .block');
  const low = (box) => (box.min === '' ? -Infinity : Number(box.min)), high = (box) => (box.max === '' ? Infinity : Number(box.max));
  const found = (box) => allowed(box.value, low(box), high(box), Number(box.step) || 1);
  // “1.000” is hardly meant as 1 where only whole numbers can be
  const whole = (box) => box.value !== '' && found(box) === Number(box.value) && !(Number.isInteger(Number(box.step)) && box.value.includes('.'));

  function put(box, value) {
    box.value = String(value);
    box.dispatchEvent(new Event('input', { bubbles: true }));
  }

  // A slider shows no other number than its box.
  function settle(box) {
    if (whole(box)) return;
    const typed = box.value, name = blockOf(box)?.querySelector('[data-testid=block-info]')?.textContent.trim();
    put(box, found(box) ?? kept.get(box) ?? box.min);
    const what = typed === '' ? say('view.box_no_number') : say('view.box_none', { typed });
    const key = 'view.box_' + (box.max === '' ? 'on' : 'range') + (box.step === '1' ? '_whole' : '');
    said.set(box, say(key, { name: name || say('view.box_this'), low: box.min, high: box.max, what, value: box.value }));
    tell(said.get(box));
  }

  // What was said of a box is over once it has a number of its own again, typed or by its slider.
  function fine(box) {
    if (said.has(box)) untell(said.get(box));
    said.delete(box);
  }

  // Where numbers are written with a point, browsers leave a comma out without a word: 1,5 would be 15. It stands for the
  // point, unless it parts thousands in what is pasted.
  const POINT = (0.5).toLocaleString().includes('.');
  function onComma(event) {
    const text = event.data || '';
    if (!POINT || !boxOf(event) || !/^[^,]*,\d*$/.test(text) || /\d,\d{3}$/.test(text)) return;
    event.preventDefault();
    document.execCommand('insertText', false, text.replace(',', '.'));
  }
  hear(element, 'beforeinput', onComma, true);

  // `blur` and not `focusout`: Gradio moves a number to the nearest end when it hears of it, which must not come first.
  const KINDS = ['focusin', 'input', 'change', 'blur'];

  function onEvent(event) {
    const slider = event.type === 'input' && event.target.matches?.('.slider_input_container input[type=range]');
    const box = slider ? blockOf(event.target)?.querySelector('input[type=number]') : boxOf(event);
    if (!box) return;
    if (slider) fine(box);
    else if (event.type === 'focusin') { if (whole(box)) kept.set(box, box.value); }
    else if (event.type === 'input') {
      if (whole(box)) {
        kept.set(box, box.value);
        fine(box);
      } else event.stopImmediatePropagation();
    } else settle(box);
  }
  for (const kind of KINDS) hear(element, kind, onEvent, true);
}
