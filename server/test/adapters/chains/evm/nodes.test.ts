import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { type Anvil, call, hex, type Sent, startAnvil } from './anvil.ts'
import { type FaultyNode, startFaultyNode } from './faulty-node.ts'
import { type ActorName, type Compiled, testActors, testTokens } from './tokens.ts'
import { chainOf, native } from './wallet.ts'

let anvil: Anvil
let other: Anvil
let node: FaultyNode
let actors: Readonly<Record<ActorName, Compiled>>
let next = 9000

beforeAll(async () => {
  ;[anvil, other, actors] = await Promise.all([startAnvil(), startAnvil(), testActors()])
  node = await startFaultyNode(anvil.url)
})
afterEach(() => {
  node.set(() => undefined)
  vi.restoreAllMocks()
})
afterAll(async () => {
  await Promise.all([anvil.stop(), other.stop(), node.stop()])
})

const unavailable = { code: 'NETWORK_UNAVAILABLE', retryable: true }
const notFound = { error: { code: -32601, message: '' } }

describe('nodes that differ', () => {
  test('have the head of the slower node', async () => {
    const chain = chainOf([anvil.url, node.url])
    const height = await anvil.mine(3)
    node.set(({ method }) => (method === 'eth_blockNumber' ? { result: hex(height - 2) } : undefined))
    expect((await chain.reader.head()).height).toBe(height - 2)
  })

  test('have the last common block as head and agree on no block above it', async () => {
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

  test('without a common block have no head', async () => {
    const genesis = await startFaultyNode(other.url)
    genesis.set(async ({ method }, forward) =>
      method === 'eth_getBlockByNumber'
        ? { result: { ...((await forward()) as object), hash: `0x${'66'.repeat(32)}` } }
        : undefined,
    )
    await expect(chainOf([anvil.url, genesis.url]).reader.head()).rejects.toMatchObject(unavailable)
    await genesis.stop()
  })

  test('have the lowest balance of all nodes', async () => {
    const chain = chainOf([anvil.url, node.url])
    node.set(({ method }) => (method === 'eth_getBalance' ? { result: '0x5' } : undefined))
    expect(await chain.reader.balance(chain.addresses.deposit(0).address, native)).toBe(5n)
  })

  test('give the lowest received units, and fail while a node is not on the block', async () => {
    const chain = chainOf([anvil.url, node.url])
    const { address } = chain.addresses.deposit(next++)
    const { height } = await anvil.sendAndMine({ to: address, value: 10n })
    const block = await chain.reader.block(height)
    const transfer = block?.transfers.find((one) => one.address === address)
    if (!block || !transfer) throw new Error('the scan found no transfer')
    expect(await chain.reader.receivedUnits(transfer, block)).toBe(10n)
    node.set(({ method, params }) =>
      method === 'eth_getBalance' && params[1] === hex(height) ? { result: '0x4' } : undefined,
    )
    expect(await chain.reader.receivedUnits(transfer, block)).toBe(4n)
    node.set(({ method }) => (method === 'eth_getTransactionReceipt' ? { result: null } : undefined))
    await expect(chain.reader.receivedUnits(transfer, block)).rejects.toMatchObject(unavailable)
  })
})

describe('the deposits of one block', () => {
  const forwards = async (chain: ReturnType<typeof chainOf>, count: number) => {
    const addresses = Array.from({ length: count }, () => chain.addresses.deposit(next++).address)
    for (const to of addresses) await anvil.send({ to, value: 10n })
    const block = await chain.reader.block(await anvil.mine())
    const transfers = block?.transfers.filter((one) => addresses.includes(one.address)) ?? []
    if (!block || transfers.length !== count) throw new Error('the scan found no transfers')
    return { block, transfers }
  }

  test('share one read of their block per node (each deposit downloaded its whole block)', async () => {
    const chain = chainOf([node.url])
    const { block, transfers } = await forwards(chain, 30)
    const before = node.callCount('eth_getBlockByHash')
    const received = await Promise.all(transfers.map((one) => chain.reader.receivedUnits(one, block)))
    expect(received).toEqual(transfers.map(() => 10n))
    for (const one of transfers.slice(0, 5)) await chain.reader.receivedUnits(one, block)
    expect(node.callCount('eth_getBlockByHash') - before).toBe(1)
  })

  test('are read again after a failed read, and are not received in a block that left the chain', async () => {
    const chain = chainOf([node.url])
    const { block, transfers } = await forwards(chain, 2)
    const [first, second] = transfers
    if (!first || !second) throw new Error('no transfers')
    node.set(({ method }) => (method === 'eth_getBlockByHash' ? { status: 500 } : undefined))
    await expect(chain.reader.receivedUnits(first, block)).rejects.toMatchObject(unavailable)
    node.set(() => undefined)
    expect(await chain.reader.receivedUnits(first, block)).toBe(10n)
    // The shared read stays; the node's own chain decides.
    node.set(async ({ method, params }, forward) =>
      method === 'eth_getBlockByNumber' && params[0] === hex(block.height)
        ? { result: { ...((await forward()) as object), hash: `0x${'88'.repeat(32)}` } }
        : undefined,
    )
    await expect(chain.reader.receivedUnits(second, block)).rejects.toMatchObject(unavailable)
  })
})

describe('a node without', () => {
  async function inner(others: readonly Sent[] = []) {
    const chain = chainOf([node.url])
    const forwarder = await anvil.deploy(actors.Forwarder, [])
    const { address } = chain.addresses.deposit(next++)
    await anvil.send({ to: address, value: 3n })
    await anvil.send({ to: forwarder, value: 4n, data: call(actors.Forwarder.abi, 'forward', [address]) })
    const hashes: string[] = []
    for (const other of others) hashes.push(await anvil.send(other))
    const height = await anvil.mine()
    return { chain, address, height, hashes }
  }
  const units = async ({ chain, address, height }: Awaited<ReturnType<typeof inner>>) =>
    (await chain.reader.block(height))?.transfers.filter((one) => one.address === address).map((one) => one.units)

  test('block receipts is read by traces', async () => {
    node.set(({ method }) => (method === 'eth_getBlockReceipts' ? notFound : undefined))
    expect(await units(await inner())).toEqual([3n, 4n])
  })

  test('traces reports so, and still shows transfers of wallets', async () => {
    node.set(({ method }) => (/trace/.test(method) ? notFound : undefined))
    const scanned = await inner()
    expect(await units(scanned)).toEqual([3n])
    expect(await scanned.chain.hasTraces()).toBe(false)
  })

  test('traces notes each block, unless the settings accept that', async () => {
    node.set(({ method }) => (/trace/.test(method) ? notFound : undefined))
    const scanned = await inner()
    expect(await units(scanned)).toEqual([3n])
    const block = await scanned.chain.reader.block(scanned.height)
    expect(scanned.chain.notes).toEqual([
      { kind: 'traces-missing', node: 'eth node 1', detail: `block ${scanned.height} ${block?.hash}` },
      { kind: 'traces-missing', node: 'eth node 1', detail: `block ${scanned.height} ${block?.hash}` },
    ])
    const accepting = chainOf([node.url], { expectsTraces: false })
    await accepting.reader.block(scanned.height)
    expect(accepting.notes).toEqual([])
  })

  test('traces is not used, and not noted, while another node offers them', async () => {
    node.set(({ method }) => (/trace/.test(method) ? notFound : undefined))
    const chain = chainOf([node.url, anvil.url])
    expect(await units({ ...(await inner()), chain })).toEqual([3n, 4n])
    expect(chain.notes).toEqual([])
  })

  test('both is read by single receipts', async () => {
    node.set(({ method }) => (/trace|getBlockReceipts/.test(method) ? notFound : undefined))
    expect(await units(await inner())).toEqual([3n])
  })

  test('the traces of one block does not stop the watcher, and notes it', async () => {
    const scanned = await inner()
    expect(await scanned.chain.hasTraces()).toBe(true)
    node.set(({ method }) => (method === 'trace_block' ? { error: { code: -32000, message: 'timeout' } } : undefined))
    expect(await units(scanned)).toEqual([3n])
    expect(scanned.chain.notes).toMatchObject([{ kind: 'traces-missing' }])
  })

  test('any trace of a block fails the scan while the block is new; later it only notes it', async () => {
    const scanned = await inner()
    node.set(({ method }) => (method === 'trace_block' ? { result: [] } : undefined))
    await expect(units(scanned)).rejects.toThrow('traced only a part')
    const later = Date.now() + 20_000
    vi.spyOn(Date, 'now').mockReturnValue(later)
    expect(await units(scanned)).toEqual([3n])
    expect(scanned.chain.notes).toMatchObject([{ kind: 'traces-missing' }])
  })

  describe('the trace of one transaction', () => {
    /** Geth's tracer, which answers for the chosen transactions with an error, as Erigon and Sei do. */
    function failTraces(isFailed: (txHash: string) => boolean) {
      node.set(async ({ method }, forward) => {
        if (method === 'trace_block' || method === 'eth_getBlockReceipts') return notFound
        if (method !== 'debug_traceBlockByHash') return undefined
        const traces = (await forward()) as { txHash: string }[]
        const error = { code: -32000, message: 'tracing failed: nonce too low' }
        return {
          result: traces.map((one) => (isFailed(one.txHash) ? { txHash: one.txHash, result: null, error } : one)),
        }
      })
    }

    test('that failed is not needed: the other transfers of its block are scanned', async () => {
      const refuser = await anvil.deploy(actors.Refuser, [])
      const scanned = await inner([{ to: refuser, value: 1n }])
      failTraces((txHash) => scanned.hashes.includes(txHash))
      expect(await units(scanned)).toEqual([3n, 4n])
      expect(scanned.chain.notes).toEqual([])
    })

    test('that succeeded fails the scan while the block is new; later the others are scanned, and it is noted', async () => {
      const scanned = await inner()
      const { address, chain, height } = scanned
      const direct = (await chain.reader.block(height))?.transfers.find((one) => one.address === address)?.txHash
      failTraces((txHash) => txHash === direct)
      const reader = { ...scanned, chain: chainOf([node.url]) }
      await expect(units(reader)).rejects.toThrow('cannot yet trace')
      vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 20_000)
      expect(await units(reader)).toEqual([3n, 4n])
      expect(reader.chain.notes).toMatchObject([{ kind: 'traces-missing' }])
    })
  })

  test('the state of a block limits the received units by the current balance, and notes it', async () => {
    const scanned = await inner()
    const { chain, address, height } = scanned
    const block = await chain.reader.block(height)
    const transfer = block?.transfers.find((one) => one.address === address)
    if (!block || !transfer) throw new Error('the scan found no transfer')
    node.set(({ method, params }) =>
      method === 'eth_getBalance' && params[1] !== 'latest'
        ? { error: { code: -32000, message: 'pruned' } }
        : undefined,
    )
    expect(await chain.reader.receivedUnits(transfer, block)).toBe(3n)
    expect(chain.notes).toMatchObject([{ kind: 'state-pruned' }])
  })

  test('the state of a block counts a fee on transfers, where the address holds other deposits (D17)', async () => {
    const chain = chainOf([node.url])
    const { FeeToken } = await testTokens()
    const contract = await anvil.deploy(FeeToken, ['Test', 'TST', 6, 250n])
    const [bank = ''] = anvil.accounts
    await anvil.sendAndMine({ to: contract, data: call(FeeToken.abi, 'mint', [bank, 100_000n]) })
    const { address } = chain.addresses.deposit(next++)
    const data = call(FeeToken.abi, 'transfer', [address, 10_000n])
    for (let n = 0; n < 2; n++) await anvil.send({ to: contract, data })
    const block = await chain.reader.block(await anvil.mine())
    const [first, second] = block?.transfers.filter((one) => one.address === address) ?? []
    if (!block || !first || !second) throw new Error('the scan found no two transfers')
    // The calls of the contract ask for balances by block, too.
    node.set(({ method, params }) =>
      method === 'eth_call' && params[1] !== 'latest' ? { error: { code: -32000, message: 'pruned' } } : undefined,
    )
    expect(await chain.reader.receivedUnits(first, block, async () => 0n)).toBe(10_000n)
    expect(await chain.reader.receivedUnits(second, block, async () => 10_000n)).toBe(9_500n)
    expect(await chain.reader.receivedUnits(second, block, async () => 20_000n)).toBe(0n)
    node.set(() => undefined)
    const unused = async () => Promise.reject(new Error('the state of the block is there'))
    for (const one of [first, second]) expect(await chain.reader.receivedUnits(one, block, unused)).toBe(9_750n)
  })

  describe('some logs of a block (T6)', () => {
    async function mint() {
      const chain = chainOf([node.url])
      const { StandardToken } = await testTokens()
      const contract = await anvil.deploy(StandardToken, ['Test', 'TST', 6])
      const { address } = chain.addresses.deposit(next++)
      const data = call(StandardToken.abi, 'mint', [address, 5n])
      const { height } = await anvil.sendAndMine({ to: contract, data })
      const whole = (await chain.reader.block(height))?.transfers
      expect(whole).toMatchObject([{ address, units: 5n, sender: null }])
      return { chain, height, whole }
    }
    const dropLogs = (receipts: unknown) => (receipts as object[]).map((one) => ({ ...one, logs: [] }))

    test.each([
      ['the logs', 'eth_getLogs'],
      ['the receipts of the block', 'eth_getBlockReceipts'],
    ])('that %s lack is read from receipts of single transactions, and notes it', async (_, incomplete) => {
      const { chain, height, whole } = await mint()
      node.set(async ({ method }, forward) =>
        method !== incomplete ? undefined : { result: method === 'eth_getLogs' ? [] : dropLogs(await forward()) },
      )
      const block = await chain.reader.block(height)
      expect(block?.transfers).toEqual(whole)
      expect(chain.notes).toMatchObject([{ kind: 'logs-disagree', node: 'eth node 1' }])
      expect(chain.notes[0]?.detail).toContain(`block ${height} ${block?.hash}`)
    })

    test('without block receipts is seen by the bloom filter of the block', async () => {
      const { height, whole } = await mint()
      node.set(({ method }) =>
        method === 'eth_getBlockReceipts' ? notFound : method === 'eth_getLogs' ? { result: [] } : undefined,
      )
      const chain = chainOf([node.url])
      expect((await chain.reader.block(height))?.transfers).toEqual(whole)
      expect(chain.notes).toMatchObject([{ kind: 'logs-disagree', node: 'eth node 1' }])
      const quiet = await anvil.sendAndMine({ to: chain.addresses.deposit(next++).address, value: 1n })
      expect((await chain.reader.block(quiet.height))?.transfers).toHaveLength(1)
      expect(chain.notes).toHaveLength(1)
    })

    test('that no receipt has is not recorded, and notes it', async () => {
      const { chain, height } = await mint()
      node.set(async ({ method }, forward) => {
        if (method === 'eth_getBlockReceipts') return { result: dropLogs(await forward()) }
        return method === 'eth_getTransactionReceipt'
          ? { result: { ...((await forward()) as object), logs: [] } }
          : undefined
      })
      expect((await chain.reader.block(height))?.transfers).toEqual([])
      expect(chain.notes).toMatchObject([{ kind: 'logs-disagree' }])
    })
  })
})

describe('a node that', () => {
  const head = (parts = {}) => chainOf([node.url], { rpc: { timeoutMs: 300, attempts: 2, ...parts } }).reader.head()

  test('serves another chain is refused', async () => {
    node.set(({ method }) => (method === 'eth_chainId' ? { result: '0x1' } : undefined))
    await expect(head()).rejects.toMatchObject(unavailable)
  })

  test('never answers fails after the configured attempts', async () => {
    const before = node.callCount('eth_blockNumber')
    node.set(({ method }) => (method === 'eth_blockNumber' ? 'silence' : undefined))
    await expect(head()).rejects.toMatchObject(unavailable)
    expect(node.callCount('eth_blockNumber') - before).toBe(2)
  })

  test('fails once is called again', async () => {
    let hasFailed = false
    node.set(({ method }) => {
      if (method !== 'eth_blockNumber' || hasFailed) return undefined
      hasFailed = true
      return { status: 503 }
    })
    expect((await head()).height).toBeGreaterThanOrEqual(0)
    expect(hasFailed).toBe(true)
  })

  test.each([
    ['null', null],
    ['a negative number', '-0x1'],
    ['text', '0xzz'],
    ['a number above 2^53', `0x${'ff'.repeat(20)}`],
    ['an object', {}],
  ])('answers %s in place of a height is refused', async (_, result) => {
    node.set(({ method }) => (method === 'eth_blockNumber' ? { result } : undefined))
    await expect(head()).rejects.toMatchObject(unavailable)
  })

  test('returns too many bytes is refused', async () => {
    node.set(({ method }) => (method === 'eth_blockNumber' ? { result: `0x${'0'.repeat(200_000)}` } : undefined))
    await expect(head({ replyBytesMax: 100_000 })).rejects.toMatchObject(unavailable)
  })

  test('fails does not leak its URL in the error', async () => {
    node.set(() => ({ status: 500 }))
    const failure = await head().catch((error: unknown) => error)
    const texts: string[] = []
    for (let error = failure; error instanceof Error; error = error.cause) texts.push(`${error.message} ${error.stack}`)
    expect(texts.length).toBeGreaterThan(1)
    expect(texts.join()).not.toContain(node.url.slice(7))
  })
})
