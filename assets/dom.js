// Small helpers for elements, numbers and time. Knows nothing of runs or tokens.
// Model and user text enters the page through textContent alone, never as markup.

export function el(tag, cls, text) {
  const node = document.createElement(tag);
  if (cls) node.className = cls;
  if (text !== undefined && text !== null) node.textContent = text;
  return node;
}

export function add(parent, ...children) {
  for (const child of children) if (child) parent.append(child);
  return parent;
}

export function button(cls, text, name, onClick) {
  const node = el('button', 'sv-button ' + (cls || ''), text);
  node.type = 'button';
  if (name && name !== text) node.setAttribute('aria-label', name);
  if (onClick) node.addEventListener('click', onClick);
  return node;
}

// A browser's translator leaves it alone: tokens, symbols, figures, names of models. Returns the node.
export function asIs(node) {
  node.setAttribute('translate', 'no');
  return node;
}

// the name of SVG's namespace, not an address
const SVG = 'http://www.w3.org/2000/svg';

export function svg(tag, attributes, ...children) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes || {})) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

/** @type {(selector: string, within?: ParentNode) => HTMLElement | null} */
export const find = (selector, within = document) => within.querySelector(selector);
/**
 * @param {string} selector
 * @param {ParentNode} [within]
 * @returns {HTMLElement[]}
 */
export const findAll = (selector, within = document) => Array.from(within.querySelectorAll(selector));

// Hears `name` on the document for as long as `host` is on the page.
export function hear(host, name, act, options) {
  document.addEventListener(name, function listener(event) {
    if (host.isConnected) act(event);
    else document.removeEventListener(name, listener, options);
  }, options);
}

// Writing the same text again would still cost a layout.
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

export const some = (x) => x !== null && x !== undefined && Number.isFinite(x);
export const fixed = (x, digits = 2) => (some(x) ? x.toFixed(digits) : '–');

// A share as a percentage that is 0 or 100 only where it is exactly that.
export function percent(part, whole) {
  if (!whole) return '–';
  const rounded = Math.round((100 * part) / whole), near = rounded === 100 && part < whole ? '>99' : rounded === 0 && part > 0 ? '<1' : rounded;
  return near + '\u00a0%';
}

// A probability that is neither 0 nor 1 never looks like either.
export function prob(x) {
  if (!some(x)) return '–';
  if (x === 0 || x === 1) return String(x);
  if (x > 0.995) return '>0.99';
  if (x >= 0.01) return x.toFixed(2);
  return x >= 0.0005 ? x.toFixed(3) : x.toExponential(0).replace('e-', 'e−');
}

// A number between 0 and 1 that never looks like either: as many digits as that takes.
function inside(n, digits) {
  if (n === 0 || n === 1) return String(n);
  if (n < 0.00005 && n < 0.5 * 10 ** -digits) return n.toExponential(0).replace('e-', 'e−');
  while (digits < 16 && [0, 1].includes(Number(n.toFixed(digits)))) digits++;
  return n.toFixed(digits);
}

// Two of them with as many digits as it takes for what is printed to compare as they do: a coin beside its threshold.
// Example: apart(0.16, 0.0004) is ['0.16', '0.0004'], and apart(0.78, 0.9996) is ['0.78', '0.9996'].
export function apart(a, b) {
  const value = (text) => Number(text.replace('−', '-'));
  for (let digits = 2; digits <= 16; digits++) {
    const pair = [inside(a, digits), inside(b, digits)];
    if (Math.sign(value(pair[0]) - value(pair[1])) === Math.sign(a - b)) return pair;
  }
  return [String(a), String(b)];
}

export function ms(x) {
  if (!some(x)) return '–';
  return x >= 10000 ? (x / 1000).toFixed(1) + ' s' : (x >= 10 ? x.toFixed(0) : x.toFixed(1)) + ' ms';
}

export const quoted = (token) => '“' + token + '”'; // a comma is a token, too

export function niceCeil(x) {
  if (!(x > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(x));
  for (const m of [1, 1.5, 2, 3, 4, 5, 6, 8, 10]) if (m * power >= x * 0.999) return Number((m * power).toPrecision(3));
  return 10 * power;
}

export const isDark = (node) => document.body.classList.contains('dark') || !!node.closest('.dark');
export const calm = () => matchMedia('(prefers-reduced-motion: reduce)').matches;

export function download(name, url) {
  const link = el('a');
  link.href = url;
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
}

// A text as a file, made in the browser. A slow disk may ask for it for a while.
export function saveText(name, text, type) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  download(name, url);
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

// The clipboard is refused in some frames; a selected text area still copies.
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = el('textarea'), before = /** @type {HTMLElement | null} */ (document.activeElement);
    area.value = text;
    area.style.cssText = 'position:fixed;opacity:0';
    document.body.append(area);
    area.select();
    let done = false;
    try { done = document.execCommand('copy'); } catch { done = false; }
    area.remove();
    before?.focus({ preventScroll: true });
    return done;
  }
}
