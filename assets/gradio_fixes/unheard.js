// Defect in Gradio 6.31.0: once it has lost the server, a button that is pressed does nothing and says nothing.
// Upstream: gradio-app/gradio pull request 12907 (one message for all errors of a lost connection).
// Canary: tests/ui/test_gradio_fixes.py::test_a_page_whose_server_comes_back_is_loaded_anew_and_a_press_before_says_nothing
//
// What is pressed then says so where it was pressed: the line on top may be out of sight. One helper for all studies; what
// they show without a server is left alone.

import { el, hear, setText } from '../dom.js';

// Hears while `element` is on the page. `reach`: whether the server answers (pulse.js).
export function makeUnheard(element, live, reach) {
  const line = el('p', 'sv-unheard');
  line.setAttribute('role', 'status');
  let study = null;

  // Beside what was pressed last in a study, and there as long as it is true: that press may be how the page found out.
  function update() {
    if (!reach.say) {
      line.remove();
      setText(line, '');
    } else if (study?.isConnected) {
      if (line.parentNode !== study) {
        setText(line, '');
        const buttons = study.querySelectorAll(':scope > button');
        if (buttons.length) buttons[buttons.length - 1].after(line);
        else study.append(line);
      }
      setTimeout(() => setText(line, reach.say), 50); // in a place that a reader knows by now
    }
  }

  function onClick(event) {
    const button = event.target.closest?.('#sv-transport button, #sv-load, .gr-accordion button');
    if (!button || button.closest('.html-container')) return;
    const heading = button.matches('.label-wrap');
    if (!button.closest('#sv-transport, #sv-side')) {
      study = heading ? button.nextElementSibling : button.closest('.sv-study-row') || button.parentElement;
      update();
    } else if (!heading && reach.say) live.tell(reach.say, false, true);
  }
  hear(element, 'click', onClick, true);

  return { update };
}
