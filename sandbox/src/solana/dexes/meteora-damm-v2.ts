import type { Address } from '@solana/kit'
import { squareRoot } from '@swapyard/lib/bigint.ts'
import { type DammPool, type DammSwap, swapMeteoraDammV2 } from '@swapyard/lib/pools/solana/meteora-damm-v2.ts'
import { decodeDammPool } from '@swapyard/lib/pools/solana/meteora-damm-v2-accounts.ts'
import { vaultAccounts } from '../genesis-accounts.ts'
import { readTokenAccount } from '../token-state.ts'
import {
  ANCHOR,
  addressesAt,
  codeOf,
  type DexClock,
  type DexInstruction,
  type DexOutcome,
  type DexProgram,
  ownerOf,
  type Pair,
  type ReadAccount,
  readOwned,
  readTransferFees,
  unitsOf,
  writeU128,
} from './dex-program.ts'
import { accountAt, addressOf, encodeCall, type MarketPool, meta, type PoolPlan, put } from './market-pool.ts'

const program = 'cpamdpZCGKUy5JxQXB4dcpGPiikHawvSWAd6mEn1sGG' as Address
const poolAuthority = 'HLnpSz9h2S4hiLQ43rnSD9XkcUThA7B8hQMKmDaiTLcC' as Address
/** The program's address for the seed `__event_authority`. */
const eventAuthority = '3rmHSu74h1ZcmAisVcWerTCiRDQbUrBKmcwptYGjHfet' as Address
const instructionsSysvar = 'Sysvar1nstructions1111111111111111111111111' as Address

/** First 8 bytes of sha256("account:Pool"), sha256("global:swap") and sha256("global:swap2"). */
const poolMark = Buffer.from('f19a6d0411b16dbc', 'hex')
const swapMark = Buffer.from('f8c69e91e17587c8', 'hex')
const swap2Mark = Buffer.from('414b3f4ceb5b5b88', 'hex')
const modes = ['exactIn', 'partialFill', 'exactOut'] as const

/** Offsets in the account of a pool. */
const at = {
  cliff: 8,
  protocolPercent: 48,
  referralPercent: 50,
  compoundingBps: 54,
  lastUpdate: 80,
  sqrtPriceReference: 104,
  accumulator: 120,
  volatilityReference: 136,
  initialSqrtPrice: 152,
  mints: [168, 200],
  vaults: [232, 264],
  liquidity: 360,
  protocolFees: [392, 400],
  sqrtPriceMin: 424,
  sqrtPriceMax: 440,
  sqrtPrice: 456,
  feeMode: 484,
  feeVersion: 486,
  feeGrowth: [488, 520],
  lpFees: [568, 584],
  reserves: [680, 688],
  layoutVersion: 696,
} as const
const poolBytes = 1_112

/** swap and swap2, without referrals. Sums over all swaps that no swap reads are not updated. */
export const meteoraDammV2: DexProgram = { address: program, title: 'swap and swap2 of Meteora DAMM v2', execute }

type Terms = Pick<DammSwap, 'kind' | 'amount' | 'limit'>

/** Null for another instruction. */
function readTerms(data: Buffer): Terms | null {
  const mark = data.subarray(0, 8)
  const [amount, limit] = data.length < 24 ? [0n, 0n] : [data.readBigUInt64LE(8), data.readBigUInt64LE(16)]
  if (mark.equals(swapMark) && data.length === 24) return { kind: 'exactIn', amount, limit }
  const kind = modes[data[24] ?? modes.length]
  return mark.equals(swap2Mark) && data.length === 25 && kind !== undefined ? { kind, amount, limit } : null
}

function execute({ accounts, data, signers }: DexInstruction, read: ReadAccount, clock: DexClock): DexOutcome {
  const terms = readTerms(Buffer.from(data))
  if (terms === null) return { error: ANCHOR.unknownInstruction }
  const [authority, poolAddress, source, target, vaultA, vaultB, mintA, mintB, payer, ...rest] = accounts
  const [programA, programB, referral, events, own, sysvar] = rest
  if (!poolAddress || !source || !target || !mintA || !mintB || !payer || !programA || !programB || !own)
    return { error: ANCHOR.notEnoughAccounts }
  if (!signers.has(payer)) return { error: ANCHOR.notSigner }
  const isOwn = authority === poolAuthority && referral === program && events === eventAuthority && own === program
  if (!isOwn) return { error: ANCHOR.constraintAddress }
  const poolData = readOwned(read, poolAddress, program)
  if (poolData === null) return { error: ANCHOR.wrongOwner }
  const [mints, vaults] = [addressesAt(poolData, at.mints), addressesAt(poolData, at.vaults)]
  if (mints[0] !== mintA || mints[1] !== mintB || vaults[0] !== vaultA || vaults[1] !== vaultB)
    return { error: ANCHOR.constraintHasOne }
  if (ownerOf(read, mintA) !== programA || ownerOf(read, mintB) !== programB) return { error: ANCHOR.constraintAddress }
  const aToB = readTokenAccount(read(source))?.mint === mintA
  const pool: DammPool = {
    state: decodeDammPool(poolData),
    vaults: [unitsOf(read, vaults[0]), unitsOf(read, vaults[1])],
    transferFees: readTransferFees(read, mints, clock.epoch),
  }
  const { unixTime, slot } = clock
  const hasInstructions = sysvar === instructionsSysvar
  const result = swapMeteoraDammV2(pool, { ...terms, aToB, unixTime, slot, hasReferral: false, hasInstructions })
  if (result.error !== null) return { error: codeOf(result.error) }
  const [input, output] = aToB ? ([0, 1] as const) : ([1, 0] as const)
  const tokenOf = (side: 0 | 1) => ({ tokenProgram: side === 0 ? programA : programB, mint: mints[side] })
  // What leaves the vault; the target gets it without the transfer fee.
  const sent = pool.vaults[output] - result.next.vaults[output]
  return {
    error: null,
    transfers: [
      { ...tokenOf(input), source, destination: vaults[input], authority: payer, units: result.paid },
      { ...tokenOf(output), source: vaults[output], destination: target, authority: poolAuthority, units: sent },
    ],
    writes: new Map([[poolAddress, withState(poolData, result.next)]]),
  }
}

function withState(before: Buffer, { state }: DammPool): Uint8Array {
  const data = Buffer.from(before)
  const { volatility, sqrtPrice, reserves, protocolFees, lpFees, feeGrowth } = state
  data.writeBigUInt64LE(volatility.lastUpdate, at.lastUpdate)
  writeU128(data, volatility.sqrtPriceReference, at.sqrtPriceReference)
  writeU128(data, volatility.accumulator, at.accumulator)
  writeU128(data, volatility.reference, at.volatilityReference)
  writeU128(data, sqrtPrice, at.sqrtPrice)
  for (const side of [0, 1] as const) {
    data.writeBigUInt64LE(reserves[side], at.reserves[side])
    data.writeBigUInt64LE(protocolFees[side], at.protocolFees[side])
    writeU128(data, lpFees[side], at.lpFees[side])
    writeU128(data, feeGrowth[side] & (2n ** 128n - 1n), at.feeGrowth[side])
    writeU128(data, feeGrowth[side] >> 128n, at.feeGrowth[side] + 16)
  }
  return new Uint8Array(data)
}

/** Fees are parts of 10^9 in the account. */
const ratePerPpm = 1_000n
/** The range reaches from two thirds of the root of the price to three halves. */
const [rangeLow, rangeHigh] = [2n, 3n]

export type DammPlan = Readonly<{ feePpm: number; isCompounding?: boolean }>

/** A pool whose fee is taken from the output. A compounding one takes it in B and keeps half of it in its reserve. */
export function createDammPool(plan: PoolPlan, { feePpm, isCompounding = false }: DammPlan): MarketPool {
  const { name, tickers, mints, reserves } = plan
  const address = addressOf(name)
  const vaults: Pair<Address> = [addressOf(`${name} vault 0`), addressOf(`${name} vault 1`)]
  const data = Buffer.alloc(poolBytes)
  const sqrtPrice = squareRoot((reserves[1] << 128n) / reserves[0])
  const [low, high] = [(sqrtPrice * rangeLow) / rangeHigh, (sqrtPrice * rangeHigh) / rangeLow]
  data.set(poolMark)
  data.writeBigUInt64LE(BigInt(feePpm) * ratePerPpm, at.cliff)
  data[at.protocolPercent] = 20
  data[at.referralPercent] = 20
  data.writeUInt16LE(isCompounding ? 5_000 : 0, at.compoundingBps)
  for (const [value, offset] of [
    [sqrtPrice, at.initialSqrtPrice],
    [sqrtPrice, at.sqrtPrice],
    [low, at.sqrtPriceMin],
    [high, at.sqrtPriceMax],
    // Its part below the price is the reserve of B.
    [(reserves[1] << 128n) / (sqrtPrice - low), at.liquidity],
  ] as const)
    writeU128(data, value, offset)
  data[at.feeMode] = isCompounding ? 2 : 0
  data[at.feeVersion] = 1
  data[at.layoutVersion] = 1
  for (const side of [0, 1] as const) {
    put(data, vaults[side], at.vaults[side])
    put(data, mints[side].address, at.mints[side])
    data.writeBigUInt64LE(reserves[side], at.reserves[side])
  }
  return {
    ...{ program: meteoraDammV2, address, tickers, mints, vaults, tolerancePpm: feePpm },
    genesis: [accountAt(address, program, data), ...vaultAccounts(vaults, mints, poolAuthority, reserves)],
    readPrice: (read) => (Number(decodeDammPool(readOwned(read, address, program) ?? data).sqrtPrice) / 2 ** 64) ** 2,
    swap: (_, { owner, source, target, units }) => ({
      programAddress: program,
      accounts: [
        ...[meta(poolAuthority, 'r'), meta(address, 'w'), meta(source, 'w'), meta(target, 'w')],
        ...[meta(vaults[0], 'w'), meta(vaults[1], 'w'), meta(mints[0].address, 'r'), meta(mints[1].address, 'r')],
        ...[meta(owner, 's'), meta(mints[0].program, 'r'), meta(mints[1].program, 'r'), meta(program, 'r')],
        ...[meta(eventAuthority, 'r'), meta(program, 'r')],
      ],
      data: encodeCall(swap2Mark, [units, 0n], Buffer.from([0])),
    }),
  }
}
