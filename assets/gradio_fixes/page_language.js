// Gradio 6.31 takes the language of its own words (footer, menus, errors) and of <html> from the browser, whatever
// language the page has. No issue is known. This runs in the document's head, before Gradio's scripts.

Object.defineProperty(navigator, 'language', { configurable: true, value: document.documentElement.lang });
