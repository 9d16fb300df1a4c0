// Defect in Gradio 6.31.0: the Tab key that leaves a gr.Dropdown is taken for a letter typed into it, so its list opens again
// over what comes next. A list that scrolls is a stop of the Tab key itself.
// Upstream: gradio-app/gradio issue 12011 is about the same key in menus of several choices.
// Canary: tests/ui/test_gradio_fixes.py::test_tab_leaves_the_list_of_a_menu_open

import { findAll, hear } from '../dom.js';

// The key is kept from the menu, and the menu closed. Its list goes slowly.
export function fixMenuTab(element) {
  hear(element, 'keydown', (event) => {
    const menu = event.key === 'Tab' && event.target.closest?.('[role=combobox]');
    if (!menu) return;
    event.stopPropagation();
    for (const list of findAll('.options, .option-list')) list.tabIndex = -1;
    menu.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }));
  }, true);
}
