// Defect in Gradio 6.31.0: a press is not heard where its request is answered while the stream of the press before is
// closing. The server has ended that stream, the page counts it as open until the message says so, and asks for no other:
// the answers wait on the server until the next press.
// Upstream: not reported yet.
// Canary: tests/ui/test_gradio_fixes.py::test_a_press_while_the_stream_of_the_one_before_closes_is_not_heard
//
// Seen in the browser's list of requests: a press was answered, and nothing came of it, neither a message to the view nor a
// stream that was opened for it and has ended. An event that does nothing makes Gradio ask for a stream, which brings what
// waits. Where a study is computing, that event is one too many, and does no harm.

const SENDS = /\/queue\/join$/, STREAMS = /\/queue\/data$/;
const SILENT_MS = 1500;

// `ask` triggers that event. Call `heard` whenever a message has come.
export function fixClosingStream(ask) {
  let last = 0, own = false;

  function onSent(/** @type {number} */ time) {
    if (own) return void (own = false);
    setTimeout(() => {
      if (last >= time) return;
      own = true;
      ask();
    }, SILENT_MS);
  }

  const requests = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const { name, startTime, responseEnd } = /** @type {PerformanceResourceTiming} */ (entry);
      const { pathname } = new URL(name, location.href);
      if (SENDS.test(pathname)) onSent(responseEnd);
      else if (STREAMS.test(pathname)) last = Math.max(last, startTime);
    }
  });
  requests.observe({ type: 'resource' });
  return { heard: () => { last = performance.now(); } };
}
