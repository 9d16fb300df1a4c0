// What the page's scripts find in the browser beside its own interfaces.

interface Window {
  /** The library, once its file is here (assets/plotting.js). */
  Plotly?: any;
  /** Settles once plotly is here or has failed to come; one for all views of a page. */
  specvizPlotly?: Promise<unknown>;
  specvizPlotlyFailed?: boolean;
  /** The Navigation API, which not every browser has. */
  navigation?: EventTarget;
}

interface PerformanceEntry {
  /** Of a request; 0 where nothing answered. */
  responseStatus?: number;
}

// Elements that say what their note holds (assets/tip.js), and groups of chips that know their step (assets/chips.js).
interface Element {
  _tip?: () => string[] | null | false;
  _tipFor?: (chip: Element) => string[] | null | false;
}
