import { gasSizeOf, type ObjectDraft } from './sui-object.ts'

/** MIST of mainnet's parameters; the reference gas price is the simulator's setting. */
export const gasBudgetMax = 50_000_000_000n
export const gasPriceMax = 50_000_000_000n
export const gasCoinsMax = 256
const storagePrice = 76n
const unitsPerByte = 100n
/** Parts per 10,000 of the storage cost that its payer gets back. */
const rebateRate = 9_900n
const rebateDenominator = 10_000n
/** Computation is rounded up to the next of these. Mainnet has the same buckets, and measures the VM; here commands are counted. */
const buckets = [1_000n, 5_000n, 10_000n, 20_000n, 50_000n, 200_000n, 1_000_000n, 5_000_000n]
const unitsPerCommand = 50n
export const computationUnitsMin = 1_000n

/** MIST. */
export type GasCost = Readonly<{
  computationCost: bigint
  storageCost: bigint
  storageRebate: bigint
  nonRefundableStorageFee: bigint
}>

export const storageCostOf = (draft: Pick<ObjectDraft, 'type' | 'contents'>): bigint =>
  BigInt(gasSizeOf(draft)) * unitsPerByte * storagePrice

export function computationCost(commands: number, functionUnits: bigint, gasPrice: bigint): bigint {
  const units = BigInt(commands) * unitsPerCommand + functionUnits
  const bucket = buckets.find((limit) => units <= limit) ?? (buckets.at(-1) as bigint)
  return bucket * gasPrice
}

/** Splits the deposits of overwritten and deleted objects into the payer's rebate and what the network keeps. */
export function splitRebate(deposits: bigint): Pick<GasCost, 'storageRebate' | 'nonRefundableStorageFee'> {
  const storageRebate = (deposits * rebateRate + rebateDenominator / 2n) / rebateDenominator
  return { storageRebate, nonRefundableStorageFee: deposits - storageRebate }
}

/** What the payer pays; negative if the rebate is larger. */
export const netCostOf = (cost: GasCost): bigint => cost.computationCost + cost.storageCost - cost.storageRebate
