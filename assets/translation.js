// What is typed is the visitor's own, and names of models are names: a browser's translator leaves both alone.

import { asIs, findAll } from './dom.js';

export const MODEL_MENUS = '#sv-pair, #sv-target, #sv-draft';
const BOXES = ['#sv-prompt textarea', '#sv-stop textarea', ...MODEL_MENUS.split(', ').map((menu) => menu + ' input')].join(', ');

export function keepFromTranslation() {
  const side = document.getElementById('sv-side'), mark = () => findAll(BOXES).forEach(asIs);
  mark();
  // what is folded is made when it is first opened
  if (side) new MutationObserver(mark).observe(side, { subtree: true, childList: true });
}
