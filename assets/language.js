// The links to the page in other languages, and what an address is apart from its language.

import { findAll } from './dom.js';

const NAME = 'lang';

// The parameters of the page's address without its language: the same run is shown in all of them.
export function addressWithoutLanguage() {
  const query = new URLSearchParams(location.search);
  query.delete(NAME);
  return String(query);
}

// Writes the page's language, where its address names one, into a link that the page makes.
export function keepLanguage(query) {
  const code = new URLSearchParams(location.search).get(NAME);
  if (code) query.set(NAME, code);
}

// The server writes these links without the other parameters of the address, which only the browser knows.
export function fillLanguageLinks() {
  for (const link of findAll('.sv-language')) {
    const query = new URLSearchParams(location.search);
    query.set(NAME, link.lang);
    link.setAttribute('href', '?' + query);
  }
}
