// Defect in Gradio 6.31.0: once it has lost the server it sends nothing any more. It asks for the server every two seconds,
// and when the server is there again it loads the page anew, unasked: run, prompt and focus would be gone. Its message
// lies over the line that says the same here, and over the handle of the drawer.
// Upstream: gradio-app/gradio pull request 12907, which introduced it.
// Canary: tests/ui/test_gradio_fixes.py::test_a_page_whose_server_comes_back_is_loaded_anew_and_a_press_before_says_nothing
//
// What Gradio asks is seen in the browser's list of requests. In a browser without the Navigation API the page is still
// loaded anew.

import { findAll } from '../dom.js';

// Gradio asks for this address only while it has lost the server, and sends events of the page to those.
const ASKS = /\/app_id$/, SENDS = /\/(queue\/join|run\/\w+)$/;

// Calls `lost` once, and from then on `answered` each time the server has answered Gradio.
export function fixLostConnection(lost, answered) {
  let deaf = false;

  function take(requests) {
    for (const { name, responseStatus } of requests) {
      const { pathname } = new URL(name, location.href), asks = ASKS.test(pathname);
      if (!deaf && (asks || (responseStatus === 0 && SENDS.test(pathname)))) {
        deaf = true;
        lost();
        hideErrors();
      }
      if (asks && responseStatus === 200) answered();
    }
  }

  const requests = new PerformanceObserver((list) => take(list.getEntries()));
  requests.observe({ type: 'resource' });
  window.navigation?.addEventListener('navigate', (/** @type {any} */ event) => {
    if (event.navigationType !== 'reload' || event.userInitiated) return;
    take(requests.takeRecords()); // the answer that Gradio loads the page for may not have been listed yet
    if (deaf) event.preventDefault();
  });
}

// Gradio takes its other errors away when it has lost the server, and none can come after that: all are of the loss.
function hideErrors() {
  const hide = () => { for (const error of findAll('.toast-item:has(.toast-body.error)')) error.style.display = 'none'; };
  new MutationObserver(hide).observe(document.querySelector('.toast-wrap') ?? document.body, { subtree: true, childList: true });
  hide();
}
