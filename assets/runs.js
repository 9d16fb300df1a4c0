// The menu of runs: recordings that come with the app, a trace file opened (picked or dropped), this run saved, and a
// link to where the controls stand. Recordings and files are drawn like any run; only the status line tells them apart.

import { add, button, copyText, el, hear, saveText } from './dom.js';
import { keepLanguage } from './language.js';
import { say } from './say.js';

const MOST_BYTES = 100_000_000;

// `trigger` is Gradio's.
export function makeRuns(row, root, store, live, trigger) {
  const box = el('div', 'sv-runs'), panel = el('div', 'sv-runs-panel'), list = el('ul', 'sv-runs-list');
  const opener = button('sv-runs-open', say('view.runs_open'), say('view.runs_name'), () => show(panel.hidden));
  const picker = el('input');
  picker.type = 'file';
  picker.accept = '.json,application/json';
  picker.hidden = true;
  opener.setAttribute('aria-haspopup', 'dialog');
  panel.setAttribute('role', 'dialog');
  panel.setAttribute('aria-label', say('view.runs'));
  const actions = add(el('div', 'sv-runs-actions'),
    button('sv-run-open', say('view.open_run'), '', () => picker.click()),
    button('sv-run-save', say('view.save_run'), '', save),
    button('sv-run-page', say('view.save_page'), '', savePage),
    // the page around this view knows where its controls stand; it answers with an event
    button('sv-run-link', say('view.copy_link'), '', () => trigger('link', {})),
    button('sv-run-text', say('view.copy_text'), '', copyOutput));
  add(panel, actions, el('div', 'sv-muted', say('view.can_drop')),
    el('h3', '', say('view.recordings')), list);
  add(box, opener, panel, picker);
  (row.querySelector('.sv-switches') || row).append(box);
  show(false);

  function show(open) {
    const inside = panel.contains(document.activeElement);
    panel.hidden = !open;
    if (inside && !open) opener.focus(); // what was chosen is hidden now
    opener.setAttribute('aria-expanded', String(open));
    if (open) fillList();
  }

  async function fillList() {
    if (list.children.length || !live.can('recordings')) return;
    try {
      for (const entry of await live.call('recordings', {})) {
        const choose = button('sv-recording', '', '', () => (entry.kind === 'comparison' ? comparison(entry.name) : recording(entry.name)));
        const title = el('div');
        if (entry.slow) add(title, el('b', '', entry.slow + ':'), ' ');
        add(choose, add(title, el('b', '', entry.title)), el('span', '', entry.line));
        list.append(add(el('li'), choose));
      }
    } catch { live.tell(say('view.away_list')); }
  }

  // A recorded comparison fills the panel "Compare strategies on this prompt"; the run on screen stays.
  function comparison(name) {
    show(false);
    trigger('compared', { name });
  }

  async function recording(name) {
    show(false);
    try {
      const reply = await live.call('recording', { name });
      if (reply.error) return live.report(reply.error);
      put(reply, reply.title, { name, chosen: true, controls: reply.controls });
    } catch { live.tell(say('view.away_again')); }
  }

  function put(reply, title, from) {
    // the controls follow, so that Play runs live what is seen; not where a run of one's own is waiting
    const own = store.run;
    live.showRecording(reply, title, from);
    if (!own && !live.waiting()) trigger('use', reply.controls || {});
  }

  async function openFile(file) {
    show(false);
    if (!file) return;
    if (file.size > MOST_BYTES) {
      return live.report(say('view.too_large', { file: file.name, size: (file.size / 1e6).toFixed(0), most: MOST_BYTES / 1e6 }));
    }
    live.tell(say('view.reading', { file: file.name }), true);
    try {
      const text = await file.text();
      const reply = await live.call('opened', { text });
      if (reply.error) return live.report(say('view.of_file', { file: file.name, error: reply.error }));
      put(reply, file.name, { text, file: file.name, kept: reply.kept });
    } catch { live.report(say('view.unreadable', { file: file.name })); }
  }

  async function save() {
    show(false);
    try {
      const from = store.recording ? live.source() : { r: store.run };
      const reply = from.text !== undefined ? { json: from.text, file: from.file } : await live.call('saved', from);
      if (reply.error) return live.tell(reply.error);
      saveText(reply.file, reply.json, 'application/json');
      live.tell(say('view.saved_as', { file: reply.file }));
    } catch { live.tell(say('view.away_save')); }
  }

  // One file that plays by itself, and opens at the step on screen.
  async function savePage() {
    show(false);
    try {
      const { name, kept } = live.source(), from = store.recording ? { name, kept } : { r: store.run };
      const reply = await live.call('as_page', { ...from, step: store.shown });
      if (reply.error) return live.tell(reply.error);
      saveText(reply.file, reply.html, 'text/html;charset=utf-8');
      live.tell(say('view.saved_as', { file: reply.file }));
    } catch { live.tell(say('view.away_save')); }
  }

  async function copyOutput() {
    show(false);
    if (store.text === null) return live.tell(say('view.pause_first'));
    live.tell(say(await copyText(store.text) ? 'view.text_copied' : 'view.copy_select'));
  }

  // Left out is what a link means without it (links.OMITTED), what a linked recording brings along, and the knobs of
  // strategies, draft lengths and rules that are not chosen.
  async function copyLink({ names, values, usual, always, most, owners }) {
    const query = new URLSearchParams(), { name, chosen, controls } = live.source();
    const linked = store.recording && name && chosen, base = (linked && controls) || {};
    if (linked) query.set('trace', name);
    const inUse = ([menu, entry]) => values[names.indexOf(menu)] === entry;
    names.forEach((key, i) => {
      if (owners[key] && !owners[key].some(inUse)) return;
      const value = values[i] ?? '', known = (key in base ? base[key] : usual[i]) ?? '';
      if (String(value) !== String(known) || (key === always && !linked)) query.set(key, value === true ? '1' : value === false ? '0' : value);
    });
    keepLanguage(query);
    const text = String(query), url = location.origin + location.pathname + (text ? '?' + text : '');
    if (url.length > most) {
      return live.tell(say('view.link_long', { n: url.length, most }), true);
    }
    const part = store.recording && !linked && (text || !name) ? say('view.link_settings') : '';
    live.tell((part && part + ' ') + say(await copyText(url) ? 'view.link_copied' : 'view.link_shown', { url }));
  }

  function onLink(event) {
    show(false);
    copyLink(event.detail);
  }

  function onClick(event) {
    if (!panel.hidden && !box.contains(event.target)) show(false);
    if (event.target.closest?.('#sv-live,#sv-play,#sv-step,#sv-reset,#sv-alone')) live.follow();
  }

  box.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') show(false);
  });
  // left by the Tab key it would lie over what has the focus now
  box.addEventListener('focusout', (event) => {
    if (event.relatedTarget && !box.contains(event.relatedTarget)) show(false);
  });
  picker.addEventListener('change', () => {
    openFile(picker.files[0]);
    picker.value = '';
  });
  const files = (event) => [...(event.dataTransfer?.types || [])].includes('Files');
  root.addEventListener('dragover', (event) => {
    if (!files(event)) return;
    event.preventDefault();
    root.classList.add('sv-dropping');
  });
  root.addEventListener('dragleave', (event) => {
    if (!root.contains(event.relatedTarget)) root.classList.remove('sv-dropping');
  });
  root.addEventListener('drop', (event) => {
    if (!files(event)) return;
    event.preventDefault();
    root.classList.remove('sv-dropping');
    openFile(event.dataTransfer.files[0]);
  });
  hear(root, 'specviz-link', onLink);
  hear(root, 'click', onClick, true);
}
