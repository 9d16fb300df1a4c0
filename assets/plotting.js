// Fetches plotly beside the page: all but the charts works without it, and where it does not come the charts say so.
// One fetch for all views of a page. CONFIG.plotly is its address on the server.

import { CONFIG } from './config.js';
import { say } from './say.js';
import { el } from './dom.js';

const RETRY_MS = 1500;

// Calls `done` once plotly is here or has failed to come; `markFailed` shows which.
export function loadPlotly(done) {
  window.specvizPlotly ||= fetchPlotly().catch(() => new Promise((again) => setTimeout(again, RETRY_MS)).then(fetchPlotly));
  window.specvizPlotly.then(done, () => { window.specvizPlotlyFailed = true; done(); });
}

const plotlyFailed = () => !window.Plotly && !!window.specvizPlotlyFailed;

// Marks a place of charts where plotly failed to come; the style sheets show the sentence `key` there.
export function markFailed(room, key) {
  const failed = plotlyFailed();
  room.classList.toggle('sv-no-plotly', failed);
  if (failed) room.style.setProperty('--sv-no-plotly', JSON.stringify(say(key)));
}

function fetchPlotly() {
  if (window.Plotly) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const script = el('script');
    script.src = CONFIG.plotly;
    script.onload = () => (window.Plotly ? resolve() : reject(new Error('no plotly in its file')));
    script.onerror = () => { script.remove(); reject(new Error('no file of plotly')); };
    document.head.append(script);
  });
}
