import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { type Anvil, call, hex, startAnvil } from './anvil.ts'
import { type FaultyNode, startFaultyNode } from './faulty-node.ts'
import { type ActorName, type Compiled, testActors, testTokens } from './tokens.ts'
import { chainOf, coin } from './wallet.ts'

let anvil: Anvil
let other: Anvil
let node: FaultyNode
let actors: Readonly<Record<ActorName, Compiled>>
let next = 9000

beforeAll(async () => {
  ;[anvil, other, actors] = await Promise.all([startAnvil(), startAnvil(), testActors()])
  node = await startFaultyNode(anvil.url)
})
afterEach(() => node.set(() => undefined))
afterAll(async () => {
  await Promise.all([anvil.stop(), other.stop(), node.stop()])
})

const unavailable = { code: 'NETWORK_UNAVAILABLE', retryable: true }
const notFound = { error: { code: -32601, message: '' } }

describe('nodes that differ', () => {
  test('have the head that the slower one has', async () => {
    const chain = chainOf([anvil.url, node.url])
    const height = await anvil.mine(3)
    node.set(({ method }) => (method === 'eth_blockNumber' ? { result: hex(height - 2) } : undefined))
    expect((await chain.reader.head()).height).toBe(height - 2)
  })

  test('have the head at which they part, and agree on nothing above', async () => {
    const chain = chainOf([anvil.url, node.url])
    const height = await anvil.mine(4)
    const forked = `0x${'77'.repeat(32)}`
    node.set(async ({ method, params }, forward) => {
      if (method !== 'eth_getBlockByNumber' || Number(params[0]) < height - 1) return undefined
      return { result: { ...((await forward()) as object), hash: forked } }
    })
    const head = await chain.reader.head()
    expect(head.height).toBe(height - 2)
    expect(await chain.reader.agrees(head)).toBe(true)
    expect(await chain.reader.agrees({ height, hash: forked })).toBe(false)
  })

  test('that have nothing in common have no head', async () => {
    const genesis = await startFaultyNode(other.url)
    genesis.set(async ({ method }, forward) =>
      method === 'eth_getBlockByNumber'
        ? { result: { ...((await forward()) as object), hash: `0x${'66'.repeat(32)}` } }
        : undefined,
    )
    await expect(chainOf([anvil.url, genesis.url]).reader.head()).rejects.toMatchObject(unavailable)
    await genesis.stop()
  })

  test('have the lowest balance that one of them tells', async () => {
    const chain = chainOf([anvil.url, node.url])
    node.set(({ method }) => (method === 'eth_getBalance' ? { result: '0x5' } : undefined))
    expect(await chain.reader.balance(chain.addresses.deposit(0).address, coin)).toBe(5n)
  })

  test('credit the lowest of what they say; and nothing while one is not on the block', async () => {
    const chain = chainOf([anvil.url, node.url])
    const { address } = chain.addresses.deposit(next++)
    const { height } = await anvil.sendAndMine({ to: address, value: 10n })
    const block = await chain.reader.block(height)
    const transfer = block?.transfers.find((one) => one.address === address)
    if (!block || !transfer) throw new Error('nothing was scanned')
    expect(await chain.reader.receivedUnits(transfer, block)).toBe(10n)
    node.set(({ method, params }) =>
      method === 'eth_getBalance' && params[1] === hex(height) ? { result: '0x4' } : undefined,
    )
    expect(await chain.reader.receivedUnits(transfer, block)).toBe(4n)
    node.set(({ method }) => (method === 'eth_getTransactionReceipt' ? { result: null } : undefined))
    await expect(chain.reader.receivedUnits(transfer, block)).rejects.toMatchObject(unavailable)
  })
})

describe('a node without', () => {
  async function inner() {
    const chain = chainOf([node.url])
    const forwarder = await anvil.deploy(actors.Forwarder, [])
    const { address } = chain.addresses.deposit(next++)
    await anvil.send({ to: address, value: 3n })
    await anvil.send({ to: forwarder, value: 4n, data: call(actors.Forwarder.abi, 'forward', [address]) })
    const height = await anvil.mine()
    return { chain, address, height }
  }
  const units = async ({ chain, address, height }: Awaited<ReturnType<typeof inner>>) =>
    (await chain.reader.block(height))?.transfers.filter((one) => one.address === address).map((one) => one.units)

  test('receipts of blocks is read by traces', async () => {
    node.set(({ method }) => (method === 'eth_getBlockReceipts' ? notFound : undefined))
    expect(await units(await inner())).toEqual([3n, 4n])
  })

  test('traces says so, and shows what wallets sent', async () => {
    node.set(({ method }) => (/trace/.test(method) ? notFound : undefined))
    const scanned = await inner()
    expect(await units(scanned)).toEqual([3n])
    expect(await scanned.chain.hasTraces()).toBe(false)
  })

  test('both is read by the receipts of what pays', async () => {
    node.set(({ method }) => (/trace|getBlockReceipts/.test(method) ? notFound : undefined))
    expect(await units(await inner())).toEqual([3n])
  })

  test('the traces of one block does not stop the watch, and says so', async () => {
    const scanned = await inner()
    expect(await scanned.chain.hasTraces()).toBe(true)
    node.set(({ method }) => (method === 'trace_block' ? { error: { code: -32000, message: 'timeout' } } : undefined))
    expect(await units(scanned)).toEqual([3n])
    expect(scanned.chain.notes).toMatchObject([{ kind: 'traces-missing' }])
  })

  test('any trace of a block is waited for while it is new; later it does not stop the watch, and says so', async () => {
    const scanned = await inner()
    node.set(({ method }) => (method === 'trace_block' ? { result: [] } : undefined))
    await expect(units(scanned)).rejects.toThrow('traced only a part')
    const later = Date.now() + 20_000
    vi.spyOn(Date, 'now').mockReturnValue(later)
    expect(await units(scanned)).toEqual([3n])
    expect(scanned.chain.notes).toMatchObject([{ kind: 'traces-missing' }])
    vi.restoreAllMocks()
  })

  test('the state of a block credits what the receipt says and the address still holds, and says so', async () => {
    const scanned = await inner()
    const { chain, address, height } = scanned
    const block = await chain.reader.block(height)
    const transfer = block?.transfers.find((one) => one.address === address)
    if (!block || !transfer) throw new Error('nothing was scanned')
    node.set(({ method, params }) =>
      method === 'eth_getBalance' && params[1] !== 'latest'
        ? { error: { code: -32000, message: 'pruned' } }
        : undefined,
    )
    expect(await chain.reader.receivedUnits(transfer, block)).toBe(3n)
    expect(chain.notes).toMatchObject([{ kind: 'state-pruned' }])
  })

  test('the logs that its own receipts hold is not believed', async () => {
    const chain = chainOf([node.url])
    const { StandardToken } = await testTokens()
    const contract = await anvil.deploy(StandardToken, ['Test', 'TST', 6])
    const { address } = chain.addresses.deposit(next++)
    const data = call(StandardToken.abi, 'mint', [address, 5n])
    const { height } = await anvil.sendAndMine({ to: contract, data })
    node.set(({ method }) => (method === 'eth_getLogs' ? { result: [] } : undefined))
    await expect(chain.reader.block(height)).rejects.toMatchObject(unavailable)
    node.set(() => undefined)
    expect((await chain.reader.block(height))?.transfers).toMatchObject([{ address, units: 5n, sender: null }])
  })
})

describe('a node that', () => {
  const head = (parts = {}) => chainOf([node.url], { rpc: { timeoutMs: 300, attempts: 2, ...parts } }).reader.head()

  test('serves another chain is refused', async () => {
    node.set(({ method }) => (method === 'eth_chainId' ? { result: '0x1' } : undefined))
    await expect(head()).rejects.toMatchObject(unavailable)
  })

  test('never answers is given up after the bounded number of tries', async () => {
    const before = node.asked('eth_blockNumber')
    node.set(({ method }) => (method === 'eth_blockNumber' ? 'silence' : undefined))
    await expect(head()).rejects.toMatchObject(unavailable)
    expect(node.asked('eth_blockNumber') - before).toBe(2)
  })

  test('fails once is asked again', async () => {
    let failed = false
    node.set(({ method }) => {
      if (method !== 'eth_blockNumber' || failed) return undefined
      failed = true
      return { status: 503 }
    })
    expect((await head()).height).toBeGreaterThanOrEqual(0)
    expect(failed).toBe(true)
  })

  test.each([
    ['nothing', null],
    ['a negative', '-0x1'],
    ['text', '0xzz'],
    ['more than a height', `0x${'ff'.repeat(20)}`],
    ['an object', {}],
  ])('answers %s in place of a height is not believed', async (_, result) => {
    node.set(({ method }) => (method === 'eth_blockNumber' ? { result } : undefined))
    await expect(head()).rejects.toMatchObject(unavailable)
  })

  test('answers too much is cut off', async () => {
    node.set(({ method }) => (method === 'eth_blockNumber' ? { result: `0x${'0'.repeat(200_000)}` } : undefined))
    await expect(head({ replyBytesMax: 100_000 })).rejects.toMatchObject(unavailable)
  })

  test('tells of errors tells nothing of its URL', async () => {
    node.set(() => ({ status: 500 }))
    const failure = await head().catch((error: unknown) => error)
    const texts: string[] = []
    for (let error = failure; error instanceof Error; error = error.cause) texts.push(`${error.message} ${error.stack}`)
    expect(texts.length).toBeGreaterThan(1)
    expect(texts.join()).not.toContain(node.url.slice(7))
  })
})
