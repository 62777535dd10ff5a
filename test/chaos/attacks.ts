import { type Hex, parseUnits } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { until } from '../support/until.ts'
import { createClient } from './client.ts'
import type { Purchase } from './customers.ts'
import type { Run } from './run.ts'

/*
 * What the scenario does to the app, each once and on purpose. A app without bugs comes out of each with nothing wrong;
 * each of the planted bugs is found by one of them.
 */
export type Attack = (run: Run) => Promise<void>

const PATIENCE_MS = 120_000

/** Waits until the partner is told so of every one of them. */
export async function told(
  { client }: Run,
  purchases: readonly Purchase[],
  statuses: readonly string[],
  timeoutMs = PATIENCE_MS,
): Promise<void> {
  for (const { id } of purchases) {
    const look = async () =>
      statuses.includes((await client.call('GET', `/v1/cross-chain/exchange/status?id=${id}`)).body?.exchange?.status)
    await until(`exchange ${id} is ${statuses.join(' or ')}`, look, timeoutMs)
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

const height = async ({ fleet }: Run): Promise<number> => Number(await fleet.cluster.call('eth', 'eth_blockNumber'))

/** The chain forgets payouts that were said to be paid: deeper than they were confirmed, less than final. */
export const payoutsAreForgotten: Attack = async (run) => {
  const bought = await buy(run, 3, 'btc@btc', 'eth@eth', '0.004')
  await told(run, bought, ['finished'])
  const then = await height(run)
  await until('two more blocks', async () => (await height(run)) >= then + 2)
  await run.fleet.cluster.control('/reorgs', { network: 'eth', depth: 7 })
}

/** The worker dies with a signature in its hands. */
export const deathAfterSigning: Attack = async (run) => {
  const [worker] = run.fleet.workers
  if (!worker) return
  await worker.end('SIGKILL')
  await worker.start({ killAt: { name: 'dispatch.signed', nth: 1 }, waitReady: false })
  await buy(run, 3, 'eth@eth', 'btc@btc', '0.1')
  await until('the worker is dead', () => !worker.isRunning(), PATIENCE_MS)
  await worker.start()
}

/** Nobody mines for longer than a payout waits; needs `clocks.stuck` to be short. */
export const nobodyMines: Attack = async (run) => {
  const { cluster, database } = run.fleet
  await cluster.control('/mining', { network: 'eth', paused: true })
  try {
    await buy(run, 1, 'btc@btc', 'eth@eth', '0.004')
    await until(
      'the payout was offered more than once, or the signer refused to',
      async () => {
        const rows = await database.query(
          "select 1 from attempts group by transaction_id having count(*) > 1 union all select 1 from alarms where subject like 'release:%'",
        )
        return rows.length > 0
      },
      PATIENCE_MS,
    )
    // Whatever is offered in place of it has the time to be offered.
    await until(
      'the newest attempt was sent or refused',
      async () => {
        const rows = await database.query(
          "select 1 from attempts a where id = (select max(id) from attempts) and (sent_at is not null or exists (select 1 from alarms where subject like 'release:%'))",
        )
        return rows.length > 0
      },
      PATIENCE_MS,
    )
  } finally {
    await cluster.control('/mining', { network: 'eth', paused: false })
  }
}

/** A node takes every transaction and never says so; then it says that it had it; then it lies. Needs a proxy before eth. */
export const nodesThatDoNotAnswer: Attack = async (run) => {
  const node = run.fleet.nodes.get('eth')
  if (!node) throw new Error('this fleet has no proxy before eth')
  node.misbehave(['silent', 'known', 'lie', 'silent'])
  await buy(run, 4, 'btc@btc', 'eth@eth', '0.004')
  await until('the node has done all of it', () => node.isGood(), PATIENCE_MS)
}

/**
 * A listed token says for one block that something was transferred, and nothing was: what a bug in a token, or its owner, can
 * do.
 */
export const aTokenThatLies: Attack = async (run) => {
  const { cluster } = run.fleet
  const token = cluster.chains.networks.find(({ network }) => network === 'eth')?.tokens['usdt'] as Hex
  const purchase = await run.customers.order({ from: 'usdt@eth', to: 'btc@btc', amount: '400' })
  const account = privateKeyToAccount(generatePrivateKey())
  const honest = await cluster.call('eth', 'eth_getCode', [token, 'latest'])
  await cluster.control('/mining', { network: 'eth', paused: true })
  try {
    await cluster.call('eth', 'anvil_setBalance', [account.address, `0x${(10n ** 18n).toString(16)}`])
    await cluster.call('eth', 'anvil_setCode', [token, LIAR])
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
      'the lie is in a block',
      async () => (await cluster.call('eth', 'eth_getTransactionReceipt', [hash]))?.status === '0x1',
    )
    await cluster.call('eth', 'anvil_setCode', [token, honest])
  } finally {
    await cluster.control('/mining', { network: 'eth', paused: false })
  }
}

/** `transfer` emits Transfer(caller, to, value) (topic: ERC-20) and answers true; everything else answers 0. */
const LIAR =
  '0x60003560e01c63a9059cbb1460145760206000f35b602435600052600435337fddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef60206000a3600160005260206000f3'

/** Two partners ask for each other's exchanges. What they see of them is added to the findings. */
export async function curiousPartners(
  run: Run,
  { each, asks }: { each: number; asks: number },
): Promise<readonly string[]> {
  const urls = run.fleet.apis.map(({ url }) => url ?? '')
  const partners = [
    { name: 'sandbox', client: createClient(urls, 'sandbox'), own: [] as string[] },
    { name: 'sandbox-b', client: createClient(urls, 'sandbox-b'), own: [] as string[] },
  ]
  for (const { client, own } of partners) {
    const order = {
      fromCurrency: 'btc',
      fromNetwork: 'btc',
      toCurrency: 'eth',
      toNetwork: 'eth',
      fromAmount: '0.01',
      flow: 'standard',
      address: privateKeyToAccount(generatePrivateKey()).address,
    }
    const created = await Promise.all(
      Array.from({ length: each }, () => client.call('POST', '/v1/cross-chain/exchange', order)),
    )
    own.push(...created.map(({ body }) => body.id as string))
  }
  const all = partners.flatMap(({ own }) => own)
  const leaks: string[] = []
  let asked = 0
  const ask = async () => {
    for (let n = asked++; n < asks; n = asked++) {
      const partner = partners[n % 2]
      if (!partner) return
      const { client, own, name } = partner
      if (n % 50 < 2) {
        const { body } = await client.call('GET', '/v1/cross-chain/exchange/list?limit=100')
        for (const { id } of body.data)
          if (all.includes(id) && !own.includes(id)) leaks.push(`leak: ${name} lists ${id} of the other`)
        continue
      }
      const id = all[(n * 7) % all.length] ?? ''
      const { status } = await client.call('GET', `/v1/cross-chain/exchange/status?id=${id}`)
      if (status !== (own.includes(id) ? 200 : 404))
        leaks.push(`leak: ${name} asks for ${own.includes(id) ? 'its own' : "the other's"} ${id}: ${status}`)
    }
  }
  await Promise.all(Array.from({ length: 24 }, ask))
  return [...leaks, ...partners.flatMap(({ client }) => client.wrong())]
}
