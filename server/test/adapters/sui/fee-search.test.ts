import { Transaction, type TransactionArgument } from '@mysten/sui/transactions'
import { toBase64 } from '@mysten/sui/utils'
import { expect, test } from 'vitest'
import { createSuiNode, type Execution, type SuiNode } from '../../../src/adapters/sui/node.ts'
import { listPaidFees, observe } from '../../../src/adapters/sui/track.ts'
import { SUI, sendSwap, usdc } from './send-swap.ts'
import { startSui } from './start-sui.ts'

/* Fees that strangers imitate, and fees that a node hides. */

const worthless = `0x${'ee'.repeat(32)}::worthless::COIN`
const [ref, feeTo] = [`0x${'7e'.repeat(32)}`, `0x${'fe'.repeat(32)}`]
const unavailable = { code: 'NETWORK_UNAVAILABLE' }

async function start() {
  const started = await startSui(['cetus'])
  const { chain, createFunded, node, sign } = started

  /** A transaction of a stranger in our form, whose output is a worthless coin. */
  async function imitate(terms: Readonly<{ recipient: string | null; feePpm: bigint }>): Promise<string> {
    const { keypair, address } = createFunded()
    const coin = node.mint(address, 1_000n, worthless)
    const transaction = new Transaction()
    const { pure, gas } = transaction
    // In the order of our inputs.
    const [, recipient] = [pure.address(ref), pure.address(terms.recipient ?? address)]
    const [amountIn, least] = [pure.u64(1n), pure.u64(500n)]
    const [taker, rate] = [pure.address(feeTo), pure.u64(terms.feePpm)]
    const call = (target: string, types: string[], values: TransactionArgument[]) =>
      transaction.moveCall({ target, typeArguments: types, arguments: values })
    call('0x1::fixed_point32::create_from_rational', [], [rate, pure.u64(1_000_000n)])
    transaction.transferObjects([call('0x2::coin::split', [SUI], [gas, amountIn])], taker)
    const output = call('0x2::coin::split', [worthless], [transaction.object(coin.id), least])
    transaction.transferObjects([output], recipient)
    const { bytes, signature } = await sign(transaction, keypair)
    const raw = JSON.stringify({ bytes: toBase64(bytes), signature })
    expect(await chain.broadcast(raw)).toEqual({ kind: 'accepted' })
    return (await chain.readSigned(raw)).hash
  }
  /** With a fee of half a percent. */
  const sendPaying = () => sendSwap(started, { ref, feePpm: 5_000, feeTo, expiry: null })
  return { ...started, sendSwap: sendPaying, imitate }
}

test.each([
  ['pays the fee address none of its output', { recipient: null, feePpm: 5_000n }],
  ['states a rate that no swap has, and pays its output to the fee address', { recipient: feeTo, feePpm: 1n << 50n }],
])('a transaction in our form that %s is no fee, and the next fee is found', async (_, terms) => {
  const { chain, imitate, sendSwap, tick } = await start()
  const strange = await imitate(terms)
  tick()
  const { action } = (await chain.findTransaction(strange)) ?? {}
  expect(action).toMatchObject({ kind: 'swap', feeTo, tokenOut: worthless, feePpm: Number(terms.feePpm) })
  const hash = await sendSwap()
  tick()
  const { fees } = await chain.listPaidFees({ from: 1, to: 2, feeTo: [feeTo] })
  expect(fees).toMatchObject([{ hash, height: 2, token: usdc, units: await chain.readBalance(feeTo, usdc) }])
})

/** What a node can say of a swap that it wants to hide, or to change. */
const lies: readonly (readonly [string, (execution: Execution) => Execution])[] = [
  ['has failed', (execution) => ({ ...execution, failure: {} as Execution['failure'] })],
  ['has other bytes', (execution) => ({ ...execution, bytes: Uint8Array.of(7, 7) })],
  ['paid nothing', (execution) => ({ ...execution, changes: [] })],
  [
    'paid another fee',
    ({ changes, ...execution }) => ({
      ...execution,
      changes: changes.map((one) => (one.address === feeTo ? { ...one, units: one.units + 1n } : one)),
    }),
  ],
]

test.each(lies)('one node that says that a swap %s is not believed, in whichever place', async (_, lie) => {
  const { node, sendSwap, tick } = await start()
  const hash = await sendSwap()
  tick()
  const honest = createSuiNode('honest', node.url)
  const liar: SuiNode = {
    ...honest,
    findTransaction: async (digest) => {
      const found = await honest.findTransaction(digest)
      return found && lie(found)
    },
    readTransactions: async (height) => ((await honest.readTransactions(height)) ?? []).map(lie),
  }
  const query = { from: 1, to: 1, feeTo: [feeTo] }
  for (const nodes of [
    [honest, liar],
    [liar, honest],
  ]) {
    await expect(listPaidFees(nodes, query)).rejects.toMatchObject(unavailable)
    await expect(observe(nodes, hash, undefined)).rejects.toMatchObject(unavailable)
  }
  expect(await listPaidFees([honest, honest], query)).toMatchObject({ fees: [{ hash }], to: 1 })
})

test('one node that leaves a transaction out of a checkpoint hides no fee', async () => {
  const { node, sendSwap, tick } = await start()
  const hash = await sendSwap()
  for (let n = 0; n < 3; n++) tick()
  const honest = createSuiNode('honest', node.url)
  const liar: SuiNode = { ...honest, readTransactions: async () => [] }
  const query = { from: 1, to: 3, feeTo: [feeTo] }
  for (const nodes of [
    [honest, liar],
    [liar, honest],
  ])
    await expect(listPaidFees(nodes, query)).rejects.toMatchObject(unavailable)
  expect((await listPaidFees([honest], query)).fees).toMatchObject([{ hash }])
})
