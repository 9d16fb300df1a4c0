// Defect in Gradio 6.31.0: an arrow key in a gr.Dropdown puts the caret behind the chosen entry, where what is typed is added
// to it and does not take its place.
// Upstream: not reported.
// Canary: tests/ui/test_gradio_fixes.py::test_what_is_typed_after_an_arrow_is_added_to_the_chosen_entry

import { hear } from '../dom.js';

export function fixMenuText(element) {
  function selectChosen(menu, opened) {
    if (document.activeElement !== menu) return; // a key that chose came first, and selecting would bring the focus back
    const chosen = menu.closest('.block')?.querySelector('[role=option][aria-selected=true]');
    // backwards: of a long entry its beginning is in sight
    if (opened || chosen?.getAttribute('aria-label') === menu.value) menu.setSelectionRange(0, menu.value.length, 'backward');
  }
  hear(element, 'keydown', (event) => {
    const menu = ['ArrowDown', 'ArrowUp'].includes(event.key) && event.target.closest?.('[role=combobox]');
    if (menu) setTimeout(selectChosen, 0, menu, menu.getAttribute('aria-expanded') !== 'true');
  }, true);
}
