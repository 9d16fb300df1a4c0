// The ribbon: prompt and output as chips, a thin seam between steps, discarded drafts where they were proposed.
// Appends, never rebuilds while a run goes: chunks of about 120 chips that are plain text while they are far out of sight,
// so a step costs the same at step 20 and 2000, and select all and find in page reach every word. Stepping back hides
// whole chunks and, in one of them, single steps. Knows nothing of cards, charts or servers; chips come from chips.js.

import { chipTip, chipsOf, groupOf, pieceOf, promptGroup, splitGroup, stepGroup } from './chips.js';
import { asIs, el, some } from './dom.js';
import { say } from './say.js';

const CHUNK = 120;

export function makeRibbon(host, store, onPick) {
  const box = asIs(el('div', 'sv-ribbon'));
  box.setAttribute('role', 'log');
  box.setAttribute('aria-live', 'off');
  box.setAttribute('aria-label', say('view.ribbon'));
  box.tabIndex = 0;
  box._tipFor = (chip) => chipTip(chip, store);
  const empty = el('div', 'sv-ribbon-empty', say('view.ribbon_empty'));
  empty.setAttribute('translate', 'yes');
  host.append(box);

  // chunk: {node, chips, first, last: steps in it, veil: which of them are hidden, away: pieces while it is plain text,
  // prompt: holds some of the prompt, which is never hidden}
  let chunks, drawn, drawnHead, lastShown = 0, pinned, lastAt = 0, lastTop = 0;
  const byNode = new WeakMap();
  const unfolded = () => box.classList.contains('sv-unfolded');
  const eye = 'IntersectionObserver' in window ? new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      const chunk = byNode.get(target);
      if (isIntersecting) bring(chunk);
      else if (chunk !== chunks[chunks.length - 1] && target.isConnected && chunk.node.offsetHeight) send(chunk);
    }
  }, { root: box, rootMargin: '600px 0px' }) : null;

  // Far chunks keep their height and their text, and lose their chips until they come near again.
  function send(chunk) {
    if (chunk.away) return;
    chunk.node.style.height = chunk.node.offsetHeight + 'px';
    chunk.away = [...chunk.node.children].map(pieceOf);
    chunk.node.replaceChildren(chunk.node.textContent);
    chunk.node.classList.add('sv-far');
  }

  function bring(chunk) {
    if (!chunk?.away) return;
    chunk.node.replaceChildren(...chunk.away.map((piece) => groupOf(piece, store, unfolded())));
    chunk.away = null;
    chunk.node.classList.remove('sv-far');
    chunk.node.style.height = '';
    dress(chunk);
    if (pinned && store.atEnd) box.scrollTop = box.scrollHeight;
  }

  function clear() {
    eye?.disconnect();
    box.replaceChildren(empty);
    chunks = [];
    drawn = 0;
    drawnHead = null;
    pinned = true;
  }

  function openChunk(first) {
    const chunk = { node: el('div', 'sv-chunk'), chips: 0, first, last: first - 1, veil: 'none', away: null, prompt: false };
    chunks.push(chunk);
    byNode.set(chunk.node, chunk);
    box.append(chunk.node);
    eye?.observe(chunk.node);
    return chunk;
  }

  // Chips of the unfinished last line move on to the next chunk, so that a border between chunks is never seen.
  function nextChunk(first) {
    const old = chunks[chunks.length - 1], chunk = openChunk(first);
    bring(old);
    const chips = chipsOf(old.node), tail = chips[chips.length - 1];
    if (!tail || tail.nextSibling?.nodeName === 'BR' || !tail.offsetParent) return chunk;
    const bottom = tail.offsetTop + tail.offsetHeight;
    let at = chips.length - 1;
    while (at > 0 && (!chips[at - 1].offsetHeight || Math.abs(chips[at - 1].offsetTop + chips[at - 1].offsetHeight - bottom) < 14)) at--;
    if (at === 0 || chips.length - at > 60) return chunk;
    let group = chips[at].parentNode;
    const inside = chipsOf(group).indexOf(chips[at]);
    if (inside > 0) {
      const rest = splitGroup(group, inside);
      group.after(rest);
      group = rest;
    }
    for (let next; group; group = next) {
      next = group.nextSibling;
      chunk.node.append(group);
      if (some(group._step)) {
        chunk.first = Math.min(chunk.first, group._step);
        chunk.last = Math.max(chunk.last, group._step);
      } else chunk.prompt = true;
    }
    chunk.chips = chips.length - at;
    return chunk;
  }

  function room(first) {
    const chunk = chunks[chunks.length - 1];
    return !chunk ? openChunk(first) : chunk.chips >= CHUNK ? nextChunk(first) : chunk;
  }

  function put(chunk, group, chips) {
    bring(chunk);
    chunk.node.append(group);
    chunk.chips += chips;
    if (some(group._step)) chunk.last = group._step;
    else chunk.prompt = true;
  }

  // Hides what lies behind the cursor: whole chunks by one class, single steps in the chunk that the cursor is in.
  function veil(chunk, shown) {
    const want = chunk.last < shown ? 'none' : chunk.first >= shown && !chunk.prompt ? 'all' : 'part';
    if (want === chunk.veil && want !== 'part') return;
    chunk.node.classList.toggle('sv-later', want === 'all');
    const before = chunk.veil;
    chunk.veil = want;
    if (!chunk.away && (want === 'part' || before === 'part')) dress(chunk);
  }

  function dress(chunk) {
    for (const group of chunk.node.children) {
      if (!some(group._step)) continue;
      group.classList.toggle('sv-later', chunk.veil === 'part' && group._step >= store.shown);
      group.classList.toggle('sv-now', group._step === store.shown - 1);
    }
  }

  const holding = (i) => chunks.filter((c) => c.first <= i && i <= c.last);

  function partsOf(i, from = holding(i)) {
    return from.flatMap((chunk) => [...chunk.node.children].filter((group) => group._step === i));
  }

  function spotlight() {
    for (const node of box.querySelectorAll('.sv-now')) node.classList.remove('sv-now');
    const near = holding(store.shown - 1);
    near.forEach(bring);
    const parts = partsOf(store.shown - 1, near);
    for (const node of parts) node.classList.add('sv-now');
    return parts[parts.length - 1];
  }

  // Scrolls the ribbon's own box only; scrollIntoView would move the page.
  function scrollTo(group) {
    const chip = group?.lastElementChild || group;
    if (!chip) return void (box.scrollTop = 0);
    const a = chip.getBoundingClientRect(), b = box.getBoundingClientRect();
    if (a.top < b.top + 8 || a.bottom > b.bottom - 8) box.scrollTop += a.bottom - b.top - b.height * 0.7;
  }

  // After many steps at once chunks still come and go; a second look finds the true end.
  function follow(twice) {
    if (!pinned) return;
    box.scrollTop = box.scrollHeight;
    if (twice) requestAnimationFrame(() => requestAnimationFrame(() => { if (pinned) box.scrollTop = box.scrollHeight; }));
  }

  box.addEventListener('scroll', () => {
    // only going up lets go of the end; content that grows does not
    if (box.scrollTop + box.clientHeight >= box.scrollHeight - 48) pinned = true;
    else if (box.scrollTop < lastTop - 2) pinned = false;
    lastTop = box.scrollTop;
  }, { passive: true });

  box.addEventListener('click', (event) => {
    if (event.target.closest('.sv-fold')) return unfold();
    const group = event.target.closest('.sv-step');
    if (group && some(group._step) && !String(getSelection())) onPick(group._step + 1);
  });

  // Shows the chat template, or hides it again; the cursor's step stays in sight.
  function unfold() {
    const open = box.classList.toggle('sv-unfolded');
    for (const mark of box.querySelectorAll('.sv-fold')) mark.setAttribute('aria-expanded', String(open));
    if (!open) scrollTo(spotlight());
  }

  function drawPrompt() {
    drawnHead = store.head;
    if (!store.head) return;
    empty.remove();
    const prompt = store.head.prompt || [];
    for (let at = 0; at < prompt.length; at += CHUNK) {
      const group = promptGroup(store.head, at, CHUNK, unfolded());
      put(room(0), group, group.childNodes.length);
    }
  }

  clear();

  return {
    // Brings the box up to the store: new steps, then what is hidden, then what is looked at.
    update() {
      if (drawnHead !== store.head) {
        clear();
        drawPrompt();
      }
      const time = performance.now(), count = store.n - drawn, fresh = count > 0, slow = count === 1 && time - lastAt > 150;
      if (fresh) lastAt = time;
      const before = chunks.length;
      for (; drawn < store.n; drawn++) {
        const step = store.steps[drawn], group = stepGroup(step);
        if (slow) group.classList.add('sv-new');
        put(room(step.i), group, group._order.length);
      }
      const moved = store.shown !== lastShown;
      // following the end: only the newest chunks can have anything to hide or show
      const onlyNew = store.atEnd && fresh && lastShown >= store.n - count;
      for (const chunk of onlyNew ? chunks.slice(Math.max(0, before - 1)) : chunks) veil(chunk, store.shown);
      const now = moved || fresh ? spotlight() : null;
      if (moved && !fresh && store.atEnd) pinned = true;
      if (store.atEnd && (fresh || pinned)) follow(count > 3);
      else if (moved) scrollTo(now);
      lastShown = store.shown;
    },
    groups: (i) => partsOf(i),
    // Paper has no scrolling: all chips are there, until what this returns is called.
    whole() {
      const far = chunks.filter((chunk) => chunk.away);
      far.forEach(bring);
      return () => far.filter((chunk) => chunks.includes(chunk)).forEach(send);
    },
    // After a change of width or type size the lines fall elsewhere: lay the chunks out anew.
    relay() {
      const stay = pinned && store.atEnd;
      clear();
      lastShown = -1;
      this.update();
      if (stay) box.scrollTop = box.scrollHeight;
      else scrollTo(spotlight());
      pinned = stay;
    },
  };
}
