// Defect in Gradio 6.31.0: the button of gr.Sidebar has no name and does not say whether the sidebar is open. On a narrow
// screen the sidebar lies over the page, and what lies beneath still takes the focus. Escape does not close it.
// Upstream: not reported.
// Canary: tests/ui/test_gradio_fixes.py::test_the_button_of_a_sidebar_has_no_name_and_no_state

import { find, findAll, hear } from '../dom.js';
import { say } from '../say.js';

const narrow = matchMedia('(max-width: 768px)');

// Uncovers the page: what is told of loading, and the way back, stand there.
export function closeDrawer() {
  const handle = narrow.matches && find('#sv-side.open .toggle-button');
  if (!handle) return;
  handle.click();
  handle.focus();
}

// The drawer of controls: a name that is also what a phone shows on it, and whether it is open. On a narrow screen it
// lies over the page, and what lies beneath must not take the focus.
export function fixDrawer(element) {
  const side = document.getElementById('sv-side'), handle = side?.querySelector('.toggle-button');
  if (!handle) return;
  function tell() {
    const open = side.classList.contains('open');
    handle.setAttribute('aria-label', say('view.controls'));
    handle.setAttribute('aria-expanded', String(open));
    for (const node of findAll('#sv-transport, #sv-view, footer')) node.inert = open && narrow.matches;
  }
  // what lies over the page goes by Escape, unless that closes a menu in it
  function onKey(event) {
    const inMenu = event.target.closest?.('[role=combobox][aria-expanded=true]');
    if (event.key === 'Escape' && !inMenu) closeDrawer();
  }
  hear(element, 'keydown', onKey, true);
  new MutationObserver(tell).observe(side, { attributes: true, attributeFilter: ['class'] });
  narrow.addEventListener('change', tell);
  tell();
}
