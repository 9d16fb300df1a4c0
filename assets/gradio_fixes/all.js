// Applies the fixes of Gradio's own widgets. Each file beside this one is one defect.

import { fixDrawer } from './drawer.js';
import { fixHeadings } from './headings.js';
import { fixMenuFocus } from './menu_focus.js';
import { fixMenuList } from './menu_list.js';
import { fixMenuTab } from './menu_tab.js';
import { fixMenuText } from './menu_text.js';
import { fixNumberBoxes } from './number_boxes.js';
import { fixSwipes } from './swipes.js';

// While `element` is on the page. `live` says what was wrong with a number.
export function fixWidgets(element, live) {
  fixDrawer(element);
  fixMenuTab(element);
  fixMenuFocus(element);
  fixMenuText(element);
  fixMenuList();
  fixSwipes(element);
  fixHeadings();
  fixNumberBoxes(element, (words) => live.tell(words), live.untell);
}

// Calls `act` once Gradio's own widgets are on the page: this view may be drawn before the column of controls is.
export function whenMounted(act) {
  const parts = ['#sv-side .toggle-button', '#sv-side .block', '#sv-speed input', '#sv-play', 'footer'];
  const there = () => parts.every((part) => document.querySelector(part));
  if (there()) return act();
  const watch = new MutationObserver(() => {
    if (!there()) return;
    watch.disconnect();
    act();
  });
  watch.observe(document.body, { childList: true, subtree: true });
}
