import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pubECDSA } from '@scure/btc-signer/utils.js'
import { afterEach, describe, expect, test } from 'vitest'
import { bch } from '../../../../networks/bch.ts'
import { btc } from '../../../../networks/btc.ts'
import { doge } from '../../../../networks/doge.ts'
import { type NetworkDefinition, resolveNetwork } from '../../../core/domain/network.ts'
import { createBitcoinChain } from './chain.ts'

// Fake nodes that lie, lag or lack methods of Bitcoin Core.

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
/** Pays 1 BTC to the key hash of 20 zero bytes. */
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
      'is unknown if the node closes the connection',
      { getrawtransaction: () => absent, sendrawtransaction: () => 'hang up' },
      'unknown',
    ],
    [
      'is unknown while the node is starting',
      { getrawtransaction: () => ({ error: { code: -28, message: 'Loading' } }) },
      'unknown',
    ],
    [
      'is unknown after an unspecific error',
      { getrawtransaction: () => absent, sendrawtransaction: () => ({ error: { code: -1, message: '?' } }) },
      'unknown',
    ],
    [
      'is unknown if the node accepts it but does not have it',
      { getrawtransaction: () => absent, sendrawtransaction: () => ({ result: id(7) }) },
      'unknown',
    ],
    [
      'is rejected by policy',
      { getrawtransaction: () => absent, sendrawtransaction: () => ({ error: { code: -26, message: 'dust' } }) },
      'rejected',
    ],
    [
      'is known if it is in a block',
      { getrawtransaction: () => absent, sendrawtransaction: () => ({ error: { code: -27, message: 'in chain' } }) },
      'known',
    ],
    ['is known if the node has it', { getrawtransaction: () => ({ result: transaction(id(7)) }) }, 'known'],
  ]
  test.each(cases)('%s', async (_name, rules, kind) => {
    const { sender } = await chainOver(btc, rules)
    expect(await sender.broadcast(raw)).toMatchObject({ kind })
  })

  test('is unknown if one node does not answer, even if another rejects', async () => {
    const refusing: Rules = {
      getrawtransaction: () => absent,
      sendrawtransaction: () => ({ error: { code: -26, message: 'dust' } }),
    }
    const silent: Rules = { getrawtransaction: () => absent, sendrawtransaction: () => 'hang up' }
    const { sender, calls } = await chainOver(btc, refusing, silent)
    expect(await sender.broadcast(raw)).toMatchObject({ kind: 'unknown' })
    // One call per node: the adapter does not retry a broadcast.
    expect(calls.map((methods) => methods.filter((method) => method === 'sendrawtransaction').length)).toEqual([1, 1])
  })
})

describe('the observation of a payout', () => {
  const absentAndSpent: Rules = {
    getrawtransaction: () => absent,
    gettxout: () => ({ result: null }),
    getblockchaininfo: () => ({ result: { blocks: 50, bestblockhash: id(50) } }),
  }
  const blocks = (spender: number): Rules => ({
    ...absentAndSpent,
    getblockhash: (height: number) => ({ result: id(height) }),
    getblock: (hash: string) => {
      const height = Number.parseInt(hash, 16)
      const tx = height === 20 ? [{ ...transaction(id(spender)), vin: [{ txid: id(1), vout: 0 }] }] : []
      return { result: { hash, height, previousblockhash: id(height - 1), time: 1, tx } }
    },
  })
  const attempt = { txHash: id(900), conflictKey: `${id(1)}:0` }
  /** Block 20 is final on every network and still within the search depth. */
  const finalHead: Rules = { getblockchaininfo: () => ({ result: { blocks: 150, bestblockhash: id(150) } }) }

  test('is invalidated only if every node has the conflicting transaction at finality', async () => {
    const { sender } = await chainOver(btc, blocks(901), blocks(901))
    expect(await sender.observe(attempt)).toEqual({
      kind: 'invalidated',
      proof: { spentBy: id(901), blockHash: id(20), blockHeight: 20 },
    })
  })

  test('is unseen if a node lags', async () => {
    const behind: Rules = {
      ...blocks(901),
      getblockchaininfo: () => ({ result: { blocks: 30, bestblockhash: id(30) } }),
    }
    const { sender } = await chainOver(btc, blocks(901), behind)
    expect(await sender.observe(attempt)).toEqual({ kind: 'unseen' })
  })

  test('is unseen if a node is on another chain', async () => {
    const fork: Rules = { ...blocks(901), getblockhash: (height: number) => ({ result: id(height + 1000) }) }
    const { sender } = await chainOver(btc, blocks(901), fork)
    expect(await sender.observe(attempt)).toEqual({ kind: 'unseen' })
  })

  test('is unseen if a node has the input unspent', async () => {
    const unspent: Rules = { ...blocks(901), gettxout: () => ({ result: { value: 1 } }) }
    const { sender } = await chainOver(btc, blocks(901), unspent)
    expect(await sender.observe(attempt)).toEqual({ kind: 'unseen' })
  })

  test('is unseen if the spender is the payout itself, missing from the index of the node', async () => {
    const { sender } = await chainOver(btc, blocks(900))
    expect(await sender.observe(attempt)).toEqual({ kind: 'unseen' })
  })

  test('is unseen without segwit if the spender may be a malleated copy (D7)', async () => {
    const { sender } = await chainOver(doge, { ...blocks(901), ...finalHead })
    expect(await sender.observe(attempt)).toEqual({ kind: 'unseen' })
  })

  test('is pending if only some nodes have it, or its block was orphaned', async () => {
    const header = (confirmations: number) => () => ({ result: { height: 20, confirmations } })
    const inBlock: Rules = { getrawtransaction: () => ({ result: transaction(id(900), id(20)) }) }
    const having: Rules = { ...inBlock, getblockheader: header(1) }
    expect(await (await chainOver(btc, having, absentAndSpent)).sender.observe(attempt)).toEqual({ kind: 'pending' })
    const waiting: Rules = { getrawtransaction: () => ({ result: transaction(id(900)) }) }
    expect(await (await chainOver(btc, waiting)).sender.observe(attempt)).toEqual({ kind: 'pending' })
    const stale: Rules = { ...inBlock, getblockheader: header(-1) }
    expect(await (await chainOver(btc, stale, having)).sender.observe(attempt)).toEqual({ kind: 'pending' })
  })

  test('is unseen or invalidated if only the index has it, from an orphaned block', async () => {
    const stale: Rules = {
      getrawtransaction: () => ({ result: transaction(id(900), id(77)) }),
      getblockheader: () => ({ result: { height: 20, confirmations: -1 } }),
    }
    const unspent: Rules = { ...blocks(901), ...stale, gettxout: () => ({ result: { value: 1 } }) }
    expect(await (await chainOver(btc, unspent)).sender.observe(attempt)).toEqual({ kind: 'unseen' })
    const spent: Rules = { ...blocks(901), ...stale }
    expect((await (await chainOver(btc, spent)).sender.observe(attempt)).kind).toBe('invalidated')
  })

  /** Spends `id(2):0` and `id(1):0`, and pays 1000 units to OP_TRUE. */
  const input = (index: number) => `${index.toString(16).padStart(2, '0')}${'00'.repeat(31)}0000000000ffffffff`
  const raw = `0100000002${input(2)}${input(1)}01e803000000000000015100000000`

  test('is invalidated if another transaction spent any of its inputs', async () => {
    const unspentFirst = (txid: string): Reply => ({ result: txid === id(2) ? { value: 1 } : null })
    const node: Rules = { ...blocks(901), gettxout: unspentFirst }
    const two = { txHash: id(900), conflictKey: `${id(2)}:0` }
    expect((await (await chainOver(btc, node)).sender.observe(two)).kind).toBe('unseen')
    expect(await (await chainOver(btc, node)).sender.observe({ ...two, raw })).toMatchObject({
      kind: 'invalidated',
      proof: { spentBy: id(901) },
    })
    const itself: Rules = { ...blocks(900), gettxout: unspentFirst }
    const { sender } = await chainOver(btc, itself)
    // Repeated, to check that the cached spender is still recognised as our own transaction.
    for (let n = 0; n < 2; n++) expect((await sender.observe({ ...two, raw })).kind).toBe('unseen')
  })

  test('is invalidated if an ancestor is invalidated', async () => {
    const child = {
      txHash: id(900),
      conflictKey: `${id(800)}:0`,
      ancestorSpends: [{ outpoint: `${id(1)}:0`, spentBy: id(800) }],
    }
    const proof = { spentBy: id(901), blockHash: id(20), blockHeight: 20, output: `${id(1)}:0`, parent: id(800) }
    expect(await (await chainOver(btc, blocks(901))).sender.observe(child)).toEqual({ kind: 'invalidated', proof })
    // Not if a node has the parent in its mempool, nor if the spender is the parent.
    const waiting: Rules = {
      ...blocks(901),
      getrawtransaction: (txid: string) => (txid === id(800) ? { result: transaction(id(800)) } : absent),
    }
    expect((await (await chainOver(btc, blocks(901), waiting)).sender.observe(child)).kind).toBe('unseen')
    expect((await (await chainOver(btc, blocks(800))).sender.observe(child)).kind).toBe('unseen')
    // Without segwit, too: no copy of the child can spend an output that does not exist.
    expect(await (await chainOver(doge, { ...blocks(901), ...finalHead })).sender.observe(child)).toMatchObject({
      kind: 'invalidated',
    })
  })

  test('is invalidated by a conflicting transaction that an operator named, at any depth, if every node has it', async () => {
    const deep = (conflicting: Reply): Rules => ({
      ...absentAndSpent,
      getblockchaininfo: () => ({ result: { blocks: 5000, bestblockhash: id(5000) } }),
      getblockhash: (height: number) => ({ result: id(height) }),
      getblock: (hash: string) => ({
        result: { hash, height: Number.parseInt(hash, 16), previousblockhash: id(1), time: 1, tx: [] },
      }),
      getblockheader: () => ({ result: { height: 20, confirmations: 4981 } }),
      getrawtransaction: (txid: string) => (txid === id(901) ? conflicting : absent),
    })
    const named = { ...attempt, conflictingTxHash: id(901) }
    const there = deep({ result: transaction(id(901), id(20)) })
    expect(await (await chainOver(btc, there)).sender.observe(named)).toMatchObject({ kind: 'invalidated' })
    expect((await (await chainOver(btc, there)).sender.observe(attempt)).kind).toBe('unseen')
    expect((await (await chainOver(btc, there, deep(absent))).sender.observe(named)).kind).toBe('unseen')
    const other = deep({ result: { ...transaction(id(901), id(20)), vin: [{ txid: id(3), vout: 0 }] } })
    expect((await (await chainOver(btc, other)).sender.observe(named)).kind).toBe('unseen')
  })

  test('is invalidated without segwit if the spender has other outputs, so it is no malleated copy (D7)', async () => {
    const paying = (script: string): Rules => ({
      ...blocks(901),
      ...finalHead,
      getrawtransaction: (txid: string) =>
        txid === id(901)
          ? {
              result: {
                ...transaction(id(901), id(20)),
                vout: [{ value: 0.00001, n: 0, scriptPubKey: { hex: script } }],
              },
            }
          : absent,
    })
    const ours = { txHash: id(900), conflictKey: `${id(1)}:0`, raw }
    expect((await (await chainOver(doge, paying('51'))).sender.observe(ours)).kind).toBe('unseen')
    expect((await (await chainOver(doge, paying('52'))).sender.observe(ours)).kind).toBe('invalidated')
  })
})

describe('a node with fewer methods', () => {
  test('serves a block transaction by transaction (Dogecoin Core 1.14)', async () => {
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
    // Verbosity 2 is tried once only.
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
    ['no estimatesmartfee method', least, 10_000n],
    ['an estimate of -1', { ...least, estimatesmartfee: () => ({ result: { feerate: -1, blocks: 2 } }) }, 10_000n],
    ['an estimate', { ...least, estimatesmartfee: () => ({ result: { feerate: 0.00025, blocks: 2 } }) }, 25_000n],
    [
      'an estimate below the relay fee',
      { ...least, estimatesmartfee: () => ({ result: { feerate: 0.000001, blocks: 2 } }) },
      1000n,
    ],
    [
      'an estimate above the maximum',
      { ...least, estimatesmartfee: () => ({ result: { feerate: 9, blocks: 2 } }) },
      2_184_000n,
    ],
  ])('gives a bounded fee rate: %s', async (_name, rules, rate) => {
    const { reader } = await chainOver(btc, rules)
    expect(await reader.feeRate()).toEqual({ rate, tip: 0n })
  })
})

test('M8: shows an output with a CashToken as another token, and counts no units of it as received', async () => {
  const hash = id(77)
  const plain = transaction(id(501), hash)
  const [output] = plain.vout
  // The form of Bitcoin Cash Node 27, for a token that anyone can make.
  const paid = {
    ...plain,
    vout: [
      { ...output, tokenData: { category: id(9), amount: '1' } },
      { ...output, n: 1 },
    ],
  }
  const { reader } = await chainOver(bch, {
    getblockhash: () => ({ result: hash }),
    getblock: () => ({ result: { hash, height: 9, previousblockhash: id(76), time: 1, tx: [paid] } }),
    getrawtransaction: () => ({ result: paid }),
  })
  const [token, coin] = (await reader.block(9))?.transfers ?? []
  expect([token?.contract, coin?.contract]).toEqual([`cashtoken:${id(9)}`, null])
  const received = [token, coin].map(async (one) => one && reader.receivedUnits(one, { height: 9, hash }))
  expect(await Promise.all(received)).toEqual([0n, 100_000_000n])
})

describe('M8: a script failure', () => {
  const answers = (reason: string): Rules => ({
    testmempoolaccept: () => ({ result: [{ txid: id(7), allowed: reason === '', 'reject-reason': reason }] }),
  })
  // The reasons are those of Bitcoin Core 27, src/validation.cpp.
  const failed = 'mandatory-script-verify-flag-failed (Signature must be zero for failed CHECK(MULTI)SIG operation)'
  test.each<[string, Rules[], string | null]>([
    ['is one if every node reports it', [answers(failed), answers(failed)], failed],
    ['is one with the code that Bitcoin Cash Node adds', [answers(`16: ${failed}`), answers(failed)], `16: ${failed}`],
    ['is none if only one node is configured', [answers(failed)], null],
    ['is none if the other node cannot check', [answers(failed), {}], null],
    ['is none if a node accepts the transaction', [answers(failed), answers('')], null],
    ['is none for a rule of relaying', [answers('non-mandatory-script-verify-flag (Dust)')], null],
    ['is none without an answer', [answers(failed), { testmempoolaccept: () => 'hang up' }], null],
    ['is none if no node can check', [{}], null],
  ])('%s', async (_name, nodes, reason) => {
    const { sender } = await chainOver(btc, ...nodes)
    expect(await sender.findScriptFailure?.('00')).toBe(reason)
  })
})

test('reads a block from the second node if the first fails', async () => {
  const hash = id(77)
  const block = { hash, height: 9, previousblockhash: id(76), time: 1, tx: [] }
  const whole: Rules = { getblockhash: () => ({ result: hash }), getblock: () => ({ result: block }) }
  const broken: Rules = { ...whole, getblock: () => 'hang up' }
  const { reader } = await chainOver(btc, broken, whole)
  expect(await reader.block(9)).toMatchObject({ height: 9, hash, transfers: [] })
})
