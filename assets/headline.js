// The headline: four named tiles with the figures of the prefix on screen, speed-up first, each with its denominator,
// each explained on hover or focus with this run's own numbers. Counts come from the store; nothing is computed here but
// words. Every tile has all its lines from the start (style.css keeps their room), so that nothing below ever moves.

import { CONFIG } from './config.js';
import { add, asIs, el, fixed, ms, percent, plural, setText, some } from './dom.js';

export function makeHeadline(host, store) {
  const row = el('div', 'sv-headline');
  row.setAttribute('role', 'group');
  row.setAttribute('aria-label', 'Figures of the run so far');
  host.append(row);

  // A tile: its name, its figure with what stands beside it, and a line of denominators. `symbol`: the papers' letter.
  function figure(name, label, symbol, tip) {
    const box = el('div', 'sv-figure sv-figure-' + name), title = el('span', 'sv-figure-name', label);
    const big = asIs(el('span', 'sv-big')), beside = el('span', 'sv-small'), more = el('span', 'sv-small sv-more');
    box.tabIndex = 0;
    box.setAttribute('role', 'note');
    box._tip = () => tip(store.figures());
    if (symbol) add(title, ' ', asIs(el('span', '', symbol)));
    row.append(add(box, title, ' ', add(el('span', 'sv-figure-value'), big, beside), ' ', more));
    return (value, words, denominators) => { setText(big, value); setText(beside, words && ' ' + words); setText(more, denominators); };
  }

  const set = {
    speed: figure('speed', 'Speed-up', '', (f) => f.speedup ? [
      'Speed-up = ' + f.rate.toFixed(1) + ' ÷ ' + f.alone.toFixed(1) + ' tokens per second = ' + fixed(f.speedup, 2),
      'This run: ' + plural(f.tokens, 'token') + ' at ' + f.rate.toFixed(1) + ' a second. The same target alone: ' +
        plural(store.baseline.n, 'token') + ' at ' + f.alone.toFixed(1) + ', with the same prompt and sampler, loading and prompt kept out.',
      'Measured one after the other, on a machine that may have been busier in one: small differences mean nothing. ' +
        'Below 1 drafting cost more than it saved.',
      sameText(store.baseline),
      beyond(f),
      store.baseline.uneven,
      disturbed(store),
    ].filter(Boolean) : ['Speed-up = tokens per second of this run ÷ those of the target alone',
      'The target alone has not been timed on this prompt yet.',
      f.rate ? 'This run: ' + f.rate.toFixed(1) + ' tokens per second.' : ''].filter(Boolean)),
    alpha: figure('alpha', 'Accepted', 'α', (f) => [...acceptedNote(f), ...draftedNote(f)]),
    tau: figure('tau', 'Tokens per target pass', 'τ', (f) => [
      ...(f.steps ? [
        'Block efficiency τ = tokens ÷ target passes = ' + f.tokens + ' ÷ ' + f.steps + ' = ' + fixed(f.tau, 3),
        'The resampled or bonus token of each step is counted. The target alone has τ = 1.',
      ] : ['Block efficiency τ = tokens ÷ target passes']),
      'One step is one draft and one pass of the target over it. The target alone needs a pass for every token.',
    ]),
    time: figure('time', 'Time per token', '', (f) => [
      'Time per token = time of all steps ÷ tokens' + (f.rate ? ' = ' + ms(f.time) + ' ÷ ' + f.tokens + ' = ' + ms(f.time / f.tokens) : ''),
      'It counts drafting, verifying and other work. Loading and reading the prompt are kept out.',
      f.alone ? 'The target alone takes ' + ms(1000 / f.alone) + ' per token.' : '',
    ].filter(Boolean)),
  };

  return {
    update() {
      const f = store.figures();
      row.classList.toggle('sv-slower', some(f.speedup) && f.speedup < 1);
      const busy = f.speedup && (beyond(f) || store.baseline.uneven || disturbed(store)) ? ' ⚠' : '';
      if (f.speedup) set.speed(f.speedup.toFixed(2) + '×' + busy, '', 'the target alone' + mark(store.baseline));
      else set.speed('–', '', 'not measured');
      set.alpha(percent(f.accepted, f.tested), f.tested ? '(' + f.accepted + ' of ' + f.tested + (f.trees ? ' places)' : ' tested)') : '',
        f.drafted ? percent(f.accepted, f.drafted) + ' of ' + f.drafted + ' drafted, ' + (f.drafted / f.steps).toFixed(1) + ' per step' : 'no drafts');
      set.tau(fixed(f.tau), '', plural(f.tokens, 'token') + ' in ' + plural(f.steps, 'target pass', 'target passes'));
      set.time(f.rate ? ms(f.time / f.tokens) : '–', '',
        f.rate ? f.rate.toFixed(1) + ' tokens/s' + (f.alone ? ' (alone ' + f.alone.toFixed(1) + ')' : '') : 'no tokens yet');
    },
  };
}

const acceptedNote = (f) => (!f.tested ? ['Acceptance rate α = accepted ÷ tested', 'Nothing has been drafted, so there is nothing to accept.'] : [
  'Acceptance rate α = accepted ÷ tested = ' + f.accepted + ' ÷ ' + f.tested + ' = ' + fixed(f.alpha, 3),
  ...(f.trees ? [
    'Counted by place: one where any sibling was accepted counts as accepted, one where all were refused ends the step.',
    'By candidate, each sibling for itself: ' + f.accepted + ' of ' + (f.accepted + f.rejected) + ' tested tokens accepted.',
  ] : ['Tested are all drafted tokens up to and including the first refusal of each step.']),
]);

const draftedNote = (f) => (!f.drafted ? [] : [
  'Drafted share = accepted ÷ drafted = ' + f.accepted + ' ÷ ' + f.drafted + ' = ' + fixed(f.share, 3),
  'It falls as K grows although the models stay the same, since tokens after a refusal count as drafted. ' +
    (f.trees ? 'All tokens of a tree count. ' : '') + 'On average ' + (f.drafted / f.steps).toFixed(1) + ' tokens were drafted a step.',
]);

const mark = (b) => (b && b.same === true ? ' · same text ✓' : b && b.same === false ? ' · texts differ' : '');

// A speed-up that cannot be (specviz/metrics/trust.py): a step takes at least a pass of the target.
function beyond(f) {
  if (f.speedup <= CONFIG.slack * f.tau) return '';
  return '⚠ ' + fixed(f.tau) + ' tokens a pass allow ' + fixed(f.tau) +
    '× at most, so the machine was busier while the target alone was timed. Measure it again.';
}

// Why the two rates may not be worth comparing, where others used the machine while they were measured.
function disturbed(store) {
  const run = store.others || 0, alone = store.baseline?.others || 0;
  if (!run && !alone) return '';
  const where = [run && plural(run, 'step') + ' in this run', alone && plural(alone, 'step') + ' while the target alone was timed'];
  return '⚠ Others were using the machine: ' + where.filter(Boolean).join(', ') +
    ' were theirs, and what comes between slows the next. Measure again when nobody else is here.';
}

function sameText(b) {
  if (!b) return '';
  if (b.same === true) return 'Both wrote the same ' + plural(b.compared, 'token') + ', one by one.';
  if (b.same === false && b.apart) {
    return 'The texts part at token ' + (b.apart.place + 1) + ': ' + b.apart.run + ' here, ' + b.apart.alone +
      ' alone' + (b.apart.tie ? ', a near-tie of this number format.' : '.');
  }
  return '';
}
