import { RpcError } from '@swapyard/lib/json-rpc.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { until } from '../../test/support/until.ts'
import { bitcoinFamily, type RunningSandbox, runSandbox, temporaryFolder, testedNetworks } from './running-sandbox.ts'

const folder = temporaryFolder()
let sandbox: RunningSandbox

beforeAll(async () => {
  sandbox = await runSandbox(folder.path, testedNetworks.join(','))
  // Interval mining is paused, so that blocks come only from the tests.
  for (const network of testedNetworks) {
    await sandbox.post('/mining', { network, paused: true })
    await sandbox.post('/blocks', { network, count: 5 })
  }
})
afterAll(async () => {
  await sandbox?.stop()
  folder.remove()
})

const createAddress = async (network: string) => (await sandbox.post('/wallets', { network })).body['address'] as string
const pay = async (network: string, address: string, amount: string) =>
  (await sandbox.post('/deposits', { network, currency: 'native', address, amount })).body['hash'] as string
const balance = async (network: string, address: string) =>
  (await sandbox.get(`/balance?network=${network}&currency=native&address=${address}`)).body['amount']
const mine = async (network: string, count: number) =>
  (await sandbox.post('/blocks', { network, count })).body as { height: number; hash: string }
const reorganize = async (network: string, depth: number, drop = false) => {
  const { status, body } = await sandbox.post('/reorgs', { network, depth, drop })
  expect({ status, body }).toEqual({ status: 201, body: { height: expect.any(Number), hash: expect.any(String) } })
  return body as { height: number; hash: string }
}

/** RPC_INVALID_ADDRESS_OR_KEY: the node knows no such transaction. */
function zeroIfUnknown(error: unknown): number {
  if (error instanceof RpcError && error.code === -5) return 0
  throw error
}

describe.each(bitcoinFamily)('%s', (network) => {
  const blockHash = (height: number) => sandbox.rpc(network).call('getblockhash', [height])
  const confirmations = async (hash: string) => {
    const tx = (await sandbox.rpc(network).call('getrawtransaction', [hash, true])) as { confirmations?: number }
    return tx.confirmations ?? 0
  }

  test('returns a payment twelve blocks deep and a spend of its change to the mempool', async () => {
    const [firstAddress, secondAddress] = [await createAddress(network), await createAddress(network)]
    const first = await pay(network, firstAddress, '0.25')
    const second = await pay(network, secondAddress, '0.125')
    await mine(network, 12)
    await reorganize(network, 12)
    expect(await sandbox.rpc(network).call('getrawmempool')).toEqual(expect.arrayContaining([first, second]))
    await mine(network, 1)
    expect([await balance(network, firstAddress), await balance(network, secondAddress)]).toEqual(['0.25', '0.125'])
  })

  test('returns a payment of replaced blocks to the mempool and mines it again', async () => {
    const address = await createAddress(network)
    const hash = await pay(network, address, '0.5')
    const before = await mine(network, 3)
    expect(await confirmations(hash)).toBe(3)
    const after = await reorganize(network, 3)
    expect(after.height).toBe(before.height + 1)
    expect(await blockHash(before.height)).not.toBe(before.hash)
    expect(await confirmations(hash)).toBe(0)
    expect(await sandbox.rpc(network).call('getrawmempool')).toContain(hash)
    await mine(network, 1)
    expect(await confirmations(hash)).toBe(1)
    expect(await balance(network, address)).toBe('0.5')
  })

  test('does not double-spend the bank inputs of payments that a reorg returned to the mempool', async () => {
    const address = await createAddress(network)
    const hashes: string[] = []
    for (let count = 0; count < 3; count++) hashes.push(await pay(network, address, '0.25'))
    await mine(network, 2)
    // The bank reads its UTXOs while all payments are mined.
    hashes.push(await pay(network, address, '0.25'))
    await reorganize(network, 2)
    for (let count = 0; count < 3; count++) hashes.push(await pay(network, address, '0.25'))
    await mine(network, 1)
    for (const hash of hashes) expect(await confirmations(hash)).toBe(1)
    expect(await balance(network, address)).toBe('1.75')
  })

  test('never restores a dropped payment or its descendants', async () => {
    const address = await createAddress(network)
    // Enough payments for later ones to spend the change of earlier ones.
    const hashes: string[] = []
    for (let count = 0; count < 5; count++) hashes.push(await pay(network, address, '0.25'))
    await mine(network, 2)
    const unconfirmed = await pay(network, address, '0.125')
    await reorganize(network, 2, true)
    expect(await sandbox.rpc(network).call('getrawmempool')).toEqual([])
    await mine(network, 2)
    // Litecoin Core's transaction index keeps transactions of replaced blocks, without confirmations.
    for (const hash of [...hashes, unconfirmed]) expect(await confirmations(hash).catch(zeroIfUnknown)).toBe(0)
    expect(await balance(network, address)).toBe('0')
    await pay(network, address, '0.1')
    await mine(network, 1)
    expect(await balance(network, address)).toBe('0.1')
  })

  test('replaces fifty blocks', async () => {
    const before = await mine(network, 55)
    const after = await reorganize(network, 50)
    expect(after.height).toBe(before.height + 1)
  })

  test('treats a block as invalid until it is reconsidered', async () => {
    const rpc = sandbox.rpc(network)
    const address = await createAddress(network)
    const hash = await pay(network, address, '0.5')
    const { height, hash: block } = await mine(network, 1)
    await rpc.call('invalidateblock', [block])
    expect(await rpc.call('getblockcount')).toBe(height - 1)
    expect(await confirmations(hash)).toBe(0)
    await rpc.call('reconsiderblock', [block])
    expect(await rpc.call('getbestblockhash')).toBe(block)
    expect(await confirmations(hash)).toBe(1)
    await mine(network, 1)
  })
})

describe('eth', () => {
  const rpc = () => sandbox.rpc('eth')

  test('gives every block of one call the same base fee', async () => {
    const { height } = await mine('eth', 12)
    const blocks = await Promise.all(
      Array.from({ length: 12 }, (_, back) =>
        rpc().call('eth_getBlockByNumber', [`0x${(height - back).toString(16)}`, false]),
      ),
    )
    const fees = blocks.map((block) => Number((block as { baseFeePerGas: string }).baseFeePerGas))
    expect(new Set(fees)).toEqual(new Set([2_000_000_000]))
  })

  test('drops a payment of replaced blocks; the next payment works', async () => {
    const address = await createAddress('eth')
    const hash = await pay('eth', address, '0.5')
    const before = await mine('eth', 3)
    expect(await balance('eth', address)).toBe('0.5')
    const after = await reorganize('eth', 3)
    expect(after.height).toBe(before.height + 1)
    const block = (await rpc().call('eth_getBlockByNumber', [`0x${before.height.toString(16)}`, false])) as {
      hash: string
    }
    expect(block.hash).not.toBe(before.hash)
    expect(await rpc().call('eth_getTransactionReceipt', [hash])).toBeNull()
    expect(await balance('eth', address)).toBe('0')
    await pay('eth', address, '0.25')
    await mine('eth', 1)
    expect(await balance('eth', address)).toBe('0.25')
  })

  test('mines a payment that was pending during a reorg', async () => {
    const droppedAddress = await createAddress('eth')
    const address = await createAddress('eth')
    await pay('eth', droppedAddress, '1')
    await mine('eth', 1)
    const hash = await pay('eth', address, '2')
    await reorganize('eth', 1)
    await mine('eth', 1)
    expect(await rpc().call('eth_getTransactionReceipt', [hash])).toMatchObject({ status: '0x1' })
    expect([await balance('eth', droppedAddress), await balance('eth', address)]).toEqual(['0', '2'])
  })

  test('replaces fifty blocks', async () => {
    const before = await mine('eth', 60)
    const after = await reorganize('eth', 50)
    expect(after.height).toBe(before.height + 1)
  })

  test('keeps tokens and block time through a reorg', async () => {
    const token = sandbox.chains.networks.find((one) => one.network === 'eth')?.tokens['usdt'] ?? ''
    await mine('eth', 12)
    await reorganize('eth', 12)
    await mine('eth', 1)
    expect(((await rpc().call('eth_getCode', [token, 'latest'])) as string).length).toBeGreaterThan(100)
    const { timestamp } = (await rpc().call('eth_getBlockByNumber', ['latest', false])) as { timestamp: string }
    expect(Math.abs(Number(timestamp) - Date.now() / 1000)).toBeLessThan(3)
  })

  test('keeps one consistent chain under concurrent reorgs, payments and blocks', async () => {
    const address = await createAddress('eth')
    await mine('eth', 10)
    await Promise.all(
      Array.from({ length: 12 }, (_, index) => [
        mine('eth', 2),
        reorganize('eth', 1 + (index % 3)),
        pay('eth', address, '1'),
      ]).flat(),
    )
    const { height } = await mine('eth', 1)
    let child: { parentHash: string } | null = null
    for (let number = height; number > height - 20; number--) {
      const block = (await rpc().call('eth_getBlockByNumber', [`0x${number.toString(16)}`, false])) as {
        hash: string
        parentHash: string
      }
      if (child) expect(block.hash).toBe(child.parentHash)
      child = block
    }
    await until('an empty txpool', async () => {
      const { pending, queued } = (await rpc().call('txpool_status')) as { pending: string; queued: string }
      await mine('eth', 1)
      return Number(pending) + Number(queued) === 0
    })
  })
})
