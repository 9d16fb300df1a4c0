// All text that people read, from the catalogue of the page's language (assets/words/, specviz/core/words.py).
// Example: say('view.step', { n: 3 }) is "step 3", amount('tokens', 3) is "3 tokens". Fields stand in braces; `n` chooses the plural form.

import { CONFIG } from './config.js';

function entryOf(key) {
  const [section, name] = key.split('.');
  return CONFIG.words[section]?.[name];
}

export const has = (key) => entryOf(key) !== undefined;

// Throws for a key that the catalogue lacks, and for a field that was not given: both are mistakes in the code.
/** @type {(key: string, fields?: Record<string, string | number>) => string} */
export function say(key, fields = {}) {
  const entry = entryOf(key);
  if (entry === undefined) throw new Error('no words for ' + key);
  const sentence = typeof entry === 'string' ? entry : entry[fields.n === 1 ? 'one' : 'other'];
  return sentence.replace(/\{(\w+)\}/g, (_, name) => {
    if (!(name in fields)) throw new Error(key + ' needs ' + name);
    return String(fields[name]);
  });
}

// A number of things: an entry of the section "amounts".
/** @type {(what: string, n: number) => string} */
export const amount = (what, n) => say('amounts.' + what, { n, count: n });
