import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readOwnVectors } from '../../../../../test/support/vectors.ts'
import { type FaultyNode, startFaultyNode } from '../../../../test/adapters/chains/evm/faulty-node.ts'
import { present } from '../../../lib/assert.ts'
import { createNode, type EvmNode } from './node.ts'
import { rpcDefaults } from './rpc.ts'
import { type BlockMovements, readBlock } from './scan.ts'
import { TRANSFER_TOPIC } from './token.ts'
import { nestedTraces } from './traces.ts'

/* Replies recorded from other clients than anvil. The expected transfers were read from the recordings by hand. */

type Log = Readonly<{ topics: readonly string[] }>
type Recording = Readonly<{
  client: string
  source: string
  block: Readonly<{ hash: string; number: string; transactions: readonly unknown[] }> | null
  receipts: readonly Readonly<{ logs: readonly Log[] }>[]
  traceMethod: 'trace_block' | 'debug_traceBlockByHash' | null
  traces: readonly unknown[] | null
}>

const recordings = readOwnVectors<readonly Recording[]>('evm_replies.jsonl')
const find = (client: string) =>
  present(
    recordings.find((one) => one.client === client),
    `a recording of ${client}`,
  )

let server: FaultyNode
beforeAll(async () => {
  server = await startFaultyNode('')
})
afterAll(() => server.stop())

/** Answers as the recorded node, but refuses `refused`. No eth_getLogs was recorded: its reply is the logs of the receipts. */
function replay({ block, receipts, traceMethod, traces }: Recording, refused: string | null): void {
  const results: Readonly<Record<string, unknown>> = {
    eth_chainId: '0x1',
    eth_getBlockByNumber: block,
    eth_getBlockByHash: block,
    eth_getBlockReceipts: receipts,
    eth_getLogs: receipts.flatMap(({ logs }) => logs).filter(({ topics }) => topics[0] === TRANSFER_TOPIC),
    ...(traceMethod === null ? {} : { [traceMethod]: traces }),
  }
  server.set(({ method }) =>
    method in results && method !== refused
      ? { result: results[method] }
      : { error: { code: -32601, message: `the method ${method} does not exist/is not available` } },
  )
}

const options = {
  ...{ tokens: [], nativeContract: null, listsUnexecuted: false, expectsTraces: true },
  note: () => undefined,
}

async function read(client: string, refused: string | null = null): Promise<BlockMovements> {
  const recording = find(client)
  replay(recording, refused)
  const node = createNode(client, server.url, 1, rpcDefaults)
  const byHeight = await readBlock(node, Number(recording.block?.number), options)
  expect(await readBlock(node, recording.block?.hash ?? '', options)).toEqual(byHeight)
  return present(byHeight, 'the block')
}

/** Sender, recipient, contract and base units of each transfer, in the order of the scan; addresses by their first digits. */
const summarise = ({ movements }: BlockMovements) =>
  movements.map(({ from, address, contract, units, sender }) => ({
    from: from.slice(0, 8).toLowerCase(),
    to: address.slice(0, 8).toLowerCase(),
    contract: contract?.slice(0, 8).toLowerCase() ?? null,
    units,
    isFromSender: sender === from,
  }))
const native = { contract: null, isFromSender: true }
const inner = { contract: null, isFromSender: false }

describe('a recorded block', () => {
  test('of geth without traces: a payment to a contract', async () => {
    const block = await read('geth')
    expect(summarise(block)).toEqual([{ from: '0x7435ed', to: '0x7dcd17', units: 2n, ...native }])
    expect(block.isTraced).toBe(false)
  })

  test('of op-geth: ignores the system transaction, and the value of a delegated call', async () => {
    const block = await read('op-geth')
    expect(block.transactions.map(({ type }) => type)).toEqual([0x7e, 0, 2])
    expect(summarise(block)).toEqual([
      { from: '0x19b4be', to: '0x420000', units: 10n ** 14n, ...native },
      { from: '0x69155e', to: '0xc861f3', units: 10n ** 17n, ...native },
    ])
    expect(block.isTraced).toBe(true)
  })

  test('of bor: tokens, and a native transfer by a contract', async () => {
    const block = await read('bor')
    expect(block.transactions).toHaveLength(3)
    expect(summarise(block)).toEqual([
      { from: '0x2265c2', to: '0x6a1390', units: 10n ** 18n, ...native },
      { from: '0x6a1390', to: '0xa1aac6', units: 10n ** 18n, ...inner },
      { from: '0x069591', to: '0x6c1878', contract: '0xc2132d', units: 53_473_000n, isFromSender: true },
      { from: '0xa1aac6', to: '0x2265c2', contract: '0x6fdba1', units: 5n * 10n ** 18n, isFromSender: false },
    ])
    expect(block.isTraced).toBe(true)
  })

  test('T56: takes two requests in a row, if its node has traces and receipts of blocks', async () => {
    const recording = find('bor')
    replay(recording, null)
    const node = createNode('bor', server.url, 1, rpcDefaults)
    await node.capabilities()
    let answered = 0
    const ask: EvmNode['ask'] = async (method, params, decode) => {
      const inARow = answered + 1
      const reply = await node.ask(method, params, decode)
      answered = Math.max(answered, inARow)
      return reply
    }
    await readBlock({ ...node, ask }, Number(recording.block?.number), options)
    expect(answered).toBe(2)
  })

  test('of bor with a state sync, which bor does not trace: its tokens, without a sender', async () => {
    const block = await read('bor, state sync')
    expect(block.isTraced).toBe(true)
    const hop = { contract: '0x712f0c', units: 13_167_524_157_281_527_477n, isFromSender: false }
    const weth = { from: '0x000000', contract: '0x7ceb23', isFromSender: false }
    expect(summarise(block)).toEqual([
      { ...weth, to: '0x03f920', units: 10n ** 15n },
      { ...hop, from: '0x000000', to: '0x553bc7' },
      { ...hop, from: '0x553bc7', to: '0x884d1a' },
      { ...hop, from: '0x884d1a', to: '0x3d4cc8' },
      { ...hop, from: '0x3d4cc8', to: '0x884d1a', contract: '0x0d500b', units: 13_143_845_791_708_658_009n },
      { ...weth, to: '0xd208a2', units: 6n * 10n ** 15n },
    ])
  })

  test('of nitro: transfers of a transaction with a type of its own, without a sender to refund', async () => {
    const block = await read('nitro')
    expect(block.transactions.map(({ type }) => type)).toEqual([0x78])
    expect(summarise(block)).toEqual([
      { from: '0x6942ce', to: '0x33ceb2', units: 1_980_000_000_000_000_000n, ...inner },
      { ...inner, from: '0x000000', to: '0x33ceb2', contract: '0x82af49', units: 1_980_000_000_000_000_000n },
      { ...inner, from: '0x33ceb2', to: '0x652d27', contract: '0x82af49', units: 1_980_000_000_000_000_000n },
      { ...inner, from: '0x652d27', to: '0x33ceb2', contract: '0xda7c0d', units: 1_977_491_168_589_933_397n },
      { ...inner, from: '0x33ceb2', to: '0x000000', contract: '0xda7c0d', units: 1_977_491_168_589_933_397n },
    ])
  })

  test('of Arbitrum before nitro: nothing, because both transactions with a value reverted', async () => {
    for (const refused of [null, 'eth_getBlockReceipts']) {
      const block = await read('arbitrum classic', refused)
      expect(block.transactions.map(({ value }) => value)).toEqual([10n ** 13n, 10n ** 13n])
      expect(summarise(block)).toEqual([])
      expect(block.isTraced).toBe(true)
    }
  })

  test('of opera: a payment by an account to itself', async () => {
    expect(summarise(await read('opera'))).toEqual([{ from: '0xd6a374', to: '0xd6a374', units: 10n ** 18n, ...native }])
  })
})

test('traces of nitro: fees and refunds of gas are no transfers', () => {
  // The recording holds no hashes: nitro wrote none at that time.
  const hashes = [`0x${'1'.repeat(64)}`, `0x${'2'.repeat(64)}`]
  const traces = nestedTraces(hashes)(find('nitro, traces alone').traces)
  expect(traces).toEqual({ outcomes: new Map(hashes.map((hash) => [hash, true])), inner: [], untraced: [] })
})

test('names the source of every recording, and replays each', () => {
  expect(recordings.map(({ client }) => client)).toEqual([
    'geth',
    'op-geth',
    'bor',
    'bor, state sync',
    'nitro',
    'arbitrum classic',
    'opera',
    'nitro, traces alone',
  ])
  for (const { source } of recordings) expect(source).toMatch(/^github\.com\/[\w-]+\/[\w-]+ [0-9a-f]{8}, /)
})
