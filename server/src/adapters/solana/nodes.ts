import { createJsonRpc, type RpcAnswer } from '@swapyard/lib/json-rpc.ts'
import { AppError } from '../../core/domain/errors.ts'
import { assert } from '../../lib/assert.ts'
import { firstAnswer } from '../chains/shared/agreement.ts'

/** A reply of the JSON-RPC, read member by member. */
export type Fields = Readonly<Record<string, unknown>>

export type SolanaNodes = Readonly<{
  /** The reply of the first node that gives one. */
  ask(method: string, params: readonly unknown[]): Promise<unknown>
  /** The replies of all nodes. Throws if one does not answer. */
  askEvery(method: string, params: readonly unknown[]): Promise<readonly unknown[]>
  /** As `ask`, with the node's own error as a value. Sends to every node. */
  send(method: string, params: readonly unknown[]): Promise<readonly RpcAnswer[]>
  /** Whether the genesis of every node is that of the network. Throws if one does not answer. */
  areOnNetwork(): Promise<boolean>
}>

/** The largest replies are the accounts of programs. */
const REPLY_BYTES_MAX = 16 * 1024 * 1024
const TIMEOUT_MS = 5_000

/** `genesis`: nodes with another one are not used. */
export function createSolanaNodes(network: string, rpcUrls: readonly string[], genesis?: string): SolanaNodes {
  assert(rpcUrls.length > 0, `${network} has a node`)
  const nodes = rpcUrls.map((url) =>
    createJsonRpc({ url, timeoutMs: TIMEOUT_MS, replyBytesMax: REPLY_BYTES_MAX, retries: 1 }),
  )
  type Node = (typeof nodes)[number]
  const checked = new Set<Node>()
  const readUnchecked = async (node: Node, method: string, params: readonly unknown[]): Promise<unknown> => {
    const answer = await node.read(method, params)
    if (answer.kind === 'result') return answer.result
    const reason = answer.kind === 'error' ? `${answer.message} (${answer.code})` : answer.reason
    throw unavailable(network, `${node.host}: ${method}: ${reason}`)
  }
  const check = async (node: Node): Promise<void> => {
    if (genesis === undefined || checked.has(node)) return
    const found = await readUnchecked(node, 'getGenesisHash', [])
    if (found !== genesis) throw unavailable(network, `${node.host} is of another network: its genesis is ${found}`)
    checked.add(node)
  }
  const read = async (node: Node, method: string, params: readonly unknown[]): Promise<unknown> => {
    await check(node)
    return readUnchecked(node, method, params)
  }
  return {
    ask: (method, params) => firstAnswer(nodes, (node) => read(node, method, params)),
    askEvery: (method, params) => Promise.all(nodes.map((node) => read(node, method, params))),
    send: async (method, params) => {
      await Promise.all(nodes.map(check))
      return Promise.all(nodes.map((node) => node.call(method, params)))
    },
    async areOnNetwork() {
      const found = await Promise.all(nodes.map((node) => readUnchecked(node, 'getGenesisHash', [])))
      return genesis === undefined || found.every((one) => one === genesis)
    },
  }
}

/** Partners do not see which node failed; the cause, which is logged, names it. */
export const unavailable = (network: string, reason: string): AppError =>
  new AppError('NETWORK_UNAVAILABLE', `the nodes of ${network} are not available`, { cause: new Error(reason) })

export const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** A whole number, which is text above 2^53. Throws on anything else. */
export function toUnits(value: unknown): bigint {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value)
  if (typeof value === 'string' && /^\d{1,20}$/.test(value)) return BigInt(value)
  throw new TypeError(`a node replied ${String(value).slice(0, 40)} and not a whole number`)
}

export function toCount(value: unknown): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
  throw new TypeError(`a node replied ${String(value).slice(0, 40)} and not a count`)
}

export type Account = Readonly<{ owner: string; lamports: bigint; data: Buffer }>
export type AccountsAt = Readonly<{ slot: number; accounts: readonly (Account | null)[] }>

export function toAccount(value: unknown): Account | null {
  if (value === null || value === undefined) return null
  const { owner, lamports, data } = fieldsOf(value)
  const [text] = listOf(data)
  if (typeof owner !== 'string' || typeof text !== 'string') throw new TypeError('a node replied no account')
  return { owner, lamports: toUnits(lamports), data: Buffer.from(text, 'base64') }
}

export const slotOf = (reply: unknown): number => toCount(fieldsOf(fieldsOf(reply)['context'])['slot'])

/** `getMultipleAccounts` takes this many. */
export const ACCOUNTS_MAX = 100

/** At most ACCOUNTS_MAX accounts, all of one slot. */
export async function readAccounts(nodes: SolanaNodes, addresses: readonly string[]): Promise<AccountsAt> {
  const options = { encoding: 'base64', commitment: 'confirmed' }
  const reply = await nodes.ask('getMultipleAccounts', [addresses, options])
  const accounts = listOf(fieldsOf(reply)['value']).map(toAccount)
  if (accounts.length !== addresses.length) throw new TypeError('a node replied another number of accounts')
  return { slot: slotOf(reply), accounts }
}

const AMOUNT_OFFSET = 64
const TOKEN_ACCOUNT_BYTES = 165

/** The balance of a token account; 0 if it does not exist. */
export const tokenUnits = (account: Account | null | undefined): bigint =>
  account && account.data.length >= TOKEN_ACCOUNT_BYTES ? account.data.readBigUInt64LE(AMOUNT_OFFSET) : 0n
