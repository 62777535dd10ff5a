import { type BadInput, inSwaps } from './bad-input-case.ts'

const refusals = 'server/test/swap/api/refusals.test.ts'
/** Each row on every network of swaps. */
const onNetworks = 'server/test/swap/api/networks.test.ts'
const sending = 'server/test/swap/api/sending.test.ts'
const testedInSwaps = (...ids: readonly string[]): BadInput[] => ids.map((id) => ({ id, elsewhere: inSwaps }))

/** Tokens, quotes, builds and sends of swaps: B120 to B166. */
export const swapInputs: readonly BadInput[] = [
  ...testedInSwaps('B120', 'B121', 'B122'),
  { id: 'B123', elsewhere: 'server/test/adapters/swap-chain/trade.test.ts' },
  ...testedInSwaps('B124', 'B125', 'B126', 'B127', 'B128', 'B129', 'B130', 'B131', 'B132'),
  { id: 'B133', elsewhere: refusals },
  { id: 'B134', elsewhere: refusals },
  ...testedInSwaps('B135'),
  { id: 'B136', elsewhere: refusals },
  ...testedInSwaps('B137'),
  { id: 'B138', elsewhere: refusals },
  ...testedInSwaps('B139'),
  { id: 'B140', elsewhere: refusals },
  ...testedInSwaps('B141'),
  { id: 'B142', elsewhere: onNetworks },
  ...testedInSwaps('B143'),
  { id: 'B144', elsewhere: onNetworks },
  ...testedInSwaps('B145'),
  { id: 'B146', elsewhere: onNetworks },
  ...testedInSwaps('B147', 'B148', 'B149', 'B150'),
  { id: 'B151', elsewhere: sending },
  { id: 'B152', elsewhere: sending },
  { id: 'B153', elsewhere: onNetworks },
  ...testedInSwaps('B154'),
  { id: 'B155', elsewhere: onNetworks },
  ...testedInSwaps('B156', 'B157', 'B158'),
  { id: 'B159', elsewhere: onNetworks },
  ...testedInSwaps('B160'),
  { id: 'B161', elsewhere: sending },
  { id: 'B162', elsewhere: 'sandbox/test/solana-swaps.test.ts' },
  { id: 'B163', elsewhere: 'server/test/swap/api/sui-swaps.test.ts' },
  ...testedInSwaps('B164', 'B165', 'B166'),
]

/** B167 to B169: operators and webhooks. */
export const operatorInputs: readonly BadInput[] = [
  { id: 'B167', elsewhere: 'server/test/admin/sessions.test.ts' },
  { id: 'B168', elsewhere: 'server/test/admin/held-decisions.test.ts' },
  { id: 'B169', elsewhere: 'server/src/lib/outward-http.test.ts' },
]
