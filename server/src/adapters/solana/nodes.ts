import { createJsonRpc, type RpcAnswer } from '@swapyard/lib/json-rpc.ts'
import type { NodeEndpoint } from '@swapyard/lib/node-endpoint.ts'
import { AppError } from '../../core/domain/errors.ts'
import { assert } from '../../lib/assert.ts'
import { answersIn, firstAnswer } from '../chains/shared/agreement.ts'

/** A reply of the JSON-RPC, read member by member. */
export type Fields = Readonly<Record<string, unknown>>

/** One node. */
export type SolanaNode = Readonly<{
  /** Name of the network, for errors. */
  network: string
  /** For example `sol node 1`. */
  name: string
  /** Throws NETWORK_UNAVAILABLE without a result. */
  ask(method: string, params: readonly unknown[]): Promise<unknown>
}>

/** `ask` is the reply of the first node that gives one. A node that gives none is asked last from then on. */
export type SolanaNodes = SolanaNode &
  Readonly<{
    /** In the order in which `ask` asks them. */
    inOrder(): readonly SolanaNode[]
    /** The other nodes that can confirm what a node says. One that gave no answer last is not waited for. */
    others(node: SolanaNode): readonly SolanaNode[]
    /** What all nodes say. Throws if one does not answer. */
    every<T>(ask: (node: SolanaNode) => Promise<T>): Promise<readonly T[]>
    /** As `every`, for one call. */
    askEvery(method: string, params: readonly unknown[]): Promise<readonly unknown[]>
    /** What the nodes that answer say. One that gave no answer last is waited for only if no other answers. Throws if none does. */
    answers<T>(ask: (node: SolanaNode) => Promise<T>): Promise<readonly T[]>
    /** Sends to every node, with the node's own error as a value. Waits as `answers` does. */
    send(method: string, params: readonly unknown[]): Promise<readonly RpcAnswer[]>
    /** From now on the first node is asked last: its replies are of no use. */
    rotate(): void
    /** Whether the genesis of every node is that of the network. Throws if one does not answer. */
    areOnNetwork(): Promise<boolean>
  }>

/** The largest replies are the accounts of programs. */
const REPLY_BYTES_MAX = 16 * 1024 * 1024
const TIMEOUT_MS = 5_000

type Member = Readonly<{
  /** Asks once; a sole node twice. */
  node: SolanaNode
  /** Repeats a call without an answer. */
  patient: SolanaNode
  send(method: string, params: readonly unknown[]): Promise<RpcAnswer>
  genesis(): Promise<unknown>
  /** Whether the last call got no answer. */
  isFailing(): boolean
  /** Finds out whether it answers again. */
  probe(): Promise<void>
}>

type MemberOptions = Readonly<{
  network: string
  name: string
  url: NodeEndpoint
  genesis: string | undefined
  isSole: boolean
}>

function createMember({ network, name, url, genesis, isSole }: MemberOptions, onFailure: () => void): Member {
  const rpc = createJsonRpc({ url, timeoutMs: TIMEOUT_MS, replyBytesMax: REPLY_BYTES_MAX, retries: 1 })
  let isFailing = false
  let isProbing = false
  let answered = 0
  let isChecked = genesis === undefined
  function fail(): void {
    isFailing = true
    onFailure()
  }
  async function call(how: 'call' | 'read', method: string, params: readonly unknown[]): Promise<RpcAnswer> {
    const before = answered
    const answer = await rpc[how](method, params)
    if (answer.kind !== 'unknown') {
      answered++
      isFailing = false
      // A later call may have been answered in the meantime.
    } else if (answered === before) fail()
    return answer
  }
  async function read(how: 'call' | 'read', method: string, params: readonly unknown[]): Promise<unknown> {
    const answer = await call(how, method, params)
    if (answer.kind === 'result') return answer.result
    const reason = answer.kind === 'error' ? `${answer.message} (${answer.code})` : answer.reason
    const isUnsupported = answer.kind === 'error' && answer.code === UNSUPPORTED_VERSION
    throw (isUnsupported ? unsupportedVersion : unavailable)(network, `${rpc.host}: ${method}: ${reason}`)
  }
  async function check(how: 'call' | 'read'): Promise<void> {
    if (isChecked) return
    const found = await read(how, 'getGenesisHash', [])
    isChecked = found === genesis
    if (isChecked) return
    fail()
    throw unavailable(network, `${rpc.host} is of another network: its genesis is ${found}`)
  }
  const askBy = (how: 'call' | 'read'): SolanaNode => ({
    ...{ network, name },
    async ask(method, params) {
      await check(how)
      return read(how, method, params)
    },
  })
  return {
    ...{ node: askBy(isSole ? 'read' : 'call'), patient: askBy('read'), isFailing: () => isFailing },
    async send(method, params) {
      try {
        await check('call')
      } catch (cause) {
        return { kind: 'unknown', reason: `${rpc.host} did not state its network`, cause }
      }
      return call('call', method, params)
    },
    async probe() {
      if (isProbing) return
      isProbing = true
      await settle(askBy('call').ask('getSlot', []))
      isProbing = false
    },
    genesis: () => read('read', 'getGenesisHash', []),
  }
}

/** Starts all. Those of failing members are waited for only if the others do not suffice. `run` does not reject. */
async function runOnMembers<T>(
  members: readonly Member[],
  run: (member: Member) => Promise<T>,
  suffice: (outcomes: readonly T[]) => boolean,
): Promise<readonly T[]> {
  const started = members.map((member) => ({ isFailing: member.isFailing(), outcome: run(member) }))
  const prompt = await Promise.all(started.filter(({ isFailing }) => !isFailing).map(({ outcome }) => outcome))
  return suffice(prompt) ? prompt : Promise.all(started.map(({ outcome }) => outcome))
}

async function settle<T>(work: Promise<T>): Promise<PromiseSettledResult<T>> {
  const [outcome] = await Promise.allSettled([work])
  return outcome
}

/** `genesis`: nodes with another one are not used. */
export function createSolanaNodes(network: string, rpcUrls: readonly NodeEndpoint[], genesis?: string): SolanaNodes {
  assert(rpcUrls.length > 0, `${network} has a node`)
  let order: readonly Member[] = []
  const askLast = (member: Member) => {
    order = [...order.filter((one) => one !== member), member]
  }
  const isSole = rpcUrls.length === 1
  const members = rpcUrls.map((url, index) => {
    const name = `${network} node ${index + 1}`
    const member: Member = createMember({ network, name, url, genesis, isSole }, () => askLast(member))
    return member
  })
  order = members
  const inOrder = () => order.map(({ node }) => node)
  const ask: SolanaNode['ask'] = (method, params) => firstAnswer(inOrder(), (node) => node.ask(method, params))
  const every = <T>(run: (node: SolanaNode) => Promise<T>) => Promise.all(members.map(({ patient }) => run(patient)))
  return {
    ...{ network, name: `the nodes of ${network}`, ask, inOrder, every },
    others(node) {
      // For the next time: a node that answers is waited for again.
      for (const one of members) if (one.isFailing()) void one.probe()
      return order.filter((one) => one.node !== node && !one.isFailing()).map((one) => one.node)
    },
    askEvery: (method, params) => every((node) => node.ask(method, params)),
    async answers(run) {
      const outcomes = await runOnMembers(
        order,
        ({ node }) => settle(run(node)),
        (some) => some.some(({ status }) => status === 'fulfilled'),
      )
      return answersIn(outcomes)
    },
    send: (method, params) =>
      runOnMembers(
        members,
        (member) => member.send(method, params),
        (answers) => answers.some(({ kind }) => kind === 'result'),
      ),
    rotate() {
      const [first] = order
      if (first !== undefined) askLast(first)
    },
    async areOnNetwork() {
      const found = await Promise.all(members.map((member) => member.genesis()))
      return genesis === undefined || found.every((one) => one === genesis)
    },
  }
}

/** Partners do not see which node failed; the cause, which is logged, names it. */
export const unavailable = (network: string, reason: string): AppError =>
  new AppError('NETWORK_UNAVAILABLE', `the nodes of ${network} are not available`, { cause: new Error(reason) })

/** A transaction of a version that the request does not accept. */
const UNSUPPORTED_VERSION = -32_015
export class UnsupportedVersionError extends AppError {}
const unsupportedVersion = (network: string, reason: string): AppError =>
  new UnsupportedVersionError('NETWORK_UNAVAILABLE', `the nodes of ${network} have a transaction of another version`, {
    cause: new Error(reason),
  })

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
export async function readAccounts(nodes: SolanaNode, addresses: readonly string[]): Promise<AccountsAt> {
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
