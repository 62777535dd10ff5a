import { callOnce } from '@swapyard/lib/json-rpc.ts'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { PATIENCE_MS } from '../../../../test/support/patience.ts'
import { present } from '../../../src/lib/assert.ts'
import { executeRoute, SHARE_ALL } from '../../../src/swap/routing/execute.ts'
import { type FaultyNode, startFaultyNode } from '../chains/evm/faulty-node.ts'
import { createUser, type Market, orderOf, SOL, startMarket, tokenOf, type User } from './solana-market.fixture.ts'

/* Two nodes. One does not answer, or does not tell the truth. */

const amountIn = 1_000_000_000n
const unavailable = { code: 'NETWORK_UNAVAILABLE' }

let market: Market
let faulty: FaultyNode
let user: User

beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market?.stop())
beforeEach(async () => {
  faulty = await startFaultyNode(market.node.rpcUrl)
  user = await market.createFunded(100n * amountIn)
})
afterEach(() => faulty?.stop())

/** The real node and the faulty one, which is asked first where `isFirst`. */
const chainWith = (isFirst: boolean) => {
  const urls = [market.node.rpcUrl, faulty.url]
  return market.createChain(...(isFirst ? urls.reverse() : urls))
}

/** A swap of SOL for USDC in the pool of CPMM. */
async function orderFor(account: User, changes: Parameters<typeof orderOf>[3] = {}) {
  await market.pools.advance()
  const usdc = tokenOf('USDC')
  const pool = market.poolsOf('SOL', 'USDC').find(({ kind }) => kind === 'raydium-cpmm')
  if (pool === undefined) throw new Error('the sandbox has no pool of CPMM')
  const tokenIn = pool.tokens.indexOf(SOL)
  const executed = executeRoute([{ pool, tokenIn, tokenOut: 1 - tokenIn, share: SHARE_ALL }], SOL, usdc, amountIn)
  if (executed.amountOut === null) throw new Error('the pool cannot trade')
  return { amountOut: executed.amountOut, order: orderOf(account, [SOL, usdc], executed.swaps, changes) }
}

/** Fields of a reply that a test changes. */
// biome-ignore lint/suspicious/noExplicitAny: replies of every method
type Reply = any

/** The faulty node changes the replies of a method. */
const distort = (method: string, change: (reply: Reply) => void) =>
  faulty.set(async (call, forward) => {
    if (call.method !== method) return undefined
    const result: Reply = structuredClone(await forward())
    change(result)
    return { result }
  })

describe.each([
  ['is closed', async () => faulty.stop()],
  ['does not answer', async () => faulty.set(() => 'silence')],
])('with a node that %s', (_, fail) => {
  test.each([
    ['first', true],
    ['second', false],
  ])('as the %s one, a swap is built, checked, sent and found', async (_place, isFirst) => {
    const chain = chainWith(isFirst)
    const { order, amountOut } = await orderFor(user)
    await fail()
    const prepared = await chain.prepare(order)
    expect([prepared.simulatedOut, prepared.simulations.length]).toEqual([amountOut, 1])
    const raw = market.sign(user, prepared.swap)
    const signed = await chain.readSigned(raw)
    const expiry = await chain.readExpiry(signed)
    expect(await chain.isExpired(expiry, 0)).toBe(false)
    expect(await chain.readToken(tokenOf('USDC'))).toMatchObject({ decimals: 6 })
    expect(await chain.broadcast(raw)).toEqual({ kind: 'accepted' })
    market.mine(40)
    expect(await chain.findTransaction(signed.hash)).toMatchObject({ hash: signed.hash, signer: user.address })
    // What ends a swap, every node must show.
    await expect(chain.observe(signed.hash, { signer: user.address, nonce: null, expiry })).rejects.toMatchObject(
      unavailable,
    )
    expect(await market.chain.observe(signed.hash)).toMatchObject({ kind: 'included', received: amountOut })
  })

  test('an expired swap is refused if the other node says so', async () => {
    const { order } = await orderFor(user)
    const raw = market.sign(user, (await market.chain.prepare(order)).swap)
    market.mine(160)
    const chain = chainWith(false)
    await fail()
    expect(await chain.broadcast(raw)).toMatchObject({ kind: 'rejected', because: 'expired' })
    const signed = await chain.readSigned(raw)
    expect(await chain.isExpired(await chain.readExpiry(signed), 0)).toBe(true)
  })

  test('as the first one, the pools are read', async () => {
    const urls = [faulty.url, market.node.rpcUrl]
    const pools = market.createPools(urls)
    await fail()
    await pools.advance()
    expect(pools.current()?.pools.length).toBe(market.currentPools().length)
  })
})

test('a first node that does not answer is asked last from then on', async () => {
  const chain = chainWith(true)
  faulty.set(() => 'silence')
  const { order } = await orderFor(user)
  await chain.prepare(order)
  const asked = faulty.callCount('getLatestBlockhash')
  expect(asked).toBe(1)
  for (let repeat = 0; repeat < 3; repeat++) await chain.prepare(order)
  expect(faulty.callCount('getLatestBlockhash')).toBe(asked)
  expect(faulty.callCount('simulateTransaction')).toBe(0)
  // It confirms again once it has answered.
  faulty.set(() => undefined)
  const patience = { timeout: PATIENCE_MS, interval: 100 }
  await expect.poll(async () => (await chain.prepare(order)).simulations.length, patience).toBe(2)
})

test('an error of a node refuses a swap only if it says that the bytes are no transaction', async () => {
  const { order } = await orderFor(user)
  const raw = market.sign(user, (await market.chain.prepare(order)).swap)
  const answerWith = (code: number) =>
    faulty.set(({ method }) => (method === 'sendTransaction' ? { error: { code, message: 'no' } } : undefined))
  const sole = market.createChain(faulty.url)
  // Rate limits, a snapshot that jumped, an internal error, a node that is behind, and a simulation that was not requested.
  for (const code of [429, -32_429, -32_007, -32_603, -32_005, -32_002, -32_601]) {
    answerWith(code)
    expect(await sole.broadcast(raw), String(code)).toMatchObject({ kind: 'unknown' })
  }
  for (const code of [-32_602, -32_003]) {
    answerWith(code)
    expect(await sole.broadcast(raw), String(code)).toMatchObject({ kind: 'rejected', because: 'other' })
  }
  expect(await chainWith(true).broadcast(raw)).toEqual({ kind: 'accepted' })
})

test('a first node whose slot does not increase is asked last by the pools', async () => {
  const pools = market.createPools([faulty.url, market.node.rpcUrl])
  await pools.advance()
  const stoppedAt = pools.current()?.block.height ?? 0
  faulty.set(async (_call, forward) => {
    const result: Reply = structuredClone(await forward())
    if (result?.context !== undefined) result.context.slot = stoppedAt
    return { result }
  })
  // The slot may stand still for 90 seconds.
  market.mine(240)
  await expect(pools.advance()).rejects.toMatchObject(unavailable)
  await pools.advance()
  expect(pools.current()?.block.height).toBeGreaterThanOrEqual(stoppedAt + 240)
})

describe('a second node that does not tell the truth', () => {
  const TARGET = 1
  /** Doubles what the user's account of the output would hold. */
  const overstate = ({ value }: Reply) => {
    const { data } = value.accounts[TARGET]
    const bytes = Buffer.from(data[0], 'base64')
    bytes.writeBigUInt64LE(2n * bytes.readBigUInt64LE(64), 64)
    data[0] = bytes.toString('base64')
  }

  test.each([
    ['first', true],
    ['second', false],
  ])('as the %s one, contradicts the other one in the simulations of a build', async (_place, isFirst) => {
    distort('simulateTransaction', overstate)
    const { order, amountOut } = await orderFor(user)
    const { simulatedOut, simulations } = await chainWith(isFirst).prepare(order)
    const paid = simulations.map((one) => one.amountOut)
    expect(paid).toEqual(isFirst ? [2n * amountOut, amountOut] : [amountOut, 2n * amountOut])
    expect(simulatedOut).toBe(amountOut)
  })

  test('cannot be built against if its simulation fails', async () => {
    distort('simulateTransaction', ({ value }) => {
      value.err = { InstructionError: [2, { Custom: 1 }] }
    })
    const { order } = await orderFor(user)
    await expect(chainWith(false).prepare(order)).rejects.toMatchObject({ code: 'SIMULATION_FAILED' })
  })

  test('confirms nothing if its newest block is old, and is compared if only its slot is behind', async () => {
    const { order, amountOut } = await orderFor(user)
    let blockTime: number | null = null
    faulty.set(async ({ method }, forward) => {
      if (method === 'getBlockTime') return { result: blockTime ?? (await forward()) }
      if (method !== 'simulateTransaction') return undefined
      const result: Reply = structuredClone(await forward())
      result.context.slot -= 5
      overstate(result)
      return { result }
    })
    const paidBy = async () => (await chainWith(false).prepare(order)).simulations.map((one) => one.amountOut)
    expect(await paidBy()).toEqual([amountOut, 2n * amountOut])
    blockTime = 1_700_000_000
    expect(await paidBy()).toEqual([amountOut])
  })

  test('cannot change the decimals of a token', async () => {
    distort('getMultipleAccounts', ({ value }) => {
      const { data } = value[0]
      const bytes = Buffer.from(data[0], 'base64')
      bytes[44] = 9
      data[0] = bytes.toString('base64')
    })
    for (const isFirst of [true, false])
      await expect(chainWith(isFirst).readToken(tokenOf('USDC'))).rejects.toMatchObject(unavailable)
  })

  /** A finished swap with a fee of one percent. */
  async function finishSwap() {
    const feeTo = createUser().address
    const { order } = await orderFor(user, { feePpm: 10_000, feeTo })
    const { hash, seen } = await market.send(user, (await market.chain.prepare(order)).swap)
    expect(seen).toMatchObject({ kind: 'included', ok: true })
    const height = seen.kind === 'included' ? seen.block.height : 0
    return { hash, feeTo, query: { from: height, to: height, feeTo: [feeTo] } }
  }

  test('cannot change what a swap paid, its fee or its failure', async () => {
    const { hash, query } = await finishSwap()
    const fees = await market.chain.listPaidFees(query)
    expect(fees).toMatchObject({ fees: [{ hash }], to: query.to })
    const transfer = { token: SOL, from: user.address, to: user.address }
    for (const change of [
      ({ meta }: Reply) => {
        const [balance] = meta.postTokenBalances
        balance.uiTokenAmount.amount = '1'
      },
      ({ meta }: Reply) => {
        meta.postBalances[0] += 1
      },
      ({ meta }: Reply) => {
        meta.fee += 1
      },
      ({ meta }: Reply) => {
        meta.err = { InstructionError: [2, { Custom: 1 }] }
      },
    ]) {
      distort('getTransaction', change)
      for (const chain of [chainWith(true), chainWith(false)]) {
        await expect(chain.observe(hash)).rejects.toMatchObject(unavailable)
        await expect(chain.readPayment(hash, transfer)).rejects.toMatchObject(unavailable)
        await expect(chain.listPaidFees(query)).rejects.toMatchObject(unavailable)
      }
    }
    faulty.set(() => undefined)
    expect(await chainWith(true).listPaidFees(query)).toEqual(fees)
  })

  test.each([
    ['status', 'getSignatureStatuses', { value: [null] }],
    ['confirmation', 'getSignatureStatuses', { value: [{ confirmationStatus: 'processed' }] }],
    ['receipt', 'getTransaction', null],
  ])('cannot reopen an included swap by not having its %s', async (_, method, reply) => {
    const { hash, query } = await finishSwap()
    const slot = query.to
    const expiry = { by: 'height', at: Number.MAX_SAFE_INTEGER } as const
    const sent = { signer: user.address, nonce: null, expiry, block: { height: slot, hash: `slot ${slot}` } }
    const result = reply === null ? null : { context: { slot: slot + 100 }, ...reply }
    faulty.set((call) => (call.method === method ? { result } : undefined))
    for (const chain of [chainWith(true), chainWith(false)]) {
      expect(await chain.observe(hash, { ...sent, block: null })).toEqual({ kind: 'pending' })
      await expect(chain.observe(hash, sent)).rejects.toMatchObject(unavailable)
    }
    faulty.set(() => undefined)
    expect(await chainWith(true).observe(hash, sent)).toMatchObject({ kind: 'included', ok: true })
  })

  test('an included swap is open again once every node is past its slot and does not know it', async () => {
    const { hash, query } = await finishSwap()
    const slot = query.to
    const expiry = { by: 'height', at: Number.MAX_SAFE_INTEGER } as const
    const sent = { signer: user.address, nonce: null, expiry, block: { height: slot, hash: `slot ${slot}` } }
    const sole = market.createChain(faulty.url)
    let shown = slot
    distort('getSignatureStatuses', ({ context, value }) => {
      context.slot = shown
      value.fill(null)
    })
    await expect(sole.observe(hash, sent)).rejects.toMatchObject(unavailable)
    const past = { ...sent, expiry: { by: 'height', at: 1 } } as const
    await expect(sole.observe(hash, past)).rejects.toMatchObject(unavailable)
    shown = slot + 1
    expect(await sole.observe(hash, sent)).toEqual({ kind: 'unseen' })
    // The finalized height is past the expiry by then, and so must be the state that lacks the swap.
    const finalSlot = market.node.bank.blockAt('finalized').slot
    expect(finalSlot).toBeGreaterThan(slot + 1)
    shown = finalSlot - 1
    expect(await sole.observe(hash, past)).toEqual({ kind: 'unseen' })
    shown = finalSlot
    expect(await sole.observe(hash, past)).toEqual({ kind: 'expired' })
  })

  test('ends no swap if it may have pruned its block', async () => {
    // Slots are above heights, as on every cluster.
    market.node.skipSlots(3)
    const { hash } = await finishSwap()
    market.mine(400)
    const past = market.node.bank.blockAt('finalized')
    const sent = { signer: user.address, nonce: null, expiry: { by: 'height', at: past.height - 2 } } as const
    const since = past.height - 2 - 300
    const slotOfHeight = (height: number) => market.node.bank.blocks().find((one) => one.height === height)?.slot
    let first: number | undefined
    faulty.set(({ method }) => {
      if (method === 'getSignatureStatuses') return { result: { context: { slot: past.slot }, value: [null] } }
      return method === 'getFirstAvailableBlock' ? { result: first } : undefined
    })
    const sole = market.createChain(faulty.url)
    first = slotOfHeight(since + 1)
    await expect(sole.observe(hash, sent)).rejects.toMatchObject(unavailable)
    first = slotOfHeight(since)
    expect(await sole.observe(hash, sent)).toEqual({ kind: 'expired' })
    first = 0
    expect(await sole.observe(hash, sent)).toEqual({ kind: 'expired' })
  })

  test('ends no swap if it lacks a block in the middle of its history', async () => {
    const { hash } = await finishSwap()
    market.mine(200)
    // More slots without a block than are looked through at first.
    market.node.skipSlots(700)
    market.mine(200)
    const past = market.node.bank.blockAt('finalized')
    const at = past.height - 2
    const sent = { signer: user.address, nonce: null, expiry: { by: 'height', at } } as const
    const slotOf = (height: number) =>
      present(
        market.node.bank.blocks().find((one) => one.height === height),
        'a block',
      ).slot
    let lost: readonly number[] = []
    faulty.set(async ({ method }, forward) => {
      if (method === 'getSignatureStatuses') return { result: { context: { slot: past.slot }, value: [null] } }
      if (method !== 'getBlocks') return undefined
      return { result: ((await forward()) as number[]).filter((slot) => !lost.includes(slot)) }
    })
    const sole = market.createChain(faulty.url)
    expect(await sole.observe(hash, sent)).toEqual({ kind: 'expired' })
    for (const height of [at - 299, at - 100, at + 1]) {
      lost = [slotOf(height)]
      await expect(sole.observe(hash, sent)).rejects.toMatchObject(unavailable)
    }
    // Those before the first that counts do not matter.
    lost = [slotOf(at - 301)]
    expect(await sole.observe(hash, sent)).toEqual({ kind: 'expired' })
  })

  test('D5: cannot set the end of a swap alone', async () => {
    const { order } = await orderFor(user)
    const signed = await market.chain.readSigned(market.sign(user, (await market.chain.prepare(order)).swap))
    const height = market.node.bank.heightOf('processed')
    const claim = (distance: number) =>
      faulty.set(({ method }) => (method === 'getBlockHeight' ? { result: height + distance } : undefined))
    for (const chain of [chainWith(true), chainWith(false)]) {
      claim(300)
      expect(await chain.readExpiry(signed)).toEqual({ by: 'height', at: height + 300 + 150 })
      expect(await chain.isExpired({ by: 'height', at: height + 301 }, 0)).toBe(false)
      for (const distance of [301, -301, 1_000_000]) {
        claim(distance)
        market.notes.length = 0
        await expect(chain.readExpiry(signed)).rejects.toMatchObject(unavailable)
        // The operator sees why nothing is sent, and which nodes say what.
        expect(market.notes).toMatchObject([{ kind: 'nodes-apart', node: expect.stringMatching(/^sol node [12]$/) }])
        const heights = [height, height + distance].sort((a, b) => a - b)
        expect(market.notes[0]?.detail).toMatch(
          new RegExp(`^height ${heights[0]}, and ${heights[1]} at sol node [12]$`),
        )
        await expect(chain.isExpired({ by: 'height', at: height + 150 }, 0)).rejects.toMatchObject(unavailable)
      }
    }
  })

  test('that is more than 300 slots behind is noted whenever the final slot is read', async () => {
    const slot = market.node.bank.blockAt('finalized').slot
    const chain = chainWith(true)
    const claim = (distance: number) =>
      faulty.set(({ method }) => (method === 'getSlot' ? { result: slot + distance } : undefined))
    market.notes.length = 0
    claim(-300)
    expect(await chain.readFinalHeight()).toBe(slot - 300)
    expect(market.notes).toEqual([])
    claim(-301)
    expect(await chain.readFinalHeight()).toBe(slot - 301)
    const detail = `slot ${slot - 301}, and ${slot} at sol node 2`
    expect(market.notes).toEqual([{ kind: 'nodes-apart', node: 'sol node 1', detail }])
  })

  test('cannot reply another transaction than the one that it is asked for', async () => {
    const [one, other] = [await finishSwap(), await finishSwap()]
    faulty.set(async ({ method, params }) =>
      method === 'getTransaction' && params[0] === one.hash
        ? { result: await callOnce(market.node.rpcUrl, 'getTransaction', [other.hash, params[1]]) }
        : undefined,
    )
    await expect(market.createChain(faulty.url).observe(one.hash)).rejects.toMatchObject(unavailable)
    await expect(market.createChain(faulty.url).findTransaction(one.hash)).rejects.toMatchObject(unavailable)
    expect(await chainWith(true).findTransaction(one.hash)).toMatchObject({ hash: one.hash })
  })

  // Anyone can pay to a fee address by a transaction of a version that we do not read: the search of fees must not stop there.
  test('a transaction of a later version pays no fee, if every node says so', async () => {
    const [one, other] = [await finishSwap(), await finishSwap()]
    const query = { ...other.query, from: one.query.from, feeTo: [one.feeTo, other.feeTo] }
    const refuse = { error: { code: -32_015, message: 'Transaction version (1) is not supported' } }
    faulty.set(({ method, params }) => (method === 'getTransaction' && params[0] === one.hash ? refuse : undefined))
    expect(await market.createChain(faulty.url).listPaidFees(query)).toMatchObject({ fees: [{ hash: other.hash }] })
    await expect(chainWith(true).listPaidFees(query)).rejects.toMatchObject(unavailable)
    expect(await market.createChain(faulty.url).findTransaction(one.hash)).toBeNull()
  })

  test('cannot hide a fee', async () => {
    const { query } = await finishSwap()
    distort('getSignaturesForAddress', (rows) => {
      rows.length = 0
    })
    for (const isFirst of [true, false])
      await expect(chainWith(isFirst).listPaidFees(query)).rejects.toMatchObject(unavailable)
    faulty.set(({ method }) => (method === 'getTransaction' ? { result: null } : undefined))
    for (const isFirst of [true, false])
      await expect(chainWith(isFirst).listPaidFees(query)).rejects.toMatchObject(unavailable)
  })

  test('cannot raise the balance of an account', async () => {
    const before = await market.chain.readBalance(user.address, SOL)
    distort('getMultipleAccounts', ({ value }) => {
      value[0].lamports += 5
    })
    for (const isFirst of [true, false]) expect(await chainWith(isFirst).readBalance(user.address, SOL)).toBe(before)
  })
})
