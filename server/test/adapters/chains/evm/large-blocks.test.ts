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
/** The block after it has a transaction, too. */
let newest: number

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
  await anvil.send({ to: address, value: 1n })
  newest = await anvil.mine()
})
beforeEach(() => node.set(() => undefined))
afterAll(async () => {
  await Promise.all([anvil.stop(), node.stop()])
})

const REPLY_BYTES_MAX = 100_000
const tooLarge = { result: 'x'.repeat(REPLY_BYTES_MAX + 1) }
const refused = { error: { code: -32005, message: 'query returned more than 10000 results' } }

type Call = Parameters<Fault>[0]
const isTraces = ({ method }: Call) => /trace/.test(method)
const isLogs = ({ method, params }: Call) => method === 'eth_getLogs' && !('address' in (params[0] as object))
const isListedLogs = ({ method, params }: Call) => method === 'eth_getLogs' && 'address' in (params[0] as object)
const isBlockReceipts = ({ method }: Call) => method === 'eth_getBlockReceipts'
const isUnlistedReceipt = ({ method, params }: Call) =>
  method === 'eth_getTransactionReceipt' && params[0] === block.unlistedHash

function createReader({ timeoutMs } = { timeoutMs: 3_000 }) {
  const rpc = { timeoutMs, attempts: 1, replyBytesMax: REPLY_BYTES_MAX }
  return chainOf([node.url], { tokens: [listed], rpc })
}

async function readUnits(chain = createReader()) {
  const transfers = (await chain.reader.block(block.height))?.transfers ?? []
  return transfers.filter(({ address }) => address === block.address).map(({ contract, units }) => [contract, units])
}

describe('M5: a block whose logs are too large', () => {
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

describe('a block whose replies never come in time (it stopped its network)', () => {
  type Matches = (call: Call) => boolean
  async function readSlowly(faults: readonly Matches[]) {
    const chain = createReader({ timeoutMs: 500 })
    await chain.hasTraces()
    node.set((one) => (faults.some((matches) => matches(one)) ? 'silence' : undefined))
    const failures: unknown[] = []
    for (let turn = 1; turn <= 3; turn++) {
      const read = await readUnits(chain).catch((error: unknown) => error)
      if (Array.isArray(read)) return { chain, failures, units: read as unknown[] }
      failures.push(read)
    }
    return { chain, failures, units: null }
  }
  const listedUnits = () => [
    [null, 3n],
    [listed, 5n],
  ]

  test('is read without the logs of unlisted tokens after two failed turns, with a note', async () => {
    const { chain, failures, units } = await readSlowly([isLogs, isBlockReceipts])
    expect(failures).toMatchObject([{ code: 'NETWORK_UNAVAILABLE' }, { code: 'NETWORK_UNAVAILABLE' }])
    expect(units).toEqual(listedUnits())
    expect(chain.notes).toMatchObject([{ kind: 'logs-missing', detail: expect.stringContaining('unlisted') }])
    // The next such block does not wait again.
    expect(await readUnits(chain)).toEqual(listedUnits())
  })

  test('is read by single receipts where the listed logs are slow as well', async () => {
    const { failures, units } = await readSlowly([isLogs, isListedLogs, isBlockReceipts])
    expect(failures).toHaveLength(2)
    expect(units).toEqual([
      [null, 3n],
      [unlisted, 4n],
      [listed, 5n],
    ])
  })

  test('waits while nothing that holds the listed tokens is returned', async () => {
    const isReceipt: Matches = ({ method }) => method === 'eth_getTransactionReceipt'
    const { chain, units } = await readSlowly([isLogs, isListedLogs, isBlockReceipts, isReceipt])
    for (let turn = 1; turn <= 4; turn++) await expect(readUnits(chain)).rejects.toThrow()
    expect(units).toBeNull()
  })

  const isItsTraces: Matches = (one) => isTraces(one) && one.params[0] === `0x${block.height.toString(16)}`

  // An outage of the tracing alone, of a minute, must not lose the deposits of contracts.
  test.each(['silence', { status: 503 }, { error: { code: -32603, message: 'upstream' } }] as const)(
    'waits while the node traces no block at all (%o)',
    async (answer) => {
      const chain = createReader({ timeoutMs: 500 })
      await chain.hasTraces()
      node.set((one) => (isTraces(one) ? answer : undefined))
      for (let turn = 1; turn <= 5; turn++) await expect(readUnits(chain)).rejects.toThrow()
      node.set(() => undefined)
      expect((await chain.reader.block(block.height))?.height).toBe(block.height)
      expect(chain.notes).toEqual([])
    },
  )

  test('is read with its traces if the node recovers while the third turn asks for another block', async () => {
    const chain = createReader({ timeoutMs: 500 })
    await chain.hasTraces()
    let isDown = true
    node.set((one) => {
      if (!isTraces(one)) return undefined
      isDown &&= isItsTraces(one)
      return isDown ? { status: 503 } : undefined
    })
    for (let turn = 1; turn <= 2; turn++) await expect(readUnits(chain)).rejects.toThrow()
    expect(isDown).toBe(true)
    expect(await readUnits(chain)).toHaveLength(3)
    expect([isDown, chain.notes]).toEqual([false, []])
  })

  test('is read without traces after two failed turns if the node traces another block, with a note', async () => {
    expect(newest).toBeGreaterThan(block.height)
    const { chain, failures, units } = await readSlowly([isItsTraces])
    expect(failures).toHaveLength(2)
    expect(units).toEqual([
      [null, 3n],
      [unlisted, 4n],
      [listed, 5n],
    ])
    expect(chain.notes).toMatchObject([{ kind: 'traces-missing' }])
  })

  test('credits what a slow block holds, and no more', async () => {
    const { chain } = await readSlowly([isLogs, isBlockReceipts])
    const read = await chain.reader.block(block.height)
    const transfer = read?.transfers.find(({ contract }) => contract === listed)
    if (!read || !transfer) throw new Error('the scan found no transfer')
    expect(await chain.reader.receivedUnits(transfer, read)).toBe(5n)
    expect(await chain.reader.receivedUnits({ ...transfer, units: 9n }, read)).toBe(5n)
  })
})
