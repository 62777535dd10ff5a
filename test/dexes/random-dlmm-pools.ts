import { createRequire } from 'node:module'
import type { DlmmPool } from '@swapyard/lib/pools/solana/meteora-dlmm.ts'
import {
  DLMM_BINS_PER_ARRAY,
  type DlmmBin,
  type DlmmBinArray,
  decodeDlmmExtension,
  decodeDlmmPair,
  dlmmArrayIndex,
  isInPairBitmap,
} from '@swapyard/lib/pools/solana/meteora-dlmm-accounts.ts'
import { dlmmPrice } from '@swapyard/lib/pools/solana/meteora-dlmm-bin.ts'
import fc from 'fast-check'
import { magnitude } from '../../server/test/swap/routing/random-pools.ts'
import { drawSamples } from '../support/draw-samples.ts'
import { anchorAccounts } from './anchor-accounts.ts'
import { type BN, loadDlmm } from './packages.ts'
import { drawnTransferFee, MINT_TIME, mintOf, transferFeeOf } from './transfer-fees.ts'

/* Random pools of Meteora DLMM, as we and as its package read them from the same account bytes. */

export const dlmm = loadDlmm()
export const { toBN } = dlmm
const { Connection, PublicKey } = createRequire(createRequire(import.meta.url).resolve('@meteora-ag/dlmm'))(
  '@solana/web3.js',
) as { Connection: new (url: string) => never; PublicKey: { default: never } }
// The program's public interface. Nothing is sent to the address.
const program = dlmm.createProgram(new Connection('http://127.0.0.1:1'))
export const accounts = anchorAccounts(program.coder.accounts)

export const NOW = 1_900_000_000
export const POOLS = 150
const TRADES = 8

/** Bin steps of the program's presets. */
export const BIN_STEPS = [1, 2, 5, 10, 20, 25, 50, 80, 100, 160, 200, 400]

/** Bins on one side of the active bin, from near to far. */
const side = fc.array(
  fc.record({
    /** Bins to the next one with liquidity. */
    gap: fc.oneof(
      { weight: 12, arbitrary: fc.integer({ min: 1, max: 2 }) },
      { weight: 2, arbitrary: fc.integer({ min: 3, max: 40 }) },
      { weight: 1, arbitrary: fc.integer({ min: 70, max: 250 }) },
    ),
    makers: fc.oneof({ weight: 4, arbitrary: magnitude(0, 55) }, { weight: 1, arbitrary: fc.constant(0n) }),
    open: fc.oneof({ weight: 2, arbitrary: fc.constant(0n) }, { weight: 1, arbitrary: magnitude(0, 50) }),
    processed: fc.oneof({ weight: 2, arbitrary: fc.constant(0n) }, { weight: 1, arbitrary: magnitude(0, 50) }),
  }),
  { maxLength: 30 },
)

const draws = fc.record({
  binStep: fc.constantFrom(...BIN_STEPS),
  /** Natural logarithm of the price. */
  logPrice: fc.integer({ min: -20, max: 20 }),
  /** A pool with small steps may have bins on both sides of the border of the pair's own bitmap. */
  border: fc.record({
    isNear: fc.boolean(),
    isPositive: fc.boolean(),
    distance: fc.integer({ min: -40, max: 40 }),
  }),
  below: side,
  above: side,
  active: fc.record({ x: magnitude(0, 55), y: magnitude(0, 55), isEmpty: fc.nat(4).map((digit) => digit === 0) }),
  parameters: fc.record({
    baseFactor: fc.constantFrom(0, 100, 5_000, 10_000, 50_000),
    baseFeePowerFactor: fc.constantFrom(0, 0, 0, 1),
    variableFeeControl: fc.constantFrom(0, 500, 7_500, 40_000, 500_000, 2_000_000),
    maxVolatilityAccumulator: fc.constantFrom(0, 150_000, 350_000, 1_000_000),
    filterPeriod: fc.constantFrom(5, 30, 300),
    decayPeriod: fc.constantFrom(600, 1_200),
    reductionFactor: fc.integer({ min: 0, max: 10_000 }),
    protocolShare: fc.constantFrom(0, 500, 1_000, 2_500),
    /** Undetermined, rewards, limit orders. */
    functionType: fc.constantFrom(0, 1, 2, 2),
    /** In the input, or in Y only. */
    collectFeeMode: fc.constantFrom(0, 1),
  }),
  volatility: fc.record({
    accumulator: fc.nat(400_000),
    reference: fc.nat(300_000),
    distance: fc.integer({ min: -40, max: 40 }),
    elapsed: fc.oneof(fc.nat(40), fc.nat(400), fc.nat(1_500)),
  }),
  transferFees: fc.tuple(drawnTransferFee, drawnTransferFee),
  trades: fc.array(
    fc.record({
      swapForY: fc.boolean(),
      size: fc.oneof(
        { weight: 6, arbitrary: magnitude(0, 21).map((share) => ({ share })) },
        { weight: 1, arbitrary: fc.bigInt(1n, 20n).map((units) => ({ units })) },
        // About all that the pool holds.
        { weight: 1, arbitrary: fc.bigInt(-2n, 2n).map((excess) => ({ excess })) },
        // Far more than the pool holds.
        { weight: 1, arbitrary: magnitude(56, 62).map((units) => ({ units })) },
      ),
    }),
    { minLength: TRADES, maxLength: TRADES },
  ),
})
export type DlmmDraw = typeof draws extends fc.Arbitrary<infer T> ? T : never

const emptyBin = (id: number): DlmmBin => ({
  ...{ id, amounts: [0n, 0n], price: 0n, liquiditySupply: 0n, fulfilledOrders: [0n, 0n], orderFees: [0n, 0n] },
  ...{ feeGrowth: [0n, 0n], openOrders: 0n, processingOrders: 0n, processedRest: 0n, orderAge: 0, isAskSide: false },
})

/** At most what is worth 2^60 units of the other token. */
function limit(units: bigint, price: bigint, isX: boolean): bigint {
  const most = isX ? (1n << 124n) / price : (price << 60n) >> 64n
  return units < most ? units : most
}

/** Bins below the active one hold Y, those above it X. */
function binsOf({ binStep, below, above, active }: DlmmDraw, activeId: number): DlmmBin[] {
  const supply = { liquiditySupply: 1n << 100n }
  const walk = (drawn: DlmmDraw['below'], direction: 1 | -1): DlmmBin[] => {
    let id = activeId
    return drawn.map(({ gap, makers, open, processed }) => {
      id += gap * direction
      const price = dlmmPrice(id, binStep)
      const isX = direction === 1
      const units = limit(makers, price, isX)
      const [openOrders, processedRest] = [limit(open, price, isX), limit(processed, price, isX)]
      const orders = { openOrders, processedRest, processingOrders: processedRest, isAskSide: isX }
      return { ...emptyBin(id), ...supply, price, amounts: isX ? [units, 0n] : [0n, units], ...orders }
    })
  }
  const price = dlmmPrice(activeId, binStep)
  const amounts = active.isEmpty
    ? ([0n, 0n] as const)
    : ([limit(active.x, price, true), limit(active.y, price, false)] as const)
  return [...walk(below, -1), { ...emptyBin(activeId), ...supply, price, amounts }, ...walk(above, 1)]
}

const isEmpty = ({ amounts, openOrders, processedRest }: DlmmBin) =>
  amounts[0] + amounts[1] + openOrders + processedRest === 0n

function arraysOf(bins: readonly DlmmBin[]): Map<number, DlmmBinArray> {
  const byId = new Map(bins.map((bin) => [bin.id, bin]))
  // A bin array account exists from its first deposit on, but the bitmap names only those with liquidity.
  const indexes = new Set(bins.filter((bin) => !isEmpty(bin)).map(({ id }) => dlmmArrayIndex(id)))
  return new Map(
    [...indexes].map((index) => {
      const ids = Array.from({ length: DLMM_BINS_PER_ARRAY }, (_, place) => index * DLMM_BINS_PER_ARRAY + place)
      return [index, { index, bins: ids.map((id) => byId.get(id) ?? emptyBin(id)) }]
    }),
  )
}

const toBNs = (bits: ReadonlySet<number>, words: number): BN[] =>
  Array.from({ length: words }, (_, word) => {
    let value = 0n
    for (let bit = 0; bit < 64; bit += 1) if (bits.has(word * 64 + bit)) value |= 1n << BigInt(bit)
    return toBN(value)
  })

/** The pair account and its bitmap extension as the package reads them, and their bytes. */
function writePair({ binStep, parameters, volatility }: DlmmDraw, activeId: number, indexes: readonly number[]) {
  const near = indexes.filter(isInPairBitmap)
  const far = indexes.filter((index) => !isInPairBitmap(index))
  const zero = accounts.zero('lbPair', 904)
  const lbPair = {
    ...zero,
    ...{ activeId, binStep, parameters: { ...zero['parameters'], ...parameters } },
    vParameters: {
      ...zero['vParameters'],
      ...{ volatilityAccumulator: volatility.accumulator, volatilityReference: volatility.reference },
      indexReference: activeId + volatility.distance,
      lastUpdateTimestamp: toBN(NOW - volatility.elapsed),
    },
    binArrayBitmap: toBNs(new Set(near.map((index) => index + 512)), 16),
  }
  const parts = (bitOf: (index: number) => number) => {
    const bits = toBNs(new Set(far.map(bitOf).filter((bit) => bit >= 0)), 12 * 8)
    return Array.from({ length: 12 }, (_, part) => bits.slice(part * 8, part * 8 + 8))
  }
  const extension = {
    ...accounts.zero('binArrayBitmapExtension', 1_576),
    positiveBinArrayBitmap: parts((index) => (index >= 0 ? index - 512 : -1)),
    negativeBinArrayBitmap: parts((index) => (index < 0 ? -index - 1 - 512 : -1)),
  }
  return { lbPair, extension: far.length === 0 ? null : extension }
}

const toPackageBin = (bin: DlmmBin) => ({
  ...{ amountX: toBN(bin.amounts[0]), amountY: toBN(bin.amounts[1]), price: toBN(bin.price) },
  liquiditySupply: toBN(bin.liquiditySupply),
  ...{ fulfilledOrderAmountX: toBN(bin.fulfilledOrders[0]), fulfilledOrderAmountY: toBN(bin.fulfilledOrders[1]) },
  ...{ limitOrderFeeAskSide: toBN(bin.orderFees[0]), limitOrderFeeBidSide: toBN(bin.orderFees[1]) },
  ...{ feeAmountXPerTokenStored: toBN(bin.feeGrowth[0]), feeAmountYPerTokenStored: toBN(bin.feeGrowth[1]) },
  ...{ openOrderAmount: toBN(bin.openOrders), totalProcessingOrderAmount: toBN(bin.processingOrders) },
  processedOrderRemainingAmount: toBN(bin.processedRest),
  ...{ orderAge: bin.orderAge, limitOrderAskSide: bin.isAskSide ? 1 : 0, padding1: [0, 0, 0] },
})

export const toPackageArray = ({ index, bins }: DlmmBinArray) => ({
  ...accounts.zero('binArray', 10_136),
  ...{ index: toBN(index), bins: bins.map(toPackageBin) },
})

const BORDER = 512 * DLMM_BINS_PER_ARRAY

function activeIdOf({ binStep, logPrice, border }: DlmmDraw): number {
  if (border.isNear && binStep <= 5) return (border.isPositive ? BORDER : -BORDER) + border.distance
  const id = Math.round(logPrice / Math.log1p(binStep / 10_000))
  return Math.max(-BORDER + 5_000, Math.min(BORDER - 5_000, id))
}

/** One pool as both sides read it. */
function createPools(draw: DlmmDraw) {
  const activeId = activeIdOf(draw)
  const bins = binsOf(draw, activeId)
  const binArrays = arraysOf(bins)
  const { lbPair, extension } = writePair(draw, activeId, [...binArrays.keys()])
  const [feeX, feeY] = draw.transferFees
  const reserve = bins.reduce(
    (sum, { amounts, openOrders, processedRest }) => sum + amounts[0] + amounts[1] + openOrders + processedRest,
    0n,
  )
  const ours: DlmmPool = {
    pair: decodeDlmmPair(accounts.write('lbPair', lbPair)),
    extensionIndexes:
      extension === null ? [] : decodeDlmmExtension(accounts.write('binArrayBitmapExtension', extension)),
    binArrays,
    reserves: [reserve, reserve],
    transferFees: [transferFeeOf(feeX), transferFeeOf(feeY)],
  }
  const token = (fee: DlmmDraw['transferFees'][0]) => ({ mint: mintOf(fee) }) as never
  const clock = { epoch: toBN(MINT_TIME) } as never
  const extensionAccount = extension === null ? null : { publicKey: PublicKey.default, account: extension as never }
  const theirs = new dlmm(
    PublicKey.default,
    program,
    lbPair as never,
    extensionAccount,
    token(feeX),
    token(feeY),
    [],
    clock,
  )
  const theirArrays = [...binArrays.values()].map((array) => ({
    publicKey: `array ${array.index}` as never,
    account: toPackageArray(array) as never,
  }))
  return { ours, theirs, theirArrays, bins }
}

export type DlmmPools = ReturnType<typeof createPools>

export function drawPools() {
  return drawSamples(draws, POOLS).map((draw) => ({ draw, pools: createPools(draw) }))
}
