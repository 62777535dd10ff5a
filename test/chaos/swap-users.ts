import { randomUUID } from 'node:crypto'
import { type Hex, keccak256, parseTransaction, parseUnits } from 'viem'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { readEvmBalance } from '../support/evm-balance.ts'
import { type Json, until } from '../support/until.ts'
import { type Client, isLostConnection } from './client.ts'
import type { Fleet } from './fleet.ts'

const NETWORK = 'eth'
const NATIVE = '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE'
const AMOUNT = '25'

/** One user of the partner, who sends exactly two transactions with viem: an approval and a swap. */
type SwapUser = { account: PrivateKeyAccount; approval: string | null; swap: string | null }

export type SwapUsers = Readonly<{
  /** Builds, signs, approves and sends a swap of a new user. Resolves when the swap is sent or listed. */
  swap(): Promise<void>
  /** Waits until every sent swap is finished. Returns the differences to the users' own records. */
  findDifferences(): Promise<readonly string[]>
}>

/**
 * Users of a partner that loses replies. It repeats build and approve requests with the same key. It sends a swap again only
 * if the swap is not listed, so the worker has to broadcast some of the recorded swaps.
 */
export function createSwapUsers({ cluster, database, apis }: Fleet, client: Client): SwapUsers {
  const users: SwapUser[] = []
  const node = cluster.chains.networks.find(({ network }) => network === NETWORK)
  const usdc = node?.tokens['usdc'] ?? node?.defiTokens?.find(({ symbol }) => symbol === 'USDC')?.address ?? ''
  const trade = { network: NETWORK, fromTokenAddress: usdc, toTokenAddress: NATIVE }
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
    const { status, body, text } = await client.call('GET', `/v1/defi/exchange/list?network=${NETWORK}`)
    if (status !== 200) throw new Error(`list: ${status} ${text}`)
    return body.exchanges.some((one: Json) => one.hash === hash)
  }

  /** After a lost connection or a 503, checks whether the swap is listed before it sends the swap again. */
  async function sendSwap(body: object, hash: string): Promise<void> {
    await until(`${hash} is sent`, async () => {
      const url = apis[turn++ % apis.length]?.url ?? ''
      const headers = { 'idempotency-key': randomUUID() }
      const reply = await client.once(url, 'POST', '/v1/defi/send/swap', body, headers).catch((error) => {
        if (isLostConnection(error)) return null
        throw error
      })
      if (reply === null || reply.status === 503) return isListed(hash)
      if (reply.status !== 201 || JSON.parse(reply.text) !== hash)
        throw new Error(`send: ${reply.status} ${reply.text}`)
      return true
    })
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
      const user: SwapUser = { account, approval: null, swap: null }
      users.push(user)
      const order = { ...trade, amount: AMOUNT, slippage: '50', referrerFee: '0.5', account: account.address }
      // The user has the token after the next block.
      const [approval, swap]: Hex[] = await until('it is built', () =>
        post('/v1/defi/transaction/swap', order).catch((error: Error) => {
          if (error.message.includes('INSUFFICIENT_BALANCE')) return null
          throw error
        }),
      )
      const rawApproveTx = await sign(account, approval ?? '0x')
      user.approval = await post('/v1/defi/send/approve', { network: NETWORK, rawApproveTx })
      const rawTx = await sign(account, swap ?? '0x')
      user.swap = keccak256(rawTx)
      const terms = { amountFrom: AMOUNT, amountTo: '0.001', commissionPercentage: '0.5', account: account.address }
      await sendSwap({ ...trade, ...terms, rawTx }, user.swap)
    },
    async findDifferences() {
      const differences: string[] = []
      for (const { account, approval, swap } of users) {
        if (swap === null) continue
        const row = await until(`${swap} is finished or failed`, async () => {
          const rows = await database.query<Row>(ROW, [swap])
          if (rows.length !== 1) differences.push(`${swap} has ${rows.length} rows`)
          return rows[0]?.status === 'finished' || rows[0]?.status === 'failed' ? rows[0] : null
        }).catch((error: Error) => error.message)
        if (typeof row === 'string' || row.status !== 'finished' || row.raw !== null) {
          differences.push(typeof row === 'string' ? row : `${swap} is ${row.status} (${row.reason}), raw ${row.raw}`)
          continue
        }
        const [count, receipt, left]: [Hex, Json, bigint] = await Promise.all([
          cluster.call(NETWORK, 'eth_getTransactionCount', [account.address, 'latest']),
          cluster.call(NETWORK, 'eth_getTransactionReceipt', [swap]),
          readEvmBalance((method, params) => cluster.call(NETWORK, method, params), account.address, usdc),
        ])
        if (BigInt(count) !== 2n) differences.push(`${account.address} has sent ${BigInt(count)} transactions`)
        if (receipt?.status !== '0x1' || receipt.blockHash !== row.block_hash)
          differences.push(`${swap} is not in the block of its row`)
        if (left !== 0n) differences.push(`${account.address} has ${left} of ${parseUnits(AMOUNT, 6)} left`)
        if (approval === null) differences.push(`${account.address} got no reply to its approval`)
      }
      return differences
    },
  }
}

type Row = Readonly<{ status: string; reason: string | null; raw: string | null; block_hash: string | null }>
const ROW = 'select status, reason, raw, block_hash from swaps where hash = $1'
