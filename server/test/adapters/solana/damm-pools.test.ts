import { base58 } from '@scure/base'
import { describe, expect, test } from 'vitest'
import { readPublicVectors } from '../../../../test/support/vectors.ts'
import { sol } from '../../../dexes/sol.ts'
import { depthOfPool } from '../../../src/adapters/pools/depth.ts'
import { dexOf, isSolanaKind } from '../../../src/adapters/solana/dexes/dexes.ts'
import { tokenProgram } from '../../../src/adapters/solana/program-address.ts'
import { poolFeePpm } from '../../../src/swap/routing/pool-fee.ts'
import { swapExact } from '../../../src/swap/routing/pool-kinds.ts'
import { applyChanges, type Changes } from '../../swap/routing/pools/recorded-swaps.ts'

/* Which recorded pools of Meteora DAMM v2 are traded on, and what they pay. */

type Pool = Readonly<{
  what: string
  address: string
  poolData: string
  vaultA: string
  vaultB: string
  transferFees?: unknown
  pool: Readonly<{ activationPoint: string; activationType: number }>
  cases: readonly Readonly<{
    mode: string
    direction: string
    amountIn?: string
    unixTimestamp: string
    slot: string
    userReceived?: string
    poolDataChanges?: Changes
  }>[]
}>

const recorded = readPublicVectors<{ pools: readonly Pool[] }>('solana_meteora_damm_v2.json')
const dex = dexOf('meteora-damm-v2')

const poolOf = (what: string): Pool => {
  const found = recorded?.pools.find((one) => one.what.startsWith(what))
  if (found === undefined) throw new Error(`no recorded pool: ${what}`)
  return found
}
const bytesOf = ({ poolData }: Pool): Buffer => Buffer.from(poolData, 'base64')

function read(pool: Pool, at: Readonly<{ unixTime: bigint; slot: bigint }>, change = (_: Buffer): unknown => null) {
  const data = bytesOf(pool)
  change(data)
  const pairAt = ([first, second]: readonly [number, number]) =>
    [base58.encode(data.subarray(first, first + 32)), base58.encode(data.subarray(second, second + 32))] as const
  const identity = {
    ...{ id: pool.address, address: pool.address, dex: 'meteora-damm-v2', decimals: [6, 6] as const },
    ...{ tokens: pairAt(dex.mintsAt), vaults: pairAt(dex.vaultsAt), programs: [tokenProgram, tokenProgram] as const },
  }
  return dex.read({
    ...{ identity, data, balances: [BigInt(pool.vaultA), BigInt(pool.vaultB)], transferFees: [null, null] },
    ...{ account: () => null, ...at },
  })
}

/** A time far after every schedule. */
const late = { unixTime: 1_900_000_000n, slot: 900_000_000n }
const activationOf = ({ pool }: Pool) => BigInt(pool.activationPoint)

describe.skipIf(recorded === null)('a pool of DAMM v2', () => {
  test('pays to the unit what the program paid in each recorded swap with an exact input', () => {
    let compared = 0
    for (const pool of recorded?.pools ?? []) {
      const data = bytesOf(pool)
      for (const { mode, direction, amountIn = '0', unixTimestamp, slot, ...row } of pool.cases) {
        const at = { unixTime: BigInt(unixTimestamp), slot: BigInt(slot) }
        const whole = read({ ...pool, poolData: data.toString('base64') }, at)
        applyChanges(data, row.poolDataChanges ?? [])
        const isPlain = mode === 'exactIn' && row.userReceived !== undefined && pool.transferFees === undefined
        if (!isPlain || whole === null) continue
        const tokenIn = direction === 'aToB' ? 0 : 1
        const paid = swapExact(whole, tokenIn, 1 - tokenIn, BigInt(amountIn))?.amountOut ?? 0n
        expect(`${paid}`, `${pool.what}: ${amountIn}`).toBe(row.userReceived)
        compared += 1
      }
    }
    expect(compared).toBe(137)
  })

  test('is left out before its activation, and when it is disabled', () => {
    const pool = poolOf('not yet active')
    expect(read(pool, { unixTime: activationOf(pool) - 1n, slot: activationOf(pool) - 1n })).toBeNull()
    expect(read(pool, late)).not.toBeNull()
    expect(read(pool, late, (data) => data.writeUInt8(1, 481))).toBeNull()
  })

  test('is left out while its fee depends on the amount', () => {
    const pool = poolOf('rate limiter')
    const start = { unixTime: activationOf(pool), slot: activationOf(pool) }
    expect(read(pool, start)).toBeNull()
    expect(read(pool, late)).not.toBeNull()
  })

  test('is left out while its fee follows the slots', () => {
    const pool = poolOf('exponential time scheduler, by slot')
    expect(pool.pool.activationType).toBe(0)
    expect(read(pool, { unixTime: late.unixTime, slot: activationOf(pool) })).toBeNull()
    expect(read(pool, late)).not.toBeNull()
  })

  test('with a fee that falls with the time is read again at each step of it', () => {
    const pool = poolOf('linear time scheduler from 50 %')
    const start = activationOf(pool)
    const phases = Array.from({ length: 4_000 }, (_, second) => dex.phaseOf?.(bytesOf(pool), start + BigInt(second)))
    const fees = Array.from({ length: 4_000 }, (_, second) => {
      const one = read(pool, { unixTime: start + BigInt(second), slot: 0n })
      return one === null ? 0 : poolFeePpm(one, 0)
    })
    expect(fees[0]).toBe(500_000)
    expect(new Set(fees).size).toBeGreaterThan(3)
    for (let second = 1; second < fees.length; second++) {
      expect(fees[second]).toBeLessThanOrEqual(fees[second - 1] as number)
      if (fees[second] !== fees[second - 1]) expect(phases[second]).not.toBe(phases[second - 1])
    }
  })

  test.each([
    ['an unknown mode of fees', 484, 3],
    ['an unknown schedule', 16, 5],
    ['another layout', 696, 2],
  ])('is left out with %s', (_, offset, value) => {
    expect(read(poolOf('fee 0.25 %'), late, (data) => data.writeUInt8(value, offset))).toBeNull()
  })

  test('is as deep as what it pays until the price has moved by two percent', () => {
    const whole = read(poolOf('fee 0.25 %'), late)
    if (whole?.kind !== 'meteora-damm-v2') throw new Error('the pool cannot be read')
    const { amounts } = depthOfPool(whole)
    // x·y = k over nearly all prices: a hundredth of 10^12 on each side.
    for (const amount of amounts) expect(Math.abs(amount / 1e10 - 1)).toBeLessThan(0.02)
    const narrow = read(poolOf('narrow range'), late)
    if (narrow?.kind !== 'meteora-damm-v2') throw new Error('the pool cannot be read')
    const held = [narrow.state.vaults[0], narrow.state.vaults[1]].map(Number)
    for (const [side, amount] of depthOfPool(narrow).amounts.entries())
      expect(amount).toBeLessThanOrEqual((held[side] ?? 0) * 1.000001)
  })
})

test('production lists every DEX of Solana, with its program', () => {
  for (const { kind, factory } of sol.dexes) expect(isSolanaKind(kind) && dexOf(kind).program).toBe(factory)
  const kinds = ['raydium-cpmm', 'raydium-clmm', 'raydium-amm-v4', 'meteora-dlmm', 'meteora-damm-v2', 'pump-swap']
  expect(sol.dexes.map(({ kind }) => kind)).toEqual(kinds)
})
