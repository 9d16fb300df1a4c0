// The headline: four named tiles with the figures of the prefix on screen, speed-up first, each with its denominator,
// each explained on hover or focus with this run's own numbers. Counts come from the store; nothing is computed here but
// words. Every tile has all its lines from the start (style.css keeps their room), so that nothing below ever moves.

import { CONFIG } from './config.js';
import { add, asIs, el, fixed, ms, percent, setText, some } from './dom.js';
import { amount, say } from './say.js';

export function makeHeadline(host, store) {
  const row = el('div', 'sv-headline');
  row.setAttribute('role', 'group');
  row.setAttribute('aria-label', say('view.figures_of_run'));
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
    speed: figure('speed', say('view.speedup'), '', (f) => f.speedup ? [
      say('view.tip_speedup', { run: f.rate.toFixed(1), alone: f.alone.toFixed(1), gain: fixed(f.speedup, 2) }),
      say('view.tip_both', { tokens: amount('tokens', f.tokens), run: f.rate.toFixed(1),
        others: amount('tokens', store.baseline.n), alone: f.alone.toFixed(1) }),
      say('view.tip_noise'),
      sameText(store.baseline),
      beyond(f),
      store.baseline.uneven,
      disturbed(store),
    ].filter(Boolean) : [say('view.tip_speedup_is'), say('view.tip_not_timed'),
      f.rate ? say('view.tip_rate', { rate: f.rate.toFixed(1) }) : ''].filter(Boolean)),
    alpha: figure('alpha', say('view.accepted'), 'α', (f) => [...acceptedNote(f), ...draftedNote(f)]),
    tau: figure('tau', say('view.tokens_per_pass'), 'τ', (f) => [
      ...(f.steps ? [
        say('view.tip_tau', { tokens: f.tokens, steps: f.steps, tau: fixed(f.tau, 3) }),
        say('view.tip_tau_counts'),
      ] : [say('view.tip_tau_is')]),
      say('view.tip_one_step'),
    ]),
    time: figure('time', say('view.time_per_token'), '', (f) => [
      say('view.tip_time') + (f.rate ? ' = ' + ms(f.time) + ' ÷ ' + f.tokens + ' = ' + ms(f.time / f.tokens) : ''),
      say('view.tip_time_counts'),
      f.alone ? say('view.tip_time_alone', { time: ms(1000 / f.alone) }) : '',
    ].filter(Boolean)),
  };

  return {
    update() {
      const f = store.figures();
      row.classList.toggle('sv-slower', some(f.speedup) && f.speedup < 1);
      const busy = f.speedup && (beyond(f) || store.baseline.uneven || disturbed(store)) ? ' ⚠' : '';
      if (f.speedup) set.speed(f.speedup.toFixed(2) + '×' + busy, '', say('view.target_alone') + mark(store.baseline, f.tokens));
      else set.speed('–', '', say('view.not_measured'));
      set.alpha(percent(f.accepted, f.tested), f.tested ? say(f.trees ? 'view.of_positions' : 'view.of_tested', { part: f.accepted, whole: f.tested }) : '',
        f.drafted ? say('view.of_drafted', { share: percent(f.accepted, f.drafted), drafted: f.drafted, each: (f.drafted / f.steps).toFixed(1) })
          : say('view.no_drafts'));
      set.tau(fixed(f.tau), '', say('view.tokens_in_passes', { tokens: amount('tokens', f.tokens), passes: say('view.passes', { n: f.steps }) }));
      set.time(f.rate ? ms(f.time / f.tokens) : '–', '',
        f.rate ? say('view.rate', { rate: f.rate.toFixed(1) }) + (f.alone ? ' ' + say('view.rate_alone', { rate: f.alone.toFixed(1) }) : '') : say('view.no_tokens'));
    },
  };
}

const acceptedNote = (f) => (!f.tested ? [say('view.tip_alpha_is'), say('view.tip_nothing_drafted')] : [
  say('view.tip_alpha', { accepted: f.accepted, tested: f.tested, alpha: fixed(f.alpha, 3) }),
  ...(f.trees ? [
    say('view.tip_by_position'),
    say('view.tip_by_candidate', { accepted: f.accepted, tested: f.accepted + f.rejected }),
  ] : [say('view.tip_tested_are')]),
]);

const draftedNote = (f) => (!f.drafted ? [] : [
  say('view.tip_share', { accepted: f.accepted, drafted: f.drafted, share: fixed(f.share, 3) }),
  [say('view.tip_share_falls'), f.trees ? say('view.tip_share_tree') : '',
    say('view.tip_share_each', { each: (f.drafted / f.steps).toFixed(1) })].filter(Boolean).join(' '),
]);

// What was compared: all of the text on screen, or as much of it as the target alone was measured on.
export function mark(b, tokens) {
  if (typeof b?.same !== 'boolean') return '';
  if (!b.same) return ' ' + say('view.texts_differ');
  return ' ' + (b.compared < tokens ? say('view.same_so_far', { part: b.compared, whole: tokens }) : say('view.same_text'));
}

// A speed-up that cannot be (specviz/metrics/trust.py): a step takes at least a pass of the target.
function beyond(f) {
  if (f.speedup <= CONFIG.slack * f.tau) return '';
  return say('view.beyond', { tau: fixed(f.tau) });
}

// Why the two rates may not be worth comparing, where others used the machine while they were measured.
function disturbed(store) {
  const run = store.others || 0, alone = store.baseline?.others || 0;
  if (!run && !alone) return '';
  const steps = (n, key) => n && say(key, { steps: say('view.steps', { n }) });
  const where = [steps(run, 'view.others_run'), steps(alone, 'view.others_alone')];
  return say('view.disturbed', { where: where.filter(Boolean).join(', ') });
}

function sameText(b) {
  if (!b) return '';
  if (b.same === true) return say('view.both_same', { tokens: amount('tokens', b.compared) });
  if (b.same === false && b.apart) {
    return say(b.apart.tie ? 'view.texts_part_tie' : 'view.texts_part', { n: b.apart.position + 1, run: b.apart.run, alone: b.apart.alone });
  }
  return '';
}
