import { getAddress } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Anvil, call, startAnvil } from './anvil.ts'
import { type Fault, type FaultyNode, startFaultyNode } from './faulty-node.ts'
import { testTokens } from './tokens.ts'
import { chainOf } from './wallet.ts'

let anvil: Anvil
let node: FaultyNode
let listed: string
let unlisted: string
/** One block with a transfer of the native coin, of a listed token and of an unlisted one to the same address. */
let block: { height: number; address: string; unlistedHash: string }

beforeAll(async () => {
  anvil = await startAnvil()
  node = await startFaultyNode(anvil.url)
  const { StandardToken } = await testTokens()
  ;[listed, unlisted] = [
    getAddress(await anvil.deploy(StandardToken, ['Listed', 'LST', 6])),
    getAddress(await anvil.deploy(StandardToken, ['Spam', 'SPM', 6])),
  ]
  const { address } = chainOf([anvil.url]).addresses.deposit(7_000)
  const mint = (units: bigint) => call(StandardToken.abi, 'mint', [address, units])
  await anvil.send({ to: address, value: 3n })
  const unlistedHash = await anvil.send({ to: unlisted, data: mint(4n) })
  await anvil.send({ to: listed, data: mint(5n) })
  block = { height: await anvil.mine(), address, unlistedHash }
})
beforeEach(() => node.set(() => undefined))
afterAll(async () => {
  await Promise.all([anvil.stop(), node.stop()])
})

const REPLY_BYTES_MAX = 100_000
const tooLarge = { result: 'x'.repeat(REPLY_BYTES_MAX + 1) }
const refused = { error: { code: -32005, message: 'query returned more than 10000 results' } }

type Call = Parameters<Fault>[0]
const isLogs = ({ method, params }: Call) => method === 'eth_getLogs' && !('address' in (params[0] as object))
const isListedLogs = ({ method, params }: Call) => method === 'eth_getLogs' && 'address' in (params[0] as object)
const isBlockReceipts = ({ method }: Call) => method === 'eth_getBlockReceipts'
const isUnlistedReceipt = ({ method, params }: Call) =>
  method === 'eth_getTransactionReceipt' && params[0] === block.unlistedHash

function createReader() {
  const rpc = { timeoutMs: 3_000, attempts: 1, replyBytesMax: REPLY_BYTES_MAX }
  return chainOf([node.url], { tokens: [listed], rpc })
}

async function readUnits(chain = createReader()) {
  const transfers = (await chain.reader.block(block.height))?.transfers ?? []
  return transfers.filter(({ address }) => address === block.address).map(({ contract, units }) => [contract, units])
}

describe('a block whose logs are too large (M5)', () => {
  // Every node probes its capabilities first: the faults begin afterwards.
  async function readWith(faults: readonly [(call: Call) => boolean, typeof tooLarge | typeof refused][]) {
    const chain = createReader()
    await chain.hasTraces()
    const whole = (await chain.reader.block(block.height))?.transfers ?? []
    node.set((one) => faults.find(([matches]) => matches(one))?.[1])
    const units = await readUnits(chain)
    const read = (await chain.reader.block(block.height))?.transfers ?? []
    // The second read before a credit finds the deposit under the same identity, however it was read first.
    expect(whole).toEqual(expect.arrayContaining([...read]))
    return { units, notes: chain.notes }
  }

  test('is read from the receipts of the block', async () => {
    const { units, notes } = await readWith([[isLogs, refused]])
    expect(units).toEqual([
      [null, 3n],
      [unlisted, 4n],
      [listed, 5n],
    ])
    expect(notes).toEqual([])
  })

  test.each([
    ['exceed our limit', tooLarge],
    ['are refused by the provider', refused],
  ])('is read by the contracts of listed tokens where logs and receipts %s', async (_, answer) => {
    const { units, notes } = await readWith([
      [isLogs, answer],
      [isBlockReceipts, answer],
    ])
    expect(units).toEqual([
      [null, 3n],
      [listed, 5n],
    ])
    expect(notes).toEqual([])
  })

  test('is read by single receipts where the listed logs are refused as well', async () => {
    const { units } = await readWith([
      [isLogs, refused],
      [isListedLogs, refused],
      [isBlockReceipts, tooLarge],
    ])
    expect(units).toEqual([
      [null, 3n],
      [unlisted, 4n],
      [listed, 5n],
    ])
  })

  test('is read without the logs of one transaction whose receipt is too large, with a note', async () => {
    const { units, notes } = await readWith([
      [isLogs, tooLarge],
      [isListedLogs, refused],
      [isBlockReceipts, tooLarge],
      [isUnlistedReceipt, tooLarge],
    ])
    expect(units).toEqual([
      [null, 3n],
      [listed, 5n],
    ])
    expect(notes).toMatchObject([{ kind: 'logs-missing' }, { kind: 'logs-missing' }])
    expect(notes[0]?.detail).toContain(block.unlistedHash)
  })

  test('waits where a node refuses a single receipt, because that may pass', async () => {
    await expect(
      readWith([
        [isLogs, refused],
        [isListedLogs, refused],
        [isBlockReceipts, refused],
        [isUnlistedReceipt, refused],
      ]),
    ).rejects.toMatchObject({ code: 'NETWORK_UNAVAILABLE' })
  })
})
