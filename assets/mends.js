// What Gradio's own widgets lack for those who work with the keyboard or a screen reader, and style alone cannot give.

// The drawer of controls: a name that is also what a phone shows on it, and whether it is open. On a narrow screen it
// lies over the page, and what lies beneath must not take the focus.
function mendDrawer() {
  const side = document.getElementById('sv-side'), handle = side?.querySelector('.toggle-button');
  if (!handle) return;
  const narrow = matchMedia('(max-width: 768px)');
  function tell() {
    const open = side.classList.contains('open');
    handle.setAttribute('aria-label', 'Controls');
    handle.setAttribute('aria-expanded', String(open));
    for (const node of document.querySelectorAll('#sv-transport, #sv-view, footer')) node.inert = open && narrow.matches;
  }
  new MutationObserver(tell).observe(side, { attributes: true, attributeFilter: ['class'] });
  narrow.addEventListener('change', tell);
  tell();
}

// A menu takes the Tab key that leaves it for a letter typed into it, and opens again over what comes next. So the key is
// kept from it and the menu closed. Its list goes slowly, and one that scrolls would be a stop of the Tab key itself.
function mendMenus() {
  function onKey(event) {
    if (!element.isConnected) return document.removeEventListener('keydown', onKey, true);
    const menu = event.key === 'Tab' && event.target.closest?.('#sv-side [role=combobox]');
    if (!menu) return;
    event.stopPropagation();
    for (const list of document.querySelectorAll('#sv-side .options, #sv-side .option-list')) list.tabIndex = -1;
    menu.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }));
  }
  document.addEventListener('keydown', onKey, true);
}
