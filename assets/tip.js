// One floating note for chips, figures and legend. What it says comes from whoever owns the thing pointed at:
// an element with a `_tip` function that returns lines of text, or a box with `_tipFor(chip)` for the chips in it
// (thousands of chips then carry nothing). Appears on hover and on focus, leaves on Escape. Where there is no hover a tap
// shows it, until the next tap or until what it belongs to is moved away by hand.

import { asIs, el, hear } from './dom.js';
import { say } from './say.js';

export function makeTip(root) {
  const box = el('div', 'sv-tip');
  box.id = 'sv-tip';
  box.setAttribute('role', 'tooltip');
  box.hidden = true;
  root.append(box);
  let owner = null;

  function show(target) {
    const lines = target._tip ? target._tip() : target.closest('.sv-ribbon')._tipFor(target);
    if (!lines || !lines.length) return hide();
    hide();
    owner = target;
    owner.setAttribute('aria-describedby', box.id);
    box.replaceChildren(...lines.map((line, i) => {
      const node = el('div', i === 0 ? 'sv-tip-head' : '', line);
      // a token by name, and its text
      if (target.closest('[translate=no]') && (i === 0 || line.startsWith(say('view.tip_text', { text: '"' })))) asIs(node);
      node.dir = 'auto';
      return node;
    }));
    box.hidden = false;
    const at = target.getClientRects()[0] || target.getBoundingClientRect(), base = root.getBoundingClientRect();
    const left = Math.min(Math.max(4, at.left - base.left), Math.max(4, base.width - box.offsetWidth - 4));
    const above = at.top - base.top - box.offsetHeight - 6;
    const fitsAbove = at.top - box.offsetHeight - 6 > 0;
    box.style.left = left + 'px';
    box.style.top = (fitsAbove ? above : at.bottom - base.top + 6) + 'px';
  }

  function hide() {
    owner?.removeAttribute('aria-describedby');
    owner = null;
    box.hidden = true;
  }

  function find(node) {
    for (let at = node; at && at !== root; at = at.parentNode) if (at._tip) return at;
    return node.closest?.('.sv-ribbon .sv-chip') || null;
  }

  // What it says may have changed; where its owner is gone it goes.
  function refresh() {
    const target = owner;
    if (!target) return;
    if (target.isConnected && target.getClientRects().length) show(target);
    else hide();
  }

  const hovers = (event) => event.pointerType !== 'touch';
  let tapped = false;

  root.addEventListener('pointerover', (event) => {
    const target = find(event.target);
    if (!hovers(event) || (target === owner && target)) return;
    if (target) show(target);
    else hide();
  });
  root.addEventListener('pointerleave', (event) => { if (hovers(event)) hide(); });
  root.addEventListener('focusin', (event) => {
    const target = find(event.target);
    if (target && event.target.matches(':focus-visible')) show(target);
    else if (!tapped) hide();
  });
  root.addEventListener('focusout', () => { if (!tapped) hide(); });
  root.addEventListener('keydown', (event) => { if (event.key === 'Escape') hide(); });

  const onTouch = {
    pointerdown(event) { tapped = !hovers(event); },
    click(event) {
      if (!tapped) return;
      const target = root.contains(event.target) && find(event.target);
      // what was tapped may be gone by now
      if (target && target.getClientRects().length) show(target);
      else hide();
    },
    // plotly tells of a mark that a mouse is over: a finger is one for a moment
    pointerup(event) {
      const plot = tapped && event.target.closest?.('.sv-plot'), at = { bubbles: true, clientX: event.clientX, clientY: event.clientY };
      if (plot) setTimeout(() => { for (const name of ['mouseover', 'mousemove']) plot.querySelector('.nsewdrag')?.dispatchEvent(new MouseEvent(name, at)); }, 0);
    },
    touchmove: hide,
  };
  // the first of all to hear a tap; the last, when what it does is done
  function listen(name, capture) {
    hear(root, name, onTouch[name], { capture, passive: true });
  }
  listen('pointerdown', true);
  listen('pointerup', true);
  listen('click', false);
  listen('touchmove', true);
  return { hide, refresh };
}
