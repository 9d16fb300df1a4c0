// Defect in Gradio 6.31.0: the heading of a gr.Accordion shows whether it is open by its looks alone, and a screen reader
// speaks its arrow.
// Upstream: not reported.
// Canary: tests/ui/test_gradio_fixes.py::test_the_heading_of_an_accordion_does_not_say_whether_it_is_open

import { find as first, findAll } from '../dom.js';

export function fixHeadings() {
  function tell(heading) {
    const open = String(heading.classList.contains('open'));
    if (heading.getAttribute('aria-expanded') !== open) heading.setAttribute('aria-expanded', open);
  }
  const turned = new MutationObserver((changes) => { for (const { target } of changes) tell(target); });
  function find() {
    for (const heading of findAll('.gr-accordion .label-wrap:not([aria-expanded])')) {
      heading.querySelector('.icon')?.setAttribute('aria-hidden', 'true');
      tell(heading);
      turned.observe(heading, { attributes: true, attributeFilter: ['class'] });
    }
  }
  // some may come later than this view: they stand in its own column, and in that of the drawer
  const columns = [document.getElementById('sv-view'), first('#sv-side .block')].map((node) => node?.closest('.column'));
  for (const column of columns) if (column) new MutationObserver(find).observe(column, { childList: true });
  find();
}
