// Gets the page ready for paper and back: all chips of the ribbon, all charts, in the light theme. What paper leaves out
// and how the rest is laid out says print.css.

export function makePrint(root, parts) {
  let undo = null;

  function ready() {
    if (undo || !root.isConnected) return;
    const dark = document.body.classList.contains('dark');
    document.body.classList.remove('dark'); // light text would stand on white paper
    const back = [parts.ribbon.whole(), parts.charts.whole()];
    undo = () => {
      undo = null;
      document.body.classList.toggle('dark', dark);
      back.forEach((restore) => restore());
      parts.charts.resize();
    };
  }

  const done = () => undo?.();
  const paper = matchMedia('print');
  // both: the event comes before the page is laid out anew, the query is all that a preview of the medium tells
  addEventListener('beforeprint', ready);
  addEventListener('afterprint', done);
  paper.addEventListener('change', () => (paper.matches ? ready() : done()));
}
