import { randomUUID } from 'node:crypto'
import { type Hex, keccak256, parseTransaction, parseUnits } from 'viem'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { type Json, until } from '../support/until.ts'
import type { Client } from './client.ts'
import type { Fleet } from './fleet.ts'

const NETWORK = 'eth'
const COIN = '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE'
const AMOUNT = '25'
const SENT_MS = 60_000

/** One user of the partner, who approves and swaps once with viem: two transactions, and never another. */
type Swapping = { account: PrivateKeyAccount; approval: string | null; swap: string | null }

export type Swappers = Readonly<{
  /** Build, sign, approve, send. Resolves when the swap is sent or listed. */
  swap(): Promise<void>
  /** Waits for the end of every swap that was sent, and says what is not as the users know it. */
  wrong(timeoutMs: number): Promise<readonly string[]>
}>

/**
 * A partner who loses replies: what it builds and approves it asks for again, with the same key; of a swap it looks whether
 * it is listed, and sends it again only where it is not. So some rows are left to the worker to broadcast.
 */
export function createSwappers({ cluster, database, apis }: Fleet, client: Client): Swappers {
  const all: Swapping[] = []
  const node = cluster.chains.networks.find(({ network }) => network === NETWORK)
  const usdc = node?.tokens['usdc'] ?? node?.defiTokens?.find(({ symbol }) => symbol === 'USDC')?.address ?? ''
  const trade = { network: NETWORK, fromTokenAddress: usdc, toTokenAddress: COIN }
  let turn = 0

  async function post(path: string, body: object): Promise<Json> {
    const reply = await client.call('POST', path, body)
    if (reply.status !== 201) throw new Error(`${path}: ${reply.status} ${reply.text}`)
    return reply.body
  }

  async function sign(account: PrivateKeyAccount, unsigned: Hex): Promise<Hex> {
    return account.signTransaction(parseTransaction(unsigned) as Parameters<PrivateKeyAccount['signTransaction']>[0])
  }

  async function isListed(hash: string): Promise<boolean> {
    const { status, body } = await client.call('GET', `/v1/defi/exchange/list?network=${NETWORK}`)
    return status === 200 && body.exchanges.some((one: Json) => one.hash === hash)
  }

  /** Once; where no reply comes, or a process that is about to end has none, it is looked for before it is sent again. */
  async function send(body: object, hash: string): Promise<void> {
    await until(
      `${hash} is sent`,
      async () => {
        const url = apis[turn++ % apis.length]?.url ?? ''
        const headers = { 'idempotency-key': randomUUID() }
        const reply = await client.once(url, 'POST', '/v1/defi/send/swap', body, headers).catch(() => null)
        if (reply === null || reply.status === 503) return isListed(hash)
        if (reply.status !== 201 || JSON.parse(reply.text) !== hash)
          throw new Error(`send: ${reply.status} ${reply.text}`)
        return true
      },
      SENT_MS,
    )
  }

  return {
    async swap() {
      const account = privateKeyToAccount(generatePrivateKey())
      await cluster.control('/deposits', {
        network: NETWORK,
        currency: 'usdc',
        address: account.address,
        amount: AMOUNT,
      })
      await cluster.call(NETWORK, 'anvil_setBalance', [account.address, `0x${(10n ** 18n).toString(16)}`])
      const own: Swapping = { account, approval: null, swap: null }
      all.push(own)
      const order = { ...trade, amount: AMOUNT, slippage: '50', referrerFee: '0.5', account: account.address }
      // The token comes with the next block.
      const [approval, swap]: Hex[] = await until('it is built', () =>
        post('/v1/defi/transaction/swap', order).catch((error: Error) => {
          if (error.message.includes('INSUFFICIENT_BALANCE')) return null
          throw error
        }),
      )
      const rawApproveTx = await sign(account, approval ?? '0x')
      own.approval = JSON.parse(
        (await client.call('POST', '/v1/defi/send/approve', { network: NETWORK, rawApproveTx })).text,
      )
      const rawTx = await sign(account, swap ?? '0x')
      own.swap = keccak256(rawTx)
      const told = { amountFrom: AMOUNT, amountTo: '0.001', commissionPercentage: '0.5', account: account.address }
      await send({ ...trade, ...told, rawTx }, own.swap)
    },
    async wrong(timeoutMs) {
      const found: string[] = []
      for (const { account, approval, swap } of all) {
        if (swap === null) continue
        const row = await until(
          `${swap} ends`,
          async () => {
            const rows = await database.query<Row>(ROW, [swap])
            if (rows.length !== 1) found.push(`${swap} has ${rows.length} rows`)
            return rows[0]?.status === 'finished' || rows[0]?.status === 'failed' ? rows[0] : null
          },
          timeoutMs,
        ).catch((error: Error) => error.message)
        if (typeof row === 'string' || row.status !== 'finished' || row.raw !== null) {
          found.push(typeof row === 'string' ? row : `${swap} is ${row.status} (${row.reason}), raw ${row.raw}`)
          continue
        }
        const [count, receipt, left]: [Hex, Json, Hex] = await Promise.all([
          cluster.call(NETWORK, 'eth_getTransactionCount', [account.address, 'latest']),
          cluster.call(NETWORK, 'eth_getTransactionReceipt', [swap]),
          cluster.call(NETWORK, 'eth_call', [{ to: usdc, data: balanceOf(account.address) }, 'latest']),
        ])
        if (BigInt(count) !== 2n) found.push(`${account.address} made ${BigInt(count)} transactions`)
        if (receipt?.status !== '0x1' || receipt.blockHash !== row.block_hash)
          found.push(`${swap} is not where its row says`)
        if (BigInt(left) !== 0n) found.push(`${account.address} has ${BigInt(left)} of ${parseUnits(AMOUNT, 6)} left`)
        if (approval === null) found.push(`${account.address} has no answer to its approval`)
      }
      return found
    },
  }
}

type Row = Readonly<{ status: string; reason: string | null; raw: string | null; block_hash: string | null }>
const ROW = 'select status, reason, raw, block_hash from swaps where hash = $1'
const balanceOf = (address: string): string => `0x70a08231${address.slice(2).toLowerCase().padStart(64, '0')}`
