import { bcs } from '@mysten/sui/bcs'
import { Transaction, type TransactionArgument } from '@mysten/sui/transactions'
import type { DeepbookLedger, RestingOrder } from '@swapyard/lib/pools/sui/deepbook-accounts.ts'
import { expect, test } from 'vitest'
import { deepType } from '../../../../sandbox/src/sui/coins.ts'
import { createDeepbookFunctions } from '../../../../sandbox/src/sui/deepbook-functions.ts'
import { createDeepbookPool, setMakerOrders } from '../../../../sandbox/src/sui/deepbook-pool.ts'
import { startTestNode } from '../../../../sandbox/src/sui/sui-node.fixture.ts'
import { readPublicVectors } from '../../../../test/support/vectors.ts'
import { replayDeepbookBooks } from '../../../src/cli/lab/deepbook.ts'

type Row = Readonly<{
  baseOut?: string
  quoteOut?: string
  deepOut?: string
  abort?: readonly [string, number | string]
}>
type Recorded = Readonly<{ books: readonly Readonly<{ ops: readonly Row[] }>[] }>

const address = `0x${'db'.repeat(32)}`
const [baseType, quoteType] = [`0x${'b'.repeat(64)}::base::BASE`, `0x${'c'.repeat(64)}::quote::QUOTE`] as const
const clock = `0x${'6'.padStart(64, '0')}`

async function start() {
  let nowMs = 0
  const { node, client, createFunded } = await startTestNode({
    ...{ functions: createDeepbookFunctions(address, deepType) },
    clock: { now: () => nowMs, every: () => () => undefined },
  })
  node.createObject(
    { type: '0x2::clock::Clock', owner: { kind: 'shared', initialVersion: 1n }, hasPublicTransfer: false },
    (id) =>
      bcs.struct('Clock', { id: bcs.Address, timestampMs: bcs.u64() }).serialize({ id, timestampMs: 0 }).toBytes(),
    clock,
  )
  const { keypair, address: trader } = createFunded(10n ** 15n)
  let pools = 0

  /** The pool in the recorded state, at its time. */
  function createPool(ledger: DeepbookLedger): string {
    nowMs = Number(ledger.nowMs)
    node.addCheckpoints(1)
    const { tickSize, lotSize, minSize, takerFee, makerFee, deepPrice, isWhitelisted } = ledger
    const plan = {
      ...{ address, types: [baseType, quoteType] as const, index: pools++ },
      ...{ tickSize, lotSize, minSize, takerFee, makerFee, deepPrice, isWhitelisted },
    }
    const pool = createDeepbookPool(node, plan)
    const ordersOf = (orders: readonly RestingOrder[]) =>
      orders.map(({ manager, price, remaining, expiresAtMs }) => ({
        ...{ price, expiresAtMs, quantity: remaining },
        maker: `0x${(Number(manager) + 1).toString(16).padStart(64, '0')}`,
      }))
    setMakerOrders(node, pool, plan, { bids: ordersOf(ledger.bids), asks: ordersOf(ledger.asks) })
    return pool
  }

  /** Swaps by a transaction; what comes back of base, quote and DEEP. */
  async function swap(pool: string, isBid: boolean, amounts: readonly [amount: bigint, deep: bigint, minimum: bigint]) {
    const recipient = `0x${(pools + 0x1000).toString(16).padStart(64, '0')}`
    const t = new Transaction()
    const coinOf = (type: string, amount: bigint): TransactionArgument =>
      amount === 0n
        ? (t.moveCall({ target: '0x2::coin::zero', typeArguments: [type] }) as unknown as TransactionArgument)
        : t.object(node.mint(trader, amount, type).id)
    const [amount, deep, minimum] = amounts
    const coins = [coinOf(isBid ? quoteType : baseType, amount), coinOf(deepType, deep)]
    const name = isBid ? 'swap_exact_quote_for_base' : 'swap_exact_base_for_quote'
    const swapped = t.moveCall({
      ...{ target: `${address}::pool::${name}`, typeArguments: [baseType, quoteType] },
      arguments: [t.object(pool), ...coins, t.pure.u64(minimum), t.object(clock)],
    }) as unknown as readonly TransactionArgument[]
    t.transferObjects([swapped[0], swapped[1], swapped[2]] as TransactionArgument[], recipient)
    await client.signAndExecuteTransaction({ transaction: t, signer: keypair })
    return [baseType, quoteType, deepType].map((type) => node.readBalance(recipient, type).toString())
  }
  return { createPool, swap }
}

const recorded = readPublicVectors<Recorded>('sui_deepbook_orders.json') as Recorded

test.skipIf(recorded === null)(
  'the node pays what every recorded swap in an order book paid, or aborts as it did',
  async () => {
    const { createPool, swap } = await start()
    const swaps = replayDeepbookBooks(recorded)
      .filter(({ operation }) => operation.op.startsWith('swap_exact_'))
      // The time of a chain does not go back.
      .sort((a, b) => Number(a.before.nowMs - b.before.nowMs))
    expect(swaps.length).toBeGreaterThanOrEqual(96)
    for (const { book, index, operation, before } of swaps) {
      const row = recorded.books[book]?.ops[index] ?? {}
      const { amountIn = '0', deepIn = '0', minOut = '0' } = operation
      const pool = createPool(before)
      const amounts = [BigInt(amountIn), BigInt(deepIn), BigInt(minOut)] as const
      const swapped = swap(pool, operation.op === 'swap_exact_quote_for_base', amounts)
      const label = `operation ${index} of book ${book}`
      if (row.abort === undefined) expect(await swapped, label).toEqual([row.baseOut, row.quoteOut, row.deepOut])
      else await expect(swapped, label).rejects.toThrow(`abort code: ${row.abort[1]}`)
    }
  },
)
