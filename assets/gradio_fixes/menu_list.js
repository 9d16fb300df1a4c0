// Defect in Gradio 6.31.0: the list of a gr.Dropdown is scrolled to a position measured before the list has its width, so the
// chosen entry may be out of sight; and it opens upwards where there is room below, here over the prompt.
// Upstream: not reported.
// Canary: tests/ui/test_gradio_fixes.py::test_the_list_of_a_menu_opens_upwards_where_there_is_room_below

import { asIs } from '../dom.js';
import { MODEL_MENUS } from '../translation.js';

const LEAST = 240, MOST = 320;

// Opens it downwards where that is enough, with the chosen entry in sight.
export function fixMenuList() {
  const side = document.getElementById('sv-side');
  if (!side) return;
  new MutationObserver((changes) => {
    for (const { target } of changes) if (target instanceof HTMLElement) arrange(target);
  }).observe(side, { subtree: true, attributes: true, attributeFilter: ['aria-expanded'] });
}

/** @param {HTMLElement} menu */
function arrange(menu) {
  if (menu.getAttribute('aria-expanded') !== 'true') return;
  /** @type {HTMLElement | null | undefined} */
  const list = menu.closest('.sv-knob')?.querySelector('.options');
  if (!list) return;
  const edge = menu.closest('.wrap')?.getBoundingClientRect().bottom ?? menu.getBoundingClientRect().bottom;
  const below = innerHeight - edge - 8;
  if (below >= LEAST) {
    const place = { top: edge + 'px', bottom: 'auto', 'max-height': Math.min(MOST, below) + 'px' };
    for (const [name, value] of Object.entries(place)) list.style.setProperty(name, value, 'important');
  }
  if (menu.closest(MODEL_MENUS)) asIs(list);
  /** @type {HTMLElement | null} */
  const entries = list.querySelector('ul');
  /** @type {HTMLElement | null} */
  const chosen = list.querySelector('[aria-selected=true]');
  if (chosen) entries.scrollTop = chosen.offsetTop - (entries.clientHeight - chosen.offsetHeight) / 2;
}
