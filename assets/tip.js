// One floating note for chips, figures and legend. What it says comes from whoever owns the thing pointed at:
// an element with a `_tip` function that returns lines of text, or a box with `_tipFor(chip)` for the chips in it
// (thousands of chips then carry nothing). Appears on hover and on focus, leaves on Escape.

function makeTip(root) {
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

  root.addEventListener('pointerover', (event) => {
    const target = find(event.target);
    if (target === owner && target) return;
    if (target) show(target);
    else hide();
  });
  root.addEventListener('pointerleave', hide);
  root.addEventListener('focusin', (event) => {
    const target = find(event.target);
    if (target && event.target.matches(':focus-visible')) show(target);
    else hide();
  });
  root.addEventListener('focusout', hide);
  root.addEventListener('keydown', (event) => { if (event.key === 'Escape') hide(); });
  return { hide };
}
