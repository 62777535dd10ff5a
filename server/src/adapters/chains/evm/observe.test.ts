import { encodeAbiParameters, encodeFunctionData, erc20Abi, pad, toEventSelector } from 'viem'
import { expect, test } from 'vitest'
import type { NodeNote } from '../../../core/ports/chain.ts'
import { eth } from '../../../exchange/domain/pricing.fixture.ts'
import type { EvmNode } from './node.ts'
import { observe } from './observe.ts'
import type { Decode } from './replies.ts'

const TX = `0x${'ab'.repeat(32)}`
const BLOCK = `0x${'cd'.repeat(32)}`
const HOT = `0x${'11'.repeat(20)}` as const
const TOKEN = `0x${'22'.repeat(20)}`
const CUSTOMER = `0x${'33'.repeat(20)}` as const
const UNITS = 77n

const payment = {
  hash: TX,
  blockHash: BLOCK,
  from: HOT,
  to: TOKEN,
  value: '0x0',
  nonce: '0x1',
  input: encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [CUSTOMER, UNITS] }),
}
const transferLog = {
  address: TOKEN,
  topics: [toEventSelector('Transfer(address,address,uint256)'), pad(HOT), pad(CUSTOMER)],
  data: encodeAbiParameters([{ type: 'uint256' }], [UNITS]),
  logIndex: '0x0',
  transactionHash: TX,
  blockHash: BLOCK,
}
const receipt = {
  transactionHash: TX,
  blockHash: BLOCK,
  blockNumber: '0x9',
  status: '0x1',
  gasUsed: '0x64',
  effectiveGasPrice: '0x2',
  l1Fee: '0x5',
  logs: [transferLog],
}
/** Gas, and the fee of layer 1. */
const FEE = 205n

function makeNode(name: string, differences: Partial<Record<keyof typeof receipt, unknown>>): EvmNode {
  const replies: Readonly<Record<string, unknown>> = {
    eth_getTransactionReceipt: { ...receipt, ...differences },
    eth_getTransactionByHash: payment,
    eth_getBlockByNumber: { hash: BLOCK },
  }
  const ask = async <T>(method: string, _params: readonly unknown[], decode: Decode<T>) => decode(replies[method])
  return { name, ask } as unknown as EvmNode
}

/** What two nodes say about a token payment whose receipts differ from the usual one. */
async function observeWith(...receipts: Parameters<typeof makeNode>[1][]) {
  const notes: NodeNote[] = []
  const nodes = receipts.map((one, n) => makeNode(`eth node ${n + 1}`, one))
  const observation = await observe(nodes, eth.network, { txHash: TX, conflictKey: null }, (note) => notes.push(note))
  return { observation, notes }
}
const included = { kind: 'included', block: { height: 9, hash: BLOCK } }
const failed = { status: '0x0', logs: [] }

test('a payment that every node shows as paid is ok, and one that no node shows as paid is not', async () => {
  expect(await observeWith({}, {})).toEqual({ observation: { ...included, ok: true, feeUnits: FEE }, notes: [] })
  expect(await observeWith(failed, failed)).toEqual({
    observation: { ...included, ok: false, feeUnits: FEE },
    notes: [],
  })
  expect((await observeWith({ logs: [] }, { logs: [] })).observation).toMatchObject({ ...included, ok: false })
})

test.each([
  ['status', failed],
  ['logs', { logs: [] }],
  ['gas price', { effectiveGasPrice: '0x3' }],
  ['gas', { gasUsed: '0x65' }],
  ['fee of layer 1', { l1Fee: '0x6' }],
])('a payment whose %s differs between two nodes is pending and disputed, with a note', async (_name, differing) => {
  for (const receipts of [
    [{}, differing],
    [differing, {}],
  ]) {
    const { observation, notes } = await observeWith(...receipts)
    expect(observation).toEqual({ kind: 'pending', isDisputed: true })
    expect(notes).toEqual([
      { kind: 'receipts-disagree', node: 'eth node 1, eth node 2', detail: expect.stringContaining(TX) },
    ])
  }
})

test('nodes that disagree why a payment did not arrive prove no failure', async () => {
  expect((await observeWith({ logs: [] }, failed)).observation).toEqual({ kind: 'pending', isDisputed: true })
})

test('a node whose receipts lack the fields of a fee leaves it to the others, in any order', async () => {
  const lacking = { effectiveGasPrice: undefined, l1Fee: undefined }
  for (const receipts of [
    [{}, lacking],
    [lacking, {}],
    [{ l1Fee: undefined }, { effectiveGasPrice: undefined }],
  ])
    expect((await observeWith(...receipts)).observation).toEqual({ ...included, ok: true, feeUnits: FEE })
  expect((await observeWith(lacking, lacking)).observation).toEqual({ ...included, ok: true, feeUnits: 0n })
})
