// What the server tells the views when they are put on the page (specviz/views/page.py): colours and words of fates, names
// of rules, the charts' empty figures, where plotly is, the page's language and the catalogue of its words. The same for
// all views of a page. `export`: speeds and names of the buttons of an exported run.

export const CONFIG = { palette: {}, slack: 1, lossy: [], speeds: {}, settings: [], figures: [], plotly: '', language: 'en', words: {}, export: null };

export const configure = (told) => Object.assign(CONFIG, told);
