// What Gradio's own widgets lack for those who work with the keyboard or a screen reader, and style alone cannot give.

import { asIs, hear } from './dom.js';

const MODEL_MENUS = '#sv-pair, #sv-target, #sv-draft';
const narrow = matchMedia('(max-width: 768px)');

// Calls `act` once Gradio's own widgets are on the page: this view may be drawn before the column of controls is.
export function whenMounted(act) {
  const parts = ['#sv-side .toggle-button', '#sv-side .block', '#sv-speed input', '#sv-play', 'footer'];
  const there = () => parts.every((part) => document.querySelector(part));
  if (there()) return act();
  const watch = new MutationObserver(() => { if (there()) { watch.disconnect(); act(); } });
  watch.observe(document.body, { childList: true, subtree: true });
}

// Uncovers the page: what is told of loading, and the way back, stand there.
export function closeDrawer() {
  const handle = narrow.matches && document.querySelector('#sv-side.open .toggle-button');
  if (!handle) return;
  handle.click();
  handle.focus();
}

// The drawer of controls: a name that is also what a phone shows on it, and whether it is open. On a narrow screen it
// lies over the page, and what lies beneath must not take the focus.
export function mendDrawer(element) {
  const side = document.getElementById('sv-side'), handle = side?.querySelector('.toggle-button');
  if (!handle) return;
  function tell() {
    const open = side.classList.contains('open');
    handle.setAttribute('aria-label', 'Controls');
    handle.setAttribute('aria-expanded', String(open));
    for (const node of document.querySelectorAll('#sv-transport, #sv-view, footer')) node.inert = open && narrow.matches;
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

// A menu takes the Tab key that leaves it for a letter typed into it, and opens again over what comes next. So the key is
// kept from it and the menu closed. Its list goes slowly, and one that scrolls would be a stop of the Tab key itself.
// The keys that choose from it or close it leave the focus nowhere: it is given back, unheard by the menu, which opens
// when it hears of focus.
export function mendMenus(element) {
  let unheard = false;
  function onFocus(event) {
    if (unheard) event.stopImmediatePropagation();
  }
  function giveBack(menu) {
    if (document.activeElement !== document.body || !menu.isConnected) return;
    unheard = true;
    try { menu.focus(); } finally { unheard = false; }
  }
  // An arrow puts the caret behind the chosen entry, where what is typed would be added to it and not take its place.
  function selectChosen(menu, opened) {
    if (document.activeElement !== menu) return; // a key that chose came first, and selecting would bring the focus back
    const chosen = menu.closest('.block')?.querySelector('[role=option][aria-selected=true]');
    // backwards: of a long entry its beginning is in sight
    if (opened || chosen?.getAttribute('aria-label') === menu.value) menu.setSelectionRange(0, menu.value.length, 'backward');
  }
  function onKey(event) {
    const menu = event.target.closest?.('[role=combobox]');
    if (!menu) return;
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      setTimeout(selectChosen, 0, menu, menu.getAttribute('aria-expanded') !== 'true');
    }
    if (event.key === 'Enter' || event.key === 'Escape') setTimeout(giveBack, 0, menu);
    if (event.key !== 'Tab') return;
    event.stopPropagation();
    for (const list of document.querySelectorAll('.options, .option-list')) list.tabIndex = -1;
    menu.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }));
  }
  hear(element, 'focus', onFocus, true);
  hear(element, 'keydown', onKey, true);
}

// A list opens scrolled to a place it measured before it had its width, and upwards where there is room below: over the
// prompt, mostly. Here it opens downwards where that is enough, with the chosen entry in sight.
export function mendLists() {
  const side = document.getElementById('sv-side'), LEAST = 240, MOST = 320;
  if (!side) return;
  new MutationObserver((changes) => {
    for (const { target: menu } of changes) {
      const list = menu.getAttribute('aria-expanded') === 'true' && menu.closest('.sv-knob')?.querySelector('.options');
      if (!list) continue;
      const edge = menu.closest('.wrap')?.getBoundingClientRect().bottom ?? menu.getBoundingClientRect().bottom;
      const below = innerHeight - edge - 8;
      if (below >= LEAST) {
        const place = { top: edge + 'px', bottom: 'auto', 'max-height': Math.min(MOST, below) + 'px' };
        for (const [name, value] of Object.entries(place)) list.style.setProperty(name, value, 'important');
      }
      if (menu.closest(MODEL_MENUS)) asIs(list);
      const entries = list.querySelector('ul'), chosen = list.querySelector('[aria-selected=true]');
      if (chosen) entries.scrollTop = chosen.offsetTop - (entries.clientHeight - chosen.offsetHeight) / 2;
    }
  }).observe(side, { subtree: true, attributes: true, attributeFilter: ['aria-expanded'] });
}

// What is typed is the visitor's own, and names of models are names: a browser's translator leaves both alone.
export function mendTranslation() {
  const boxes = ['#sv-prompt textarea', '#sv-stop textarea', ...MODEL_MENUS.split(', ').map((menu) => menu + ' input')];
  const side = document.getElementById('sv-side'), find = () => { for (const box of document.querySelectorAll(boxes)) asIs(box); };
  find();
  // what is folded is made when it is first opened
  if (side) new MutationObserver(find).observe(side, { subtree: true, childList: true });
}

// A control's note stands beside it, wherever its column is scrolled to; it goes by Escape, until focus or pointer come to that control again. A menu's list goes first.
export function mendNotes(element) {
  const side = document.getElementById('sv-side'), sent = 'data-sent-away';
  if (!side) return;
  function place() {
    for (const knob of side.querySelectorAll('.sv-knob:is(:hover, :focus-within)')) {
      const note = knob.querySelector('.info-text');
      if (!note || getComputedStyle(note).position !== 'fixed') continue;
      const lowest = innerHeight - note.offsetHeight - 8;
      note.style.top = Math.max(8, Math.min(knob.getBoundingClientRect().top + 4, lowest)) + 'px';
    }
  }
  // a finger on the words of a menu opens nothing and focuses nothing
  side.addEventListener('click', (event) => {
    const knob = event.target.closest('[data-testid=block-info]')?.closest('.sv-knob');
    for (const other of side.querySelectorAll('[data-noted]')) if (other !== knob) other.removeAttribute('data-noted');
    knob?.toggleAttribute('data-noted');
  });
  for (const kind of ['pointerover', 'focusin', 'scroll']) side.addEventListener(kind, place, { capture: true, passive: true });
  hear(element, 'keydown', (event) => {
    if (event.key !== 'Escape' || event.target.closest?.('[role=combobox][aria-expanded=true]')) return;
    for (const knob of side.querySelectorAll('.sv-knob:is(:hover, :focus-within)')) knob.setAttribute(sent, '');
  }, true);
  for (const kind of ['pointerout', 'focusout']) {
    side.addEventListener(kind, (event) => {
      const knob = event.target.closest('.sv-knob');
      if (knob && !knob.contains(event.relatedTarget)) knob.removeAttribute(sent);
    });
  }
}

// Headings that fold: whether they are open is told by their looks alone, and the arrow would be read out.
export function mendHeadings() {
  function tell(heading) {
    const open = String(heading.classList.contains('open'));
    if (heading.getAttribute('aria-expanded') !== open) heading.setAttribute('aria-expanded', open);
  }
  const turned = new MutationObserver((changes) => { for (const { target } of changes) tell(target); });
  function find() {
    for (const heading of document.querySelectorAll('.gr-accordion .label-wrap:not([aria-expanded])')) {
      heading.querySelector('.icon')?.setAttribute('aria-hidden', 'true');
      tell(heading);
      turned.observe(heading, { attributes: true, attributeFilter: ['class'] });
    }
  }
  // some may come later than this view: they stand in its own column, and in that of the drawer
  const columns = [document.getElementById('sv-view'), document.querySelector('#sv-side .block')].map((node) => node?.closest('.column'));
  for (const column of columns) if (column) new MutationObserver(find).observe(column, { childList: true });
  find();
}

// Gradio's note of a lost connection lies over the state, which tells the same in the page's own words, and over the
// handle of the drawer: that note alone is taken away, and `lost` hears of it.
export function mendLostNote(lost) {
  const room = document.querySelector('.toast-wrap'), heard = new WeakSet();
  if (!room) return;
  const isLost = (node) => node.textContent.includes('Connection to the server was lost');
  new MutationObserver(() => {
    for (const item of room.querySelectorAll('.toast-item')) {
      const notes = [...item.querySelectorAll('.toast-message-item')], lostOnes = notes.filter(isLost);
      for (const node of notes) node.style.display = isLost(node) ? 'none' : '';
      item.style.display = notes.length && lostOnes.length === notes.length ? 'none' : '';
      for (const node of lostOnes) {
        if (!heard.has(node)) lost();
        heard.add(node);
      }
    }
  }).observe(room, { subtree: true, childList: true, characterData: true });
}
