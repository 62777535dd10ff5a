import { bcs } from '@mysten/sui/bcs'
import { Transaction } from '@mysten/sui/transactions'
import {
  deepbookAccountSchema,
  deepbookInnerSchema,
  deepbookPoolSchema,
} from '@swapyard/lib/pools/sui/deepbook-objects.ts'
import { expect, test } from 'vitest'
import { deepbookPackage } from './books.ts'
import { deepType, suiTokens } from './coins.ts'
import { createDeepbookFunctions } from './deepbook-functions.ts'
import { createDeepbookPool, type MakerOrders, setMakerOrders } from './deepbook-pool.ts'
import { SUI, startTestNode } from './sui-node.fixture.ts'
import { SUI_TYPE } from './sui-object.ts'

const usdc = suiTokens[0]?.type ?? ''
const clock = `0x${'6'.padStart(64, '0')}`
const [first, second] = ['a1', 'a2'].map((byte) => `0x${byte.repeat(32)}`) as [string, string]
/** US dollars for a SUI, as prices of the book: of 9 and 6 decimals. */
const dollars = (price: number) => BigInt(price * 1_000_000)
const plan = {
  ...{ address: deepbookPackage, types: [SUI_TYPE, usdc] as const, index: 0, tickSize: 10n, lotSize: SUI / 10n },
  ...{
    minSize: SUI,
    takerFee: 1_000_000n,
    makerFee: 500_000n,
    deepPrice: { assetIsBase: false, deepPerAsset: 33_333_333_333n },
  },
}
const orders: MakerOrders = {
  bids: [
    { maker: first, price: dollars(1.9), quantity: 10n * SUI },
    { maker: second, price: dollars(1.8), quantity: 10n * SUI },
  ],
  asks: [
    { maker: second, price: dollars(2.1), quantity: 10n * SUI },
    { maker: first, price: dollars(2), quantity: 10n * SUI },
  ],
}

async function start(placed = orders) {
  const started = await startTestNode({ functions: createDeepbookFunctions(deepbookPackage, deepType) })
  const { node, client, createFunded } = started
  node.createObject(
    { type: '0x2::clock::Clock', owner: { kind: 'shared', initialVersion: 1n }, hasPublicTransfer: false },
    (id) =>
      bcs.struct('Clock', { id: bcs.Address, timestampMs: bcs.u64() }).serialize({ id, timestampMs: 0 }).toBytes(),
    clock,
  )
  const pool = createDeepbookPool(node, plan)
  setMakerOrders(node, pool, plan, placed)
  const { keypair, address } = createFunded(100n * SUI)

  /** The book's state, as a client reads it. */
  async function readPool() {
    const { object } = await client.getObject({ objectId: pool, include: { content: true } })
    const { inner } = deepbookPoolSchema.parse(object.content)
    const name = { type: 'u64', bcs: bcs.u64().serialize(inner.version).toBytes() }
    const { dynamicField } = await client.getDynamicField({ parentId: inner.id, name })
    return deepbookInnerSchema.parse(dynamicField.value.bcs)
  }
  return {
    ...{ ...started, pool, readPool },
    async readAccount(maker: string) {
      const { accounts } = (await readPool()).state
      const name = { type: '0x2::object::ID', bcs: bcs.Address.serialize(maker).toBytes() }
      const { dynamicField } = await client.getDynamicField({ parentId: accounts.id, name })
      return deepbookAccountSchema.parse(dynamicField.value.bcs)
    },
    /** Swaps an amount, sends all that comes back to an address of its own, and returns what that has. */
    async swap({ isBid = true, amount = 0n, deep = 0n, minimum = 0n }) {
      const recipient = `0x${'b'.repeat(64)}`
      const t = new Transaction()
      const input = isBid ? t.object(node.mint(address, amount, usdc).id) : t.splitCoins(t.gas, [amount])[0]
      const [deepIn] =
        deep === 0n
          ? [t.moveCall({ target: '0x2::coin::zero', typeArguments: [deepType] })]
          : [t.object(node.mint(address, deep, deepType).id)]
      const name = isBid ? 'swap_exact_quote_for_base' : 'swap_exact_base_for_quote'
      const [base, quote, deepOut] = t.moveCall({
        ...{ target: `${deepbookPackage}::pool::${name}`, typeArguments: [SUI_TYPE, usdc] },
        arguments: [t.object(pool), input as never, deepIn as never, t.pure.u64(minimum), t.object(clock)],
      })
      t.transferObjects([base, quote, deepOut] as never, recipient)
      const { $kind } = await client.signAndExecuteTransaction({ transaction: t, signer: keypair })
      expect($kind).toBe('Transaction')
      return [SUI_TYPE, usdc, deepType].map((type) => node.readBalance(recipient, type))
    },
  }
}

test('a bid takes the best asks in whole lots, pays the fee in the input and gets the rest back', async () => {
  const { swap, readPool, readAccount } = await start()
  const before = await readPool()
  // 10 SUI at 2 and 5.2 at 2.1 dollars are 30.92 dollars; 1.25 times 0.1 % of that are 0.03865.
  expect(await swap({ amount: 31_000_000n })).toEqual([15_200_000_000n, 41_350n, 0n])
  const after = await readPool()
  expect(BigInt(before.vault.base) - BigInt(after.vault.base)).toBe(15_200_000_000n)
  expect(BigInt(after.vault.quote) - BigInt(before.vault.quote)).toBe(30_958_650n)
  expect(after.book.asks.length).toBe('1')
  expect(await readAccount(first)).toMatchObject({
    settled: { base: '0', quote: '20000000' },
    makerVolume: '10000000000',
  })
  expect(await readAccount(second)).toMatchObject({ settled: { quote: '10920000' }, makerVolume: '5200000000' })
  expect((await readAccount(first)).openOrders).toHaveLength(1)
  expect((await readAccount(second)).openOrders).toHaveLength(2)
  // 4.8 SUI are left at 2.1 dollars: with the fee 10.092600 dollars.
  expect(await swap({ amount: 20_000_000n })).toEqual([20_000_000_000n, 41_350n + 9_907_400n, 0n])
  expect((await readPool()).book.asks).toMatchObject({ length: '0', rootId: '0' })
})

test('an ask takes the best bids, and the fee can be paid in DEEP', async () => {
  const { swap } = await start()
  // 3 SUI at 1.9 dollars; the fee is 0.00375 SUI.
  expect(await swap({ isBid: false, amount: 3_050_000_000n })).toEqual([46_250_000n, 5_700_000n, 0n])
  // 15.2 SUI for 30.92 dollars. 0.1 % of that is 1.030666 DEEP, at 33.333333333 DEEP for a dollar.
  expect(await swap({ amount: 31_000_000n, deep: 5_000_000n })).toEqual([
    ...[46_250_000n + 15_200_000_000n, 5_700_000n + 80_000n, 5_000_000n - 1_030_666n],
  ])
})

test('below the minimum size nothing is traded, and everything comes back', async () => {
  const { swap, readPool } = await start()
  const before = await readPool()
  expect(await swap({ isBid: false, amount: SUI - 1n, minimum: 5n })).toEqual([SUI - 1n, 0n, 0n])
  expect(await readPool()).toEqual(before)
})

test('a swap aborts below its minimum output, and without enough DEEP for the fee', async () => {
  const { swap } = await start()
  await expect(swap({ amount: 31_000_000n, minimum: 15_200_000_001n })).rejects.toThrow(/abort code: 11/)
  await expect(swap({ amount: 31_000_000n, deep: 1_030_665n })).rejects.toThrow(/abort code: 3,.*balance_manager/)
  expect(await swap({ amount: 31_000_000n, minimum: 15_200_000_000n })).toEqual([15_200_000_000n, 41_350n, 0n])
})

test('an expired order is passed over and given back to its maker', async () => {
  const [far, near] = orders.asks
  if (far === undefined || near === undefined) throw new Error('the book has two asks')
  const { swap, readAccount, readPool, tick } = await start({
    ...{ bids: [], asks: [far, { ...near, expiresAtMs: 1_800_000_000_100n }] },
  })
  tick(200)
  expect(await swap({ amount: 3_000_000n })).toEqual([1_400_000_000n, 3_000_000n - 2_943_675n, 0n])
  // Its SUI, and the maker fee of 0.0625 % that the order had locked.
  expect((await readAccount(first)).settled).toMatchObject({ base: '10006250000', quote: '0' })
  expect((await readPool()).book.asks.length).toBe('1')
})

test('a book of more orders than a node holds keeps all of them, in a tree', async () => {
  const asks = Array.from({ length: 150 }, (_, n) => ({
    maker: first,
    price: dollars(2) + 10n * BigInt(n),
    quantity: SUI,
  }))
  const { swap, readPool, client } = await start({ bids: [], asks })
  expect((await readPool()).book.asks).toMatchObject({ length: '150', depth: 1, rootId: '4' })
  // The 3 cheapest, at 2, 2.00001 and 2.00002 dollars.
  const [base] = await swap({ amount: 6_010_000n })
  expect(base).toBe(3n * SUI)
  const { asks: tree } = (await readPool()).book
  expect(tree).toMatchObject({ length: '147', depth: 1 })
  const { dynamicFields } = await client.listDynamicFields({ parentId: tree.id })
  expect(dynamicFields).toHaveLength(4)
})
