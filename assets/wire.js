// What comes over the wire (specviz/views/wire.py, which has the same keys and says more of each).

/** @typedef {any[]} Token */
/**
 * @typedef {object} Step a step without its candidates; times in milliseconds
 * @property {number} i index of the step
 * @property {number} n output tokens before it
 * @property {number} k speculation length of this step
 * @property {number} [ks] as set, where the draft length chose another
 * @property {string} [dl] the draft length, unless it is fixed
 * @property {string} st strategy
 * @property {string} ru rule
 * @property {number} T temperature
 * @property {number} tk top-k
 * @property {number} tp top-p
 * @property {number} rp repetition penalty
 * @property {Token[]} tok the draft
 * @property {Token | null} ex what the target added
 * @property {string | null} stop stop reason
 * @property {string | null} ds draft end
 * @property {number} pos positions in the target pass
 * @property {number | null} d draft
 * @property {number | null} v verify
 * @property {number | null} o other
 * @property {number | null} c prefill of text before the step
 * @property {number | null} rec recording
 */
/**
 * @typedef {object} Detail texts and candidates of a step
 * @property {number} i
 * @property {string[]} tok
 * @property {string | null} ex
 * @property {any[]} positions
 */
/**
 * @typedef {object} Frame a message of a run
 * @property {string} m kind of the message
 * @property {string} state
 * @property {number} [seq] number of the message
 * @property {string | null} [r] id of the run
 * @property {number} [f] index of the first of these steps
 * @property {Step[]} [s]
 * @property {any} [b] the baseline
 * @property {any} [head]
 * @property {string | null} [why] stop reason of the run
 * @property {string} [hint]
 * @property {number} [others] turns of other visitors between the steps
 * @property {string} [say]
 * @property {number | null} [progress]
 * @property {string} [back]
 * @property {string | null} [text]
 */

// Positions of a token's fields on the wire (specviz/views/wire.py).
export const ID = 0, SHOWN = 1, FATE = 2, PARENT = 3, Q = 4, P = 5, ACCEPT = 6, COIN = 7, DRAFTER = 8, VERIFIER = 9, BREAKS = 10;
