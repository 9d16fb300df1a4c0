// What the server tells the views when they are put on the page (specviz/views/page.py): colours and words of fates, names
// of rules, the charts' empty figures, and where plotly is. The same for all views of a page.

export const CONFIG = { palette: {}, slack: 1, lossy: [], speeds: {}, settings: [], figures: [], plotly: '' };

export const configure = (told) => Object.assign(CONFIG, told);
