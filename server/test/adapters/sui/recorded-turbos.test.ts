import { bcs } from '@mysten/sui/bcs'
import { Transaction } from '@mysten/sui/transactions'
import { fromI32 } from '@swapyard/lib/pools/sui/signed-integers.ts'
import { turbosPoolSchema } from '@swapyard/lib/pools/sui/turbos-objects.ts'
import { expect, test } from 'vitest'
import { startTestNode } from '../../../../sandbox/src/sui/sui-node.fixture.ts'
import { createTurbosFunctions } from '../../../../sandbox/src/sui/turbos-functions.ts'
import { startTurbosPool } from '../../../../sandbox/src/sui/turbos-pool.ts'
import { addTurbosSwap } from '../../../../sandbox/src/sui/turbos-swap.ts'
import { readPublicVectors } from '../../../../test/support/vectors.ts'

type Row = Readonly<{
  aToB: boolean
  isExactIn: boolean
  amount: string
  sqrtPriceLimit: string
  /** Absent if the swap aborts. */
  swap?: Readonly<{ amountA: string; amountB: string; feeAmount: string; tick: number }> &
    Readonly<
      Record<'sqrtPrice' | 'liquidity' | 'feeGrowthA' | 'feeGrowthB' | 'protocolFeesA' | 'protocolFeesB', string>
    >
  swapAbort?: readonly [string, number | string]
}>
type Recorded = Readonly<{
  pools: readonly Readonly<{
    sqrtPrice: string
    tick: number
    liquidity: string
    tickSpacing: number
    fee: number
    feeProtocol: number
    ticks: readonly (readonly [number, string, string])[]
    swaps: readonly Row[]
  }>[]
}>

const address = `0x${'7b'.repeat(32)}`
const types = [`0x${'b'.repeat(64)}::a::A`, `0x${'c'.repeat(64)}::b::B`, `${address}::fee::FEE`] as const
const clock = `0x${'6'.padStart(64, '0')}`
/** Of the pool and of the trader. Swaps of larger amounts than the second are left out, so that no sum exceeds u64. */
const held = 2n ** 62n
const amountMax = 2n ** 58n

async function start() {
  const { node, client, createFunded } = await startTestNode({ functions: createTurbosFunctions(address) })
  const share = (type: string, id?: string) =>
    node.createObject(
      { type, owner: { kind: 'shared', initialVersion: 1n }, hasPublicTransfer: false },
      (own) => bcs.struct(type, { id: bcs.Address, number: bcs.u64() }).serialize({ id: own, number: 18 }).toBytes(),
      id,
    ).id
  share('0x2::clock::Clock', clock)
  const versioned = share(`${address}::pool::Versioned`)
  const { keypair, address: trader } = createFunded(10n ** 15n)
  return {
    node,
    async readPool(pool: string) {
      const { object } = await client.getObject({ objectId: pool, include: { content: true } })
      const { tick, ...state } = turbosPoolSchema.parse(object.content)
      return { ...state, tick: fromI32(tick) }
    },
    /** Returns the amounts of coin A and coin B that were paid and received. */
    async swap(pool: string, { aToB, isExactIn, amount, sqrtPriceLimit }: Row, number: number) {
      const recipient = `0x${(number + 0x1000).toString(16).padStart(64, '0')}`
      const t = new Transaction()
      const coin = t.object(node.mint(trader, held, types[aToB ? 0 : 1]).id)
      const [paid, rest] = addTurbosSwap(
        t,
        { address, versioned, pool, clock },
        {
          ...{ types, a2b: aToB, coin, amount: BigInt(amount), sqrtPriceLimit: BigInt(sqrtPriceLimit), recipient },
          ...{ isExactIn, threshold: isExactIn ? 0n : 2n ** 64n - 1n },
        },
      )
      t.transferObjects([paid, rest], recipient)
      await client.signAndExecuteTransaction({ transaction: t, signer: keypair })
      const [a, b] = [types[0], types[1]].map((type) => node.readBalance(recipient, type)) as [bigint, bigint]
      return aToB ? { amountA: `${held - a}`, amountB: `${b}` } : { amountA: `${a}`, amountB: `${held - b}` }
    },
  }
}

const isSmall = ({ amount, swap }: Row): boolean =>
  [amount, swap?.amountA ?? '0', swap?.amountB ?? '0'].every((units) => BigInt(units) < amountMax)

/** The swaps of a pool, each on the state that the one before left, until an amount is too large. */
function takeSmall(rows: readonly Row[]): readonly Row[] {
  const end = rows.findIndex((row) => !isSmall(row))
  return end === -1 ? rows : rows.slice(0, end)
}

const recorded = readPublicVectors<Recorded>('sui_turbos_swaps.json') as Recorded

test.skipIf(recorded === null)(
  'the node pays what recorded swaps of Turbos paid, and leaves the pool as they did',
  async () => {
    const { node, swap, readPool } = await start()
    let number = 0
    for (const [index, one] of recorded.pools.entries()) {
      const { tick, tickSpacing, fee: feeRate, feeProtocol } = one
      const pool = startTurbosPool(node, {
        ...{ address, types: [types[0], types[1]], feeType: types[2], index, feeRate, tickSpacing, feeProtocol, tick },
        ...{ sqrtPrice: BigInt(one.sqrtPrice), liquidity: BigInt(one.liquidity), coins: [held, held] },
        ticks: new Map(one.ticks.map(([at, net, gross]) => [at, { net: BigInt(net), gross: BigInt(gross) }])),
      })
      for (const row of takeSmall(one.swaps)) {
        const label = `swap ${number} of pool ${index}`
        const amounts = swap(pool, row, number)
        number += 1
        if (row.swap === undefined) {
          await expect(amounts, label).rejects.toThrow(`abort code: ${row.swapAbort?.[1]}`)
          continue
        }
        const { amountA, amountB, feeAmount: _, ...state } = row.swap
        expect(await amounts, label).toEqual({ amountA, amountB })
        expect(await readPool(pool), label).toMatchObject(state)
      }
    }
    expect(number).toBeGreaterThanOrEqual(136)
  },
)
