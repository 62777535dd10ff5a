import { largest } from '../../lib/bigint.ts'

/** How many outputs a wallet of the bitcoin family keeps, and what that may cost. */
export type OutputSettings = Readonly<{
  /** A wallet with at most half as many useful outputs is split; 1 = never. */
  ready: number
  /** More small outputs are consolidated; 0 = never. Below `CONSOLIDATED_MAX`. */
  smallMax: number
  /** The highest fee rate of a consolidation by network, in base units per virtual byte; absent = none. */
  cheapRates: ReadonlyMap<string, number>
  /** The highest network fee of a split or consolidation, in basis points of what it moves. */
  feeBps: number
}>

export const outputDefaults = {
  ready: 8,
  smallMax: 100,
  cheapRates: new Map([
    ['btc', 3],
    ['ltc', 10],
    ['doge', 2_000],
    ['bch', 10],
  ]),
  feeBps: 20,
} satisfies OutputSettings

/** Inputs of one consolidation: 200 of P2PKH inputs have 30 kvB. */
export const CONSOLIDATED_MAX = 200
const BPS = 10_000n
/** An output is small if it is worth less than this part of an equal share of the wallet. */
const SMALL_PART = 4n

/** Payouts to our own hot wallet. The change of their transaction is one more output. */
export type OutputPlan = Readonly<{ purpose: 'split' | 'consolidate'; outputs: number; units: bigint }>

/** A wallet as the plan sees it. `inputFeeUnits`: the network fee of one more input now. */
export type WalletOutputs = Readonly<{ walletUnits: bigint; useful: number; inputFeeUnits: bigint }>

/** The least amount of an output that is worth making: spending it costs at most `feeBps` of it. */
export const usefulUnits = (inputFeeUnits: bigint, { feeBps }: OutputSettings): bigint =>
  (inputFeeUnits * BPS) / largest(1n, BigInt(feeBps))

/** Outputs up to this amount are small. */
export const smallUnits = (walletUnits: bigint, { ready }: OutputSettings): bigint =>
  walletUnits / (BigInt(ready) * SMALL_PART)

/**
 * Splits a wallet whose useful outputs are at most half of those it should have. Each new output gets an equal share of the
 * wallet; a small wallet gets fewer, so that none costs more to spend than it may.
 */
export function planSplit(
  { walletUnits, useful, inputFeeUnits }: WalletOutputs,
  settings: OutputSettings,
): OutputPlan | null {
  const least = largest(1n, usefulUnits(inputFeeUnits, settings))
  let count = settings.ready
  while (count > 1 && walletUnits < least * BigInt(count)) count--
  const outputs = count - Math.max(useful, 1)
  if (useful * 2 > count || outputs < 1) return null
  return { purpose: 'split', outputs, units: walletUnits / BigInt(count) }
}

/**
 * Merges small outputs into two equal ones: a payment to ourselves and the change, which pays the fee and its raises. `units`
 * are those of the spendable small outputs, at most `CONSOLIDATED_MAX`.
 */
export function planConsolidation(units: readonly bigint[], { smallMax }: OutputSettings): OutputPlan | null {
  if (smallMax === 0 || units.length <= smallMax) return null
  return { purpose: 'consolidate', outputs: 1, units: units.reduce((sum, one) => sum + one, 0n) / 2n }
}
