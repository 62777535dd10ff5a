import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pubECDSA } from '@scure/btc-signer/utils.js'
import { afterEach, describe, expect, test } from 'vitest'
import { btc } from '../../../networks/btc.ts'
import { doge } from '../../../networks/doge.ts'
import { type NetworkDefinition, resolveNetwork } from '../../domain/network.ts'
import { createBitcoinChain } from './chain.ts'

// Nodes that lie, lag or know less than Bitcoin Core: small servers that speak its protocol. Real ones are in `test/`.

type Reply = { result: unknown } | { error: { code: number; message: string } } | 'hang up'
type Rules = Record<string, (...params: never[]) => Reply>

const running: { server: Server; close(): Promise<void> }[] = []
afterEach(async () => {
  for (const { server, close } of running.splice(0)) {
    await close()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
})

async function serve(rules: Rules) {
  const calls: string[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString()) as {
      id: number
      method: string
      params: never[]
    }
    calls.push(method)
    const reply = rules[method]?.(...params) ?? { error: { code: -32_601, message: 'Method not found' } }
    if (reply === 'hang up') return void request.socket.destroy()
    response.writeHead('error' in reply ? 500 : 200).end(JSON.stringify({ id, ...reply }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { server, calls, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

async function chainOver(definition: NetworkDefinition, ...nodes: Rules[]) {
  const servers = await Promise.all(nodes.map(serve))
  const chain = createBitcoinChain({
    network: resolveNetwork(definition, 'production'),
    rpcUrls: servers.map(({ url }) => url),
    publicKeys: { publicKey: () => pubECDSA(new Uint8Array(32).fill(1)) },
    timeoutMs: 2000,
  })
  servers.forEach(({ server }, at) => {
    running.push({ server, close: at === 0 ? chain.close : async () => undefined })
  })
  return { ...chain, calls: servers.map(({ calls }) => calls) }
}

const id = (index: number) => index.toString(16).padStart(64, '0')
const absent: Reply = { error: { code: -5, message: 'No such transaction' } }
/** Pays one coin to the key hash of 20 zero bytes. */
const transaction = (txid: string, blockhash?: string) => ({
  txid,
  vin: [{ txid: id(1), vout: 0 }],
  vout: [{ value: 1, n: 0, scriptPubKey: { hex: `76a914${'00'.repeat(20)}88ac` } }],
  blockhash,
})

describe('broadcast', () => {
  // One input, one output of 1000 units to OP_TRUE.
  const raw = `0100000001${'11'.repeat(32)}0000000000ffffffff01e803000000000000015100000000`
  const cases: [string, Rules, string][] = [
    [
      'is unknown where the node hangs up',
      { getrawtransaction: () => absent, sendrawtransaction: () => 'hang up' },
      'unknown',
    ],
    [
      'is unknown where the node is still starting',
      { getrawtransaction: () => ({ error: { code: -28, message: 'Loading' } }) },
      'unknown',
    ],
    [
      'is unknown after an error that says nothing',
      { getrawtransaction: () => absent, sendrawtransaction: () => ({ error: { code: -1, message: '?' } }) },
      'unknown',
    ],
    [
      'is unknown where the node takes it and does not have it',
      { getrawtransaction: () => absent, sendrawtransaction: () => ({ result: id(7) }) },
      'unknown',
    ],
    [
      'is rejected by policy',
      { getrawtransaction: () => absent, sendrawtransaction: () => ({ error: { code: -26, message: 'dust' } }) },
      'rejected',
    ],
    [
      'is known where it is in a block',
      { getrawtransaction: () => absent, sendrawtransaction: () => ({ error: { code: -27, message: 'in chain' } }) },
      'known',
    ],
    ['is known where the node has it', { getrawtransaction: () => ({ result: transaction(id(7)) }) }, 'known'],
  ]
  test.each(cases)('%s', async (_name, rules, kind) => {
    const { sender } = await chainOver(btc, rules)
    expect(await sender.broadcast(raw)).toMatchObject({ kind })
  })

  test('a doubt at one node outweighs the refusal of another', async () => {
    const refusing: Rules = {
      getrawtransaction: () => absent,
      sendrawtransaction: () => ({ error: { code: -26, message: 'dust' } }),
    }
    const silent: Rules = { getrawtransaction: () => absent, sendrawtransaction: () => 'hang up' }
    const { sender, calls } = await chainOver(btc, refusing, silent)
    expect(await sender.broadcast(raw)).toMatchObject({ kind: 'unknown' })
    // Sent once to each: a call is never repeated by itself.
    expect(calls.map((made) => made.filter((method) => method === 'sendrawtransaction').length)).toEqual([1, 1])
  })
})

describe('what nodes say of a payout', () => {
  const lost: Rules = {
    getrawtransaction: () => absent,
    gettxout: () => ({ result: null }),
    getblockchaininfo: () => ({ result: { blocks: 50, bestblockhash: id(50) } }),
  }
  const blocks = (spender: number): Rules => ({
    ...lost,
    getblockhash: (height: number) => ({ result: id(height) }),
    getblock: (hash: string) => {
      const height = Number.parseInt(hash, 16)
      const tx = height === 20 ? [{ ...transaction(id(spender)), vin: [{ txid: id(1), vout: 0 }] }] : []
      return { result: { hash, height, previousblockhash: id(height - 1), time: 1, tx } }
    },
  })
  const attempt = { txHash: id(900), conflictKey: `${id(1)}:0` }

  test('is death only where every node holds the other transaction at finality', async () => {
    const { sender } = await chainOver(btc, blocks(901), blocks(901))
    expect(await sender.observe(attempt)).toEqual({
      kind: 'dead',
      proof: { spentBy: id(901), blockHash: id(20), blockHeight: 20 },
    })
  })

  test('is no death where a node lags', async () => {
    const behind: Rules = {
      ...blocks(901),
      getblockchaininfo: () => ({ result: { blocks: 30, bestblockhash: id(30) } }),
    }
    const { sender } = await chainOver(btc, blocks(901), behind)
    expect(await sender.observe(attempt)).toEqual({ kind: 'unseen' })
  })

  test('is no death where a node is on another chain', async () => {
    const fork: Rules = { ...blocks(901), getblockhash: (height: number) => ({ result: id(height + 1000) }) }
    const { sender } = await chainOver(btc, blocks(901), fork)
    expect(await sender.observe(attempt)).toEqual({ kind: 'unseen' })
  })

  test('is no death where a node still has the coin unspent', async () => {
    const unspent: Rules = { ...blocks(901), gettxout: () => ({ result: { value: 1 } }) }
    const { sender } = await chainOver(btc, blocks(901), unspent)
    expect(await sender.observe(attempt)).toEqual({ kind: 'unseen' })
  })

  test('is no death where the spender is the payout itself, which the node’s index forgot', async () => {
    const { sender } = await chainOver(btc, blocks(900))
    expect(await sender.observe(attempt)).toEqual({ kind: 'unseen' })
  })

  test('is never death without segwit: the other id may be the same payment (D7)', async () => {
    const { sender } = await chainOver(doge, blocks(901))
    expect(await sender.observe(attempt)).toEqual({ kind: 'unseen' })
  })

  test('is pending where one has it and another not, or the block left the chain', async () => {
    const having: Rules = { getrawtransaction: () => ({ result: transaction(id(900), id(20)) }) }
    expect(await (await chainOver(btc, having, lost)).sender.observe(attempt)).toEqual({ kind: 'pending' })
    const stale: Rules = { ...having, getblockheader: () => ({ result: { height: 20, confirmations: -1 } }) }
    expect(await (await chainOver(btc, stale)).sender.observe(attempt)).toEqual({ kind: 'pending' })
  })
})

describe('the mempool', () => {
  test('is looked up 500 at a time, the newest arrivals first, and each once', async () => {
    let listed = Array.from({ length: 1200 }, (_, index) => id(index + 10))
    const { reader } = await chainOver(btc, {
      getrawmempool: () => ({ result: listed }),
      getrawtransaction: (txid: string) => ({ result: transaction(txid) }),
    })
    const first = await reader.mempool()
    expect(first).toHaveLength(500)
    listed = [...listed.slice(600), id(5000)]
    const second = await reader.mempool()
    expect(second).toHaveLength(500)
    expect(second[0]?.txHash).toBe(id(5000))
    const third = await reader.mempool()
    expect(await reader.mempool()).toEqual([])
    const seen = [...first, ...second, ...third].map(({ txHash }) => txHash)
    expect(new Set(seen).size).toBe(seen.length)
    // 100 of the second 500 were gone before they were looked up.
    expect(seen).toHaveLength(1200 - 100 + 1)
  })
})

describe('a node that knows less', () => {
  test('gives a block by its ids, one transaction at a time (Dogecoin Core 1.14)', async () => {
    const hash = id(77)
    const { reader, calls } = await chainOver(doge, {
      getblockhash: () => ({ result: hash }),
      getblock: (_hash: string, verbose: unknown) => {
        if (verbose === 2) return { error: { code: -1, message: 'JSON value is not a boolean as expected' } }
        return { result: { hash, height: 9, previousblockhash: id(76), time: 1, tx: [id(501), id(502)] } }
      },
      getrawtransaction: (txid: string) => ({ result: transaction(txid, hash) }),
    })
    const block = await reader.block(9)
    expect(block?.transfers.map(({ identity, address, units }) => ({ identity, address, units }))).toEqual([
      // base58check of 1e and twenty zero bytes, by Python.
      { identity: `${id(501)}:0`, address: 'D596YFweJQuHY1BbjazZYmAbt8jJPbKehC', units: 100_000_000n },
      { identity: `${id(502)}:0`, address: 'D596YFweJQuHY1BbjazZYmAbt8jJPbKehC', units: 100_000_000n },
    ])
    await reader.block(9)
    // Asked for the whole block once only.
    expect(calls[0]?.filter((method) => method === 'getblock')).toHaveLength(3)
  })

  const least: Rules = {
    getmempoolinfo: () => ({ result: { mempoolminfee: 0.00001 } }),
    getnetworkinfo: () => ({ result: { relayfee: 0.00001 } }),
  }
  test.each<[string, Rules, bigint]>([
    [
      'no estimate',
      { ...least, estimatesmartfee: () => ({ result: { errors: ['Insufficient data'], blocks: 0 } }) },
      10_000n,
    ],
    ['no such method', least, 10_000n],
    ['an estimate of -1', { ...least, estimatesmartfee: () => ({ result: { feerate: -1, blocks: 2 } }) }, 10_000n],
    ['an estimate', { ...least, estimatesmartfee: () => ({ result: { feerate: 0.00025, blocks: 2 } }) }, 25_000n],
    [
      'an estimate below what it relays',
      { ...least, estimatesmartfee: () => ({ result: { feerate: 0.000001, blocks: 2 } }) },
      1000n,
    ],
    [
      'an estimate beyond reason',
      { ...least, estimatesmartfee: () => ({ result: { feerate: 9, blocks: 2 } }) },
      2_184_000n,
    ],
  ])('gives a fee rate all the same: %s', async (_name, rules, rate) => {
    const { reader } = await chainOver(btc, rules)
    expect(await reader.feeRate()).toEqual({ rate, tip: 0n })
  })
})

test('a block that the first node cannot serve comes from the second', async () => {
  const hash = id(77)
  const block = { hash, height: 9, previousblockhash: id(76), time: 1, tx: [] }
  const whole: Rules = { getblockhash: () => ({ result: hash }), getblock: () => ({ result: block }) }
  const broken: Rules = { ...whole, getblock: () => 'hang up' }
  const { reader } = await chainOver(btc, broken, whole)
  expect(await reader.block(9)).toMatchObject({ height: 9, hash, transfers: [] })
})
