import { type Hex, parseTransaction } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Json } from '../../../../test/support/world.ts'
import { LOCK_MS, NATIVE, type Stage, sending, sign, startStage, trade } from './partner.ts'

const DROPPED_MS = 6_000

let stage: Stage
let usdc: string
beforeAll(async () => {
  stage = await startStage('base', { swaps: { droppedMs: DROPPED_MS } })
  usdc = stage.token('usdc')
}, LOCK_MS)
afterAll(() => stage.world.stop())

const asked = (changes: Readonly<Record<string, string>> = {}) => ({
  ...{ fromTokenAddress: NATIVE, toTokenAddress: usdc, amount: '1', slippage: '1', referrerFee: '0' },
  ...changes,
})
const send = (body: object) => stage.world.call('POST', '/v1/defi/send/swap', body)

/** Blocks come only when asked for, while the work is under way. */
async function still<T>(work: () => Promise<T>): Promise<T> {
  await stage.world.mining(stage.network, true)
  try {
    return await work()
  } finally {
    await stage.world.mining(stage.network, false)
  }
}

/** A user with more fees on the same nonce: what a wallet's "cancel" does. */
async function cancel(user: PrivateKeyAccount, rawTx: Hex): Promise<Hex> {
  const { nonce, maxFeePerGas = 0n } = parseTransaction(rawTx)
  const fees = { maxFeePerGas: maxFeePerGas * 3n, maxPriorityFeePerGas: maxFeePerGas * 2n }
  const own = { chainId: stage.chainId, nonce: nonce ?? 0, to: user.address, value: 0n, gas: 21_000n }
  return user.signTransaction({ ...own, ...fees, type: 'eip1559' })
}

describe('a swap fails', () => {
  test('where the pools moved beyond its slippage in between', async () => {
    const [user, whale] = [await stage.user(), await stage.user({ native: '4000' })]
    const order = asked({ amount: '5', slippage: '0.1' })
    const built = await stage.build({ ...order, account: user.address })
    await trade(stage, whale, asked({ amount: '3000', slippage: '50' }))
    await stage.world.mine(stage.network, 1)
    const rawTx = await sign(user, built.body[0])
    const sent = await send({ ...sending(stage, user, order, '9000'), rawTx })
    expect(sent.status).toBe(201)
    const row = await stage.becomes(JSON.parse(sent.body), 'failed')
    expect(row).toMatchObject({ statusReason: 'reverted', amountTo: '9000' })
    expect(await stage.balance(usdc, user.address)).toBe(0n)
  })

  test('where another transaction took its nonce', async () => {
    const user = await stage.user()
    const hash = await still(async () => {
      const { rawTx, hash } = await trade(stage, user, asked())
      expect((await stage.becomes(hash, 'pending')).statusReason).toBeNull()
      await stage.client.sendRawTransaction({ serializedTransaction: await cancel(user, rawTx) })
      await stage.world.mine(stage.network, 12)
      return hash
    })
    expect(await stage.becomes(hash, 'failed')).toMatchObject({ statusReason: 'replaced' })
  })

  test('where no node knows it any more, and is taken up again if it comes back before its deadline', async () => {
    const user = await stage.user()
    const { rawTx, hash } = await still(async () => {
      const sent = await trade(stage, user, asked())
      await stage.becomes(sent.hash, 'pending')
      await stage.rpc('anvil_dropTransaction', sent.hash)
      return sent
    })
    expect(await stage.becomes(hash, 'failed')).toMatchObject({ statusReason: 'dropped' })
    await stage.client.sendRawTransaction({ serializedTransaction: rawTx })
    const row = await stage.becomes(hash, 'finished')
    expect(row.statusReason).toBeNull()
    expect(await stage.balance(usdc, user.address)).toBeGreaterThan(0n)
  })
})

describe('a finished swap', () => {
  test('is opened again by a reorg under it, and ends as the chain ends', async () => {
    const user = await stage.user()
    // Its coins lie below the reorg.
    await stage.world.mine(stage.network, 8)
    const { rawTx, hash } = await trade(stage, user, asked())
    const before = await stage.becomes(hash, 'finished')
    await still(async () => {
      await stage.world.reorg(stage.network, 6)
      // Whether the node keeps what a reorg took out is the node's: gone for certain.
      await stage.rpc('anvil_dropTransaction', hash).catch(() => null)
      await stage.world.until('it is open again', async () => {
        const { exchanges } = await stage.list()
        return exchanges.some((one: Json) => one.hash === hash && one.status === 'pending')
      })
      expect(await stage.balance(usdc, user.address)).toBe(0n)
      await stage.client.sendRawTransaction({ serializedTransaction: rawTx })
    })
    const after = await stage.becomes(hash, 'finished')
    expect(after.id).toBe(before.id)
    expect(BigInt(after.amountTo.replace('.', ''))).toBeGreaterThan(0n)
  })
})

describe('a fee that the operator takes for the partner', () => {
  const entries = (id: string) =>
    stage.world.house.database.query<{ id: string; debit: string; credit: string; units: string }>(
      "select j.id, p.debit, p.credit, p.units from journal j join postings p on p.journal_id = j.id where j.id like 'swap:' || $1 || ':%' order by j.at",
      [id],
    )

  test('is in the books while the chain has it, and the partner’s once its block is final', async () => {
    const user = await stage.user()
    const taker = stage.world.feeAddress ?? ''
    await stage.world.mine(stage.network, 8)
    const { rawTx, hash, quote } = await trade(stage, user, asked({ referrerFee: '0.5' }))
    const units = String(BigInt(quote.toAmountRaw) - BigInt(quote.receivedAmountRaw))
    const id: string = (await stage.becomes(hash, 'finished')).id
    const account = { taker: `asset:fees:${taker}`, swap: `liability:swap:${id}` }
    const booked = { id: `swap:${id}:fee:1`, debit: account.taker, credit: account.swap, units }
    expect(await entries(id)).toEqual([booked])
    await stage.world.invariants()
    await still(async () => {
      await stage.world.reorg(stage.network, 6)
      await stage.rpc('anvil_dropTransaction', hash).catch(() => null)
      await stage.world.until('it is taken back', async () => (await entries(id)).length === 2)
      expect(await stage.balance(usdc, taker)).toBe(0n)
      await stage.world.invariants()
      await stage.client.sendRawTransaction({ serializedTransaction: rawTx })
    })
    await stage.becomes(hash, 'finished')
    await stage.world.mine(stage.network, 12)
    const all = await stage.world.until('its block is final', async () => {
      const now = await entries(id)
      return now.some(({ credit }) => credit.startsWith('liability:partner:')) && now
    })
    const [partner] = await stage.world.house.database.query<{ id: string }>(
      "select id from partners where name = 'sandbox'",
    )
    // The pools stand where they stood: the same fee, booked a second time.
    expect(all).toEqual([
      booked,
      { id: `swap:${id}:fee:1:reversed`, debit: account.swap, credit: account.taker, units },
      { ...booked, id: `swap:${id}:fee:2` },
      {
        id: `swap:${id}:fee:2:final`,
        debit: account.swap,
        credit: `liability:partner:${partner?.id}`,
        units,
      },
    ])
    expect(await stage.balance(usdc, taker)).toBe(BigInt(units))
    await stage.world.invariants()
  })
})

describe('a swap that was recorded', () => {
  test('and not broadcast, because we died in between, is broadcast by the tracker', async () => {
    const user = await stage.user()
    const built = await stage.build({ ...asked(), account: user.address })
    const rawTx = await sign(user, built.body[0])
    const { database } = stage.world.house
    await stage.world.stopWorkers()
    const sent = await still(() => send({ ...sending(stage, user, asked(), '2000'), rawTx }))
    const hash: string = JSON.parse(sent.body)
    // As a crash between the row and the broadcast leaves it.
    await stage.rpc('anvil_dropTransaction', hash)
    await database.query('update swaps set raw = $2, next_check_at = clock_timestamp() where hash = $1', [hash, rawTx])
    await stage.world.startWorkers()
    expect(await stage.becomes(hash, 'finished')).toMatchObject({ addressFrom: user.address })
    const [row] = await database.query<{ raw: string | null }>('select raw from swaps where hash = $1', [hash])
    expect(row?.raw).toBeNull()
  })
})

describe('the list', () => {
  test('has filters, pages, a window of a day, and nobody else’s', async () => {
    const all = await stage.list()
    expect(all.total).toBe(all.exchanges.length)
    expect(all.total).toBeGreaterThan(4)
    const created = all.exchanges.map((one: Json) => one.created)
    expect(created).toEqual([...created].sort().reverse())
    const failed = await stage.list('?status=failed')
    expect(failed.exchanges.every((one: Json) => one.status === 'failed')).toBe(true)
    expect(failed.total).toBe(all.exchanges.filter((one: Json) => one.status === 'failed').length)
    expect(
      (await stage.list(`?toTokenAddress=${usdc.toLowerCase()}&fromTokenAddress=${NATIVE}&network=BASE`)).total,
    ).toBe(all.total)
    expect((await stage.list('?network=eth')).total).toBe(0)
    expect((await stage.list('?network=nowhere')).total).toBe(0)
    expect((await stage.list('?toTokenAddress=%00')).total).toBe(0)
    expect((await stage.list(`?fromTokenAddress=${usdc}`)).total).toBe(0)
    const page = await stage.list('?page=2&limit=2')
    expect(page).toEqual({ total: all.total, exchanges: all.exchanges.slice(2, 4) })
    expect((await stage.world.call('GET', '/v1/defi/exchange/list?status=done')).status).toBe(400)
    expect((await stage.world.call('GET', '/v1/defi/exchange/list?limit=501')).status).toBe(400)
    expect((await stage.list('', { 'x-api-key': 'sandbox-b' })).total).toBe(0)
  })
})

test('every status that a swap comes to is counted for the operator', async () => {
  const text = await (await fetch(`${stage.world.url}/metrics`)).text()
  for (const status of ['confirming', 'finished', 'failed'])
    expect(text).toMatch(new RegExp(`^swapyard_swaps_total\\{network="base",status="${status}"\\} [1-9]`, 'm'))
})
