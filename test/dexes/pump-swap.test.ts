import { U64_MAX } from '@swapyard/lib/bigint.ts'
import {
  decodePumpSwapPool,
  findPumpSwapFees,
  type PumpSwapPool,
  type PumpSwapTrade,
  tradePumpSwap,
} from '@swapyard/lib/pools/solana/pump-swap.ts'
import { decodePumpSwapConfig } from '@swapyard/lib/pools/solana/pump-swap-accounts.ts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { pumpSwapDex } from '../../server/src/adapters/solana/dexes/pump-swap.ts'
import { magnitude } from '../../server/test/swap/routing/random-pools.ts'
import { drawSamples } from '../support/draw-samples.ts'
import { anchorAccounts } from './anchor-accounts.ts'
import { createCounter, stringify } from './counter.ts'
import { loadPumpSwap, toBigint } from './packages.ts'

/* PumpSwap: our trades against the quotes of @pump-fun/pump-swap-sdk, on the same account bytes. */

const pump = loadPumpSwap()
const { toBN } = pump
const accounts = anchorAccounts(pump.OFFLINE_PUMP_AMM_PROGRAM.coder.accounts)
type PublicKey = typeof pump.USDC_MINT
const PublicKeyOf = pump.USDC_MINT.constructor as new (address: Uint8Array | string) => PublicKey

const POOLS = 300
const TRADES = 6

/** Basis points. */
const fees = fc.record({ lp: fc.nat(100), protocol: fc.nat(100), creator: fc.nat(100) })
const draws = fc.record({
  reserves: fc.tuple(magnitude(3, 62), magnitude(3, 62)),
  supply: magnitude(10, 63),
  isCanonical: fc.boolean(),
  hasCoinCreator: fc.boolean(),
  mint: fc.nat(9),
  flatFees: fees,
  tiers: fc.array(fc.record({ step: magnitude(10, 60), fees }), { minLength: 1, maxLength: 25 }),
  /** The first threshold as a share of the market cap; 0 = all caps are above it. */
  firstShare: fc.constantFrom(0, 0, 0.5, 2),
  trades: fc.array(
    fc.record({
      kind: fc.constantFrom('buy' as const, 'sell' as const, 'buyExactQuoteIn' as const),
      size: fc.oneof(
        { weight: 6, arbitrary: magnitude(0, 22).map((share) => ({ share })) },
        { weight: 2, arbitrary: fc.bigInt(0n, 30n).map((units) => ({ units })) },
        { weight: 1, arbitrary: fc.bigInt(1n, 5n).map((units) => ({ units })) },
        { weight: 1, arbitrary: fc.bigInt(-1n, 1n).map((excess) => ({ excess })) },
      ),
    }),
    { minLength: TRADES, maxLength: TRADES },
  ),
})
type Draw = typeof draws extends fc.Arbitrary<infer T> ? T : never
type Trade = Draw['trades'][0]

const zeroKey = new PublicKeyOf(new Uint8Array(32))
const mints = Array.from({ length: 10 }, (_, index) => new PublicKeyOf(new Uint8Array(32).fill(index + 1)))
const authorities = mints.map((mint) => pump.pumpPoolAuthorityPda(mint))

function createPools(draw: Draw) {
  const [baseReserve, quoteReserve] = draw.reserves
  const toFees = ({ lp, protocol, creator }: Draw['flatFees']) => ({
    ...{ lpFeeBps: toBN(lp), protocolFeeBps: toBN(protocol), creatorFeeBps: toBN(creator) },
  })
  const cap = (quoteReserve * draw.supply) / baseReserve
  let threshold = draw.firstShare === 0 ? 0n : BigInt(Math.floor(Number(cap) * draw.firstShare))
  const feeTiers = draw.tiers.map((tier, index) => {
    // Steps relative to the market cap, so that it is between two thresholds.
    if (index > 0) threshold += (cap * tier.step) / (1n << 58n) + 1n
    return { marketCapLamportsThreshold: toBN(threshold), fees: toFees(tier.fees) }
  })
  const [baseMint, authority] = [mints[draw.mint], authorities[draw.mint]] as [PublicKey, PublicKey]
  const creator = draw.isCanonical ? authority : zeroKey
  const coinCreator = draw.hasCoinCreator ? (mints[9 - draw.mint] as PublicKey) : zeroKey
  const globalConfig = { ...accounts.zero('globalConfig', 1_000), buybackBasisPoints: toBN(5_000) }
  const feeConfig = {
    ...{ bump: 0, admin: zeroKey, flatFees: toFees(draw.flatFees), feeTiers, stableFeeTiers: [] },
    exoticFlatFees: toFees({ lp: 0, protocol: 0, creator: 0 }),
  }
  const pool = { ...accounts.zero('pool', 300), creator, baseMint, coinCreator }
  const config = decodePumpSwapConfig(
    accounts.write('globalConfig', globalConfig),
    accounts.write('feeConfig', feeConfig),
  )
  if (config === null) throw new Error('the accounts of the settings are cut off')
  const balances = { baseReserve, quoteReserve, baseSupply: draw.supply }
  const ours = decodePumpSwapPool(accounts.write('pool', pool), config, balances)
  const theirs = {
    ...{
      slippage: 0,
      baseReserve: toBN(baseReserve),
      quoteReserve: toBN(quoteReserve),
      baseMint,
      coinCreator,
      creator,
    },
    ...{ globalConfig: globalConfig as never, baseMintAccount: { supply: draw.supply } as never, feeConfig },
  }
  return { ours, theirs }
}
type Pools = ReturnType<typeof createPools>

function amountOf(pool: PumpSwapPool, { kind, size }: Trade): bigint {
  if ('units' in size) return size.units
  const reserve = kind === 'buyExactQuoteIn' ? pool.quoteReserve : pool.baseReserve
  const amount = 'excess' in size ? reserve + size.excess : (reserve * size.share) >> 21n
  return amount > U64_MAX ? U64_MAX : amount
}

/** What the trader pays and gets by the package. */
function quote({ theirs }: Pools, kind: Trade['kind'], amount: bigint) {
  try {
    if (kind === 'sell')
      return { paid: amount, received: toBigint(pump.sellBaseInput({ ...theirs, base: toBN(amount) }).uiQuote) }
    if (kind === 'buy')
      return { paid: toBigint(pump.buyBaseInput({ ...theirs, base: toBN(amount) }).uiQuote), received: amount }
    return { paid: amount, received: toBigint(pump.buyQuoteInput({ ...theirs, quote: toBN(amount) }).base) }
  } catch (error) {
    return { error: (error as Error).message }
  }
}

function tradeOf({ kind }: Trade, amount: bigint): PumpSwapTrade {
  if (kind === 'sell') return { kind, baseIn: amount, quoteOutMin: 0n }
  if (kind === 'buy') return { kind, baseOut: amount, quoteInMax: 1n << 130n }
  return { kind, quoteIn: amount, baseOutMin: 1n }
}

/** Our codes by what the package throws, or what it quotes to pay out. The recorded trades show these refusals. */
function expectRefusal(code: number, quoted: ReturnType<typeof quote>, amount: bigint, place: string): void {
  const thrown = 'error' in quoted ? quoted.error : null
  const received = 'error' in quoted ? 0n : quoted.received
  if (code === 6001) expect(amount, place).toBe(0n)
  else if (code === 6016) expect(thrown, place).toContain('more base tokens than the pool')
  else if (code === 6023) expect(thrown, place).toContain('Fees exceed total output')
  else if (code === 6025) expect(thrown, place).toContain('Pool would be depleted')
  // A purchase of nothing. The package's base may be negative.
  else if (code === 6039 || code === 6040) expect([thrown, received <= 0n], place).toEqual([null, true])
  // A sale without a fee for the coin creator, whom the pool has. The package quotes it.
  else expect([code, thrown], place).toEqual([6053, null])
}

test('a trade of PumpSwap pays what the package quotes', () => {
  const reached = createCounter()
  for (const draw of drawSamples(draws, POOLS)) {
    const pools = createPools(draw)
    for (const trade of draw.trades) {
      const amount = amountOf(pools.ours, trade)
      const result = tradePumpSwap(pools.ours, tradeOf(trade, amount))
      const quoted = quote(pools, trade.kind, amount)
      const place = stringify({ draw, trade, amount, quoted })
      if (result.error === null) {
        const { paid, received } = result
        expect({ paid, received }, place).toEqual(quoted)
        reached.add('trades')
        reached.add(trade.kind)
        if (paid > 1n << 55n || received > 1n << 55n) reached.add('more than 2^55 units')
        if (paid < 10n || received < 10n) reached.add('fewer than 10 units')
      } else {
        expectRefusal(result.error, quoted, amount, place)
        reached.add(`refused with ${result.error}`)
      }
    }
  }
  const refusals = [6001, 6016, 6023, 6025, 6039, 6040, 6053].map((code) => `refused with ${code}`)
  const required = ['buy', 'sell', 'buyExactQuoteIn', 'more than 2^55 units', 'fewer than 10 units', ...refusals]
  expect(reached.missing(required)).toEqual([])
  expect(reached.counts()['trades'], stringify(reached.counts())).toBeGreaterThan(POOLS * 3)
})

test('fee rates of PumpSwap follow the market cap as in the package', () => {
  const reached = createCounter()
  for (const draw of drawSamples(draws, POOLS)) {
    const { ours, theirs } = createPools(draw)
    const { lpFeeBps, protocolFeeBps, creatorFeeBps } = pump.computeFeesBps({
      ...{ ...theirs, baseMintSupply: toBN(draw.supply) },
    })
    const rates = findPumpSwapFees(ours)
    expect(rates, stringify(draw)).toEqual({
      ...{ lp: toBigint(lpFeeBps), protocol: toBigint(protocolFeeBps) },
      // The package adds a creator's fee to the quote only if the pool has a coin creator.
      coinCreator: draw.hasCoinCreator ? toBigint(creatorFeeBps) : 0n,
    })
    const { tiers } = ours.config
    const cap = (ours.quoteReserve * ours.baseSupply) / ours.baseReserve
    const tier = tiers.findLastIndex(({ threshold }) => threshold <= cap)
    const names = { [-1]: 'below the first tier', 0: 'first tier', [tiers.length - 1]: 'last tier' } as const
    reached.add(ours.isCanonical ? ((names as Record<number, string>)[tier] ?? 'a tier between') : 'flat')
  }
  expect(reached.missing(['flat', 'below the first tier', 'first tier', 'a tier between', 'last tier'])).toEqual([])
})

test('the server offers a pool of the pump program only against SOL: for USDC the package has other fees', () => {
  const [mint, authority] = [mints[0], authorities[0]] as [PublicKey, PublicKey]
  const feesOf = (lp: number) => ({ lpFeeBps: toBN(lp), protocolFeeBps: toBN(5), creatorFeeBps: toBN(0) })
  const tierOf = (lp: number) => [{ marketCapLamportsThreshold: toBN(0), fees: feesOf(lp) }]
  const feeConfig = {
    ...{ bump: 0, admin: zeroKey, flatFees: feesOf(25), feeTiers: tierOf(20), stableFeeTiers: tierOf(70) },
    exoticFlatFees: feesOf(90),
  }
  const readWith = (quoteMint: string) => {
    const pool = {
      ...accounts.zero('pool', 300),
      creator: authority,
      baseMint: mint,
      quoteMint: new PublicKeyOf(quoteMint),
    }
    return pumpSwapDex.read({
      identity: { id: 'p', address: 'p', dex: 'pump', tokens: [mint.toBase58(), quoteMint], decimals: [6, 9] } as never,
      ...{ data: accounts.write('pool', pool), balances: [10n ** 12n, 10n ** 12n], transferFees: [null, null] },
      account: (address) =>
        address === pump.PUMP_AMM_FEE_CONFIG_PDA.toBase58()
          ? accounts.write('feeConfig', feeConfig)
          : accounts.write('globalConfig', accounts.zero('globalConfig', 1_000)),
      ...{ unixTime: 1_900_000_000n, slot: 1n },
    })
  }
  const [usdc, sol] = [pump.USDC_MINT, pump.SOL_LIKE_QUOTE_MINTS[1] as PublicKey]
  const rateWith = (quoteMint: PublicKey) =>
    toBigint(pump.feesForQuoteMint({ feeConfig, isPumpPool: true, marketCap: toBN(1), quoteMint }).lpFeeBps)
  expect([rateWith(usdc), readWith(usdc.toBase58())]).toEqual([70n, null])
  expect(rateWith(sol)).toBe(20n)
  expect(findPumpSwapFees(readWith(sol.toBase58())?.state as PumpSwapPool).lp).toBe(20n)
})
