import { type Hex, parseUnits } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { createBody, pair } from '../support/create-body.ts'
import { type Json, until } from '../support/until.ts'
import type { Order, Purchase } from './customers.ts'
import { readMinimum } from './draw-order.ts'
import { findInclusion } from './inclusion.ts'
import type { Run } from './run.ts'

/**
 * Injects one fault on purpose. It causes no finding in an app without bugs, and reveals one of the planted bugs. It waits for
 * the condition that makes the fault possible, and throws if the condition does not come.
 */
export type Attack = (run: Run) => Promise<void>

/** Replaced blocks: more than the 3 confirmations of eth, less than its finality of 10. */
const REORG_DEPTH_MAX = 7

/** Waits until the partner's status of every purchase is as expected. */
export async function expectStatuses(
  { client }: Run,
  purchases: readonly Purchase[],
  statuses: readonly string[],
): Promise<void> {
  for (const { id } of purchases) {
    const hasStatus = async () =>
      statuses.includes((await client.call('GET', `/v1/cross-chain/exchange/status?id=${id}`)).body?.exchange?.status)
    await until(`exchange ${id} is ${statuses.join(' or ')}`, hasStatus)
  }
}

async function buy(
  { customers }: Run,
  count: number,
  from: string,
  to: string,
  amount: string,
): Promise<readonly Purchase[]> {
  return Promise.all(Array.from({ length: count }, () => customers.buy({ from, to, amount })))
}

type Item = Readonly<{ status: string; payoutHash: string | null }>

async function readItems({ client }: Run, { id }: Purchase): Promise<readonly Item[]> {
  return (await client.call('GET', `/v1/cross-chain/exchange/status?id=${id}`)).body?.exchange?.exchanges ?? []
}

/** Number of blocks that a reorganisation must replace to remove the transaction; null = it is in no block. */
const readDepth = async ({ fleet: { cluster } }: Run, hash: string): Promise<number | null> =>
  (await findInclusion(cluster, 'eth', hash))?.depth ?? null

/**
 * The app's transaction for a purchase, and the time of its next check. It changes with every check, and before that when the
 * check is queued.
 */
const OWN_TRANSACTION = `select t.state, t.next_check_at::text as due,
    t.next_check_at <= clock_timestamp() or exists (
      select 1 from graphile_worker._private_jobs j where j.key = 'transaction:' || t.id) as is_due,
    exists (select 1 from attempts a where a.transaction_id = t.id and a.sent_at is not null) as is_sent
  from payouts p join transactions t on t.id = p.transaction_id where p.exchange_id = $1 and p.purpose = 'payout'`
type OwnTransaction = Readonly<{ state: string; due: string | null; is_due: boolean; is_sent: boolean }>

/**
 * Removes a payout that is reported as paid from its chain, at a depth above finality. The attack mines each block itself,
 * after the app has checked the payout in the one before, so the depth does not depend on the speed of the machine.
 */
export const reorgPaidPayouts: Attack = async (run) => {
  const { cluster, database } = run.fleet
  const readOwn = async ({ id }: Purchase) => (await database.query<OwnTransaction>(OWN_TRANSACTION, [id]))[0]
  await cluster.withMiningPaused('eth', async () => {
    const [purchase] = await buy(run, 1, 'btc@btc', 'eth@eth', '0.004')
    if (!purchase) throw new Error('the attack needs a purchase')
    let checked: string | null = null
    const findPaid = async () => {
      const paid = (await readItems(run, purchase)).find(({ status }) => status === 'finished')
      if (paid) return paid.payoutHash
      const own = await readOwn(purchase)
      if (own?.state !== 'live' || !own.is_sent || own.is_due || own.due === checked) return null
      checked = own.due
      await cluster.control('/blocks', { network: 'eth', count: 1 })
      return null
    }
    const paid = await until('the payout is reported as paid', findPaid)
    // An app that follows the payout checks it once more, and has its next check in the future. One that does not closes it.
    const dueWhenPaid = (await readOwn(purchase))?.due ?? null
    let read: string | null = null
    const isChecked = async () => {
      const own = await readOwn(purchase)
      if (!own || own.due === null) return true
      // A row is leased milliseconds before its job is queued: only a time that is read twice is that of a next check.
      const isSame = own.due === read && own.due !== dueWhenPaid && !own.is_due
      read = own.due
      return isSame
    }
    await until('the app has checked the paid payout once more', isChecked)
    const depth = await readDepth(run, paid)
    if (depth === null || depth > REORG_DEPTH_MAX)
      throw new Error(`the payout ${paid} has depth ${depth}; only 1 to ${REORG_DEPTH_MAX} can be removed`)
    await cluster.control('/reorgs', { network: 'eth', depth })
    await until('the payout is in no block', async () => (await readDepth(run, paid)) === null)
  })
}

/** The worker crashes between signing and broadcasting. */
export const crashAfterSigning: Attack = async (run) => {
  const [worker] = run.fleet.workers
  if (!worker) throw new Error('the attack needs a worker')
  const point = { name: 'dispatch.signed', nth: 1 }
  await worker.end('SIGKILL')
  await worker.start({ killAt: point, waitReady: false })
  await buy(run, 3, 'eth@eth', 'btc@btc', '0.1')
  await until('the worker has exited', () => !worker.isRunning())
  if (!worker.killedAt().includes(point.name)) throw new Error(`the worker exited before it reached ${point.name}`)
  await worker.start()
}

/** Mining pauses for longer than `clocks.stuck`, which must be short. */
export const pauseMining: Attack = async (run) => {
  const { cluster, database } = run.fleet
  await cluster.withMiningPaused('eth', async () => {
    await buy(run, 1, 'btc@btc', 'eth@eth', '0.004')
    // Mining resumes only after the replacement could reach the node.
    const isReplaced = `select 1 from attempts a where sent_at is not null and exists (
      select 1 from attempts b where b.transaction_id = a.transaction_id and b.id < a.id)`
    await until('a replacement is sent', async () => (await database.query(isReplaced)).length > 0)
  })
}

/**
 * The node accepts a broadcast without an answer, then reports one as already known, then drops one that it confirmed.
 * Needs a proxy in front of eth.
 */
export const broadcastToFaultyNode: Attack = async (run) => {
  const node = run.fleet.nodes.get('eth')
  if (!node) throw new Error('this fleet has no proxy in front of eth')
  node.queueFaults(['silent', 'known', 'drop', 'silent'])
  await buy(run, 4, 'btc@btc', 'eth@eth', '0.004')
  await until('the node has used all faults', () => node.hasUsedAllFaults())
}

/**
 * Customers of both directions pay what they ordered, a little more or less, much more or less, twice, and too little, one of
 * them for the partner's balance. Waits until each deposit is paid out or refunded.
 */
export const payDifferentAmounts: Attack = async (run) => {
  const { customers } = run
  const [bitcoinToEther, etherToBitcoin] = [
    { from: 'btc@btc', to: 'eth@eth', amount: '0.004' },
    { from: 'eth@eth', to: 'btc@btc', amount: '0.1' },
  ] as const
  const toTether = { ...bitcoinToEther, to: 'usdt@eth' }
  const fixed = { ...etherToBitcoin, flow: 'fixed-rate' } as const
  const orders: readonly Order[] = [
    bitcoinToEther,
    etherToBitcoin,
    { ...etherToBitcoin, creditsPartner: true },
    toTether,
    { ...bitcoinToEther, paidAmounts: ['0.004', '0.0031'] },
    fixed,
    ...['0.1005', '0.107', '0.096'].map((paid) => ({ ...fixed, paidAmounts: [paid] })),
    { ...etherToBitcoin, paidAmounts: [await belowMinimum(run, etherToBitcoin)] },
    { ...bitcoinToEther, paidAmounts: [await belowMinimum(run, bitcoinToEther)] },
  ]
  const bought = await Promise.all(orders.map((order) => customers.buy(order)))
  for (const purchase of bought) {
    const isPaid = async () => {
      const items = await readItems(run, purchase)
      return (
        items.length === purchase.payments.length &&
        items.every(({ status }) => status === 'finished' || status === 'refunded')
      )
    }
    await until(`exchange ${purchase.id} is paid out or refunded`, isPaid)
  }
}

async function belowMinimum({ client }: Run, { from, to }: Pick<Order, 'from' | 'to'>): Promise<string> {
  return ((await readMinimum(client, from, to)) * 0.9).toFixed(8)
}

/** For one block, a listed token emits Transfer events without a transfer, as a bug or its owner could cause. */
export const fakeTransferEvent: Attack = async (run) => {
  const { cluster } = run.fleet
  const token = cluster.chains.networks.find(({ network }) => network === 'eth')?.tokens['usdt'] as Hex
  const purchase = await run.customers.order({ from: 'usdt@eth', to: 'btc@btc', amount: '400' })
  const account = privateKeyToAccount(generatePrivateKey())
  const originalCode = await cluster.call('eth', 'eth_getCode', [token, 'latest'])
  await cluster.withMiningPaused('eth', async () => {
    await cluster.call('eth', 'anvil_setBalance', [account.address, `0x${(10n ** 18n).toString(16)}`])
    await cluster.call('eth', 'anvil_setCode', [token, FAKE_TRANSFER_CODE])
    const { chainId = 0 } = cluster.chains.networks.find(({ network }) => network === 'eth') ?? {}
    const fee = 20_000_000_000n
    const data =
      `0xa9059cbb${purchase.depositAddress.slice(2).toLowerCase().padStart(64, '0')}${parseUnits('400', 6).toString(16).padStart(64, '0')}` as Hex
    const raw = await account.signTransaction({
      type: 'eip1559',
      chainId,
      nonce: 0,
      gas: 200_000n,
      maxFeePerGas: fee,
      maxPriorityFeePerGas: fee / 10n,
      to: token,
      data,
    })
    const hash: string = await cluster.call('eth', 'eth_sendRawTransaction', [raw])
    purchase.payments.push({ network: 'eth', hash, units: 0n, raw: null, payer: null })
    await cluster.control('/blocks', { network: 'eth', count: 1 })
    await until(
      'the fake transfer is in a block',
      async () => (await cluster.call('eth', 'eth_getTransactionReceipt', [hash]))?.status === '0x1',
    )
    await cluster.call('eth', 'anvil_setCode', [token, originalCode])
  })
}

/** `transfer` emits ERC-20's Transfer(caller, to, value) and returns true; every other call returns 0. */
const FAKE_TRANSFER_CODE =
  '0x60003560e01c63a9059cbb1460145760206000f35b602435600052600435337fddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef60206000a3600160005260206000f3'

/** Concurrent creates with one rateId. */
const SAME_RATE_ID = 50
export const CREATE = '/v1/cross-chain/exchange'

export async function quoteFixedRate({ client }: Run): Promise<Json> {
  const query = new URLSearchParams({ ...pair, amount: createBody.fromAmount, flow: 'fixed-rate' })
  const { status, body, text } = await client.call('GET', `/v1/cross-chain/rate?${query}`)
  if (status !== 200) throw new Error(`no rate: ${status} ${text}`)
  return body
}

/** Sends creates with one rateId to all processes at once. Returns what is answered besides one 201. */
export async function raceRateId(run: Run): Promise<readonly string[]> {
  const { rateId } = await quoteFixedRate(run)
  const { apis } = run.fleet
  const replies = await Promise.all(
    Array.from({ length: SAME_RATE_ID }, (_, n) =>
      run.client.once(apis[n % apis.length]?.url ?? '', 'POST', CREATE, { ...createBody, flow: 'fixed-rate', rateId }),
    ),
  )
  const created = replies.filter(({ status }) => status === 201)
  const refused = replies.filter(({ body }) => body?.code === 'RATE_ID_USED')
  const others = replies.filter((reply) => !created.includes(reply) && !refused.includes(reply))
  return [
    ...(created.length === 1 ? [] : [`rateId: ${created.length} exchanges are created with one rateId`]),
    ...others.map(({ status, text }) => `rateId: a create with a used rateId is answered with ${status} ${text}`),
  ]
}

/** Two partners request each other's exchanges. Returns every exchange that a partner could read and does not own. */
export async function requestForeignExchanges(
  run: Run,
  { exchanges, requests }: { exchanges: number; requests: number },
): Promise<readonly string[]> {
  const partners = [
    { name: 'sandbox', client: run.createClient('sandbox'), own: [] as string[] },
    { name: 'sandbox-b', client: run.createClient('sandbox-b'), own: [] as string[] },
  ]
  for (const { client, own } of partners) {
    const order = { ...createBody, address: privateKeyToAccount(generatePrivateKey()).address }
    const created = await Promise.all(
      Array.from({ length: exchanges }, () => client.call('POST', '/v1/cross-chain/exchange', order)),
    )
    own.push(...created.map(({ body }) => body.id as string))
  }
  const all = partners.flatMap(({ own }) => own)
  const leaks: string[] = []
  let next = 0
  const sendRequests = async () => {
    for (let n = next++; n < requests; n = next++) {
      const partner = partners[n % 2]
      if (!partner) return
      const { client, own, name } = partner
      if (n % 50 < 2) {
        const { body } = await client.call('GET', '/v1/cross-chain/exchange/list?limit=100')
        for (const { id } of body.data)
          if (all.includes(id) && !own.includes(id)) leaks.push(`leak: ${name} lists ${id} of the other partner`)
        continue
      }
      const id = all[(n * 7) % all.length] ?? ''
      const { status } = await client.call('GET', `/v1/cross-chain/exchange/status?id=${id}`)
      if (status !== (own.includes(id) ? 200 : 404))
        leaks.push(`leak: ${name} gets ${status} for ${own.includes(id) ? 'its own' : "the other's"} ${id}`)
    }
  }
  await Promise.all(Array.from({ length: 24 }, sendRequests))
  return [...leaks, ...partners.flatMap(({ client }) => client.unexpectedReplies())]
}
