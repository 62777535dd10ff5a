import type { StaticDecode } from 'typebox'
import { CONSOLIDATED_MAX, type OutputSettings, outputDefaults } from '../exchange/domain/output-plan.ts'
import { byNetwork, integer, section, whole } from './schema.ts'

/** Of the hot wallets of Bitcoin, Litecoin, Dogecoin and Bitcoin Cash. */
export const bitcoinSchema = section({
  outputsReady: whole(
    outputDefaults.ready,
    [1, 50],
    'Number of outputs that a hot wallet keeps, so that payouts need not wait for the change of earlier ones. A wallet with at most half of them is split; `1` never splits, and is the default of the sandbox',
  ),
  smallOutputsMax: whole(
    outputDefaults.smallMax,
    [0, CONSOLIDATED_MAX - 1],
    'A wallet with more small outputs than this has up to 200 of them merged while fees are low and no payout waits; `0` never merges. Small is less than a quarter of an equal share of the wallet',
  ),
  consolidateBelow: byNetwork(
    integer([1, 1_000_000_000], 'Fee rate'),
    'The highest fee rate at which small outputs are merged, in base units per virtual byte. Unset: 3 on btc, 10 on ltc and bch, 2000 on doge',
  ),
  maintenanceFeeBps: whole(
    outputDefaults.feeBps,
    [1, 1_000],
    'A split or a merge pays at most this share of what it moves as network fee, in basis points',
  ),
})

export function toOutputSettings(bitcoin: StaticDecode<typeof bitcoinSchema>): OutputSettings {
  return {
    ready: bitcoin.outputsReady,
    smallMax: bitcoin.smallOutputsMax,
    cheapRates: new Map([...outputDefaults.cheapRates, ...Object.entries(bitcoin.consolidateBelow)]),
    feeBps: bitcoin.maintenanceFeeBps,
  }
}
