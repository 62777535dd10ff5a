import { beforeEach, describe, expect, it } from 'vitest'
import { eth } from '../../../networks/eth.ts'
import { resolveNetwork } from '../../core/domain/network.ts'
import type { EvmNode } from '../chains/evm/node.ts'
import { type Sent, track } from './track.ts'

/* Nodes whose answers lag by some blocks cannot be arranged on one chain: these tests use scripted nodes. */

const network = resolveNetwork(eth, 'sandbox')
const TX = `0x${'ab'.repeat(32)}`
const signer = `0x${'11'.repeat(20)}`
const hashOf = (height: number, branch = 'a') => `0x${branch}${height.toString(16).padStart(63, '0')}`
const known = { height: 100, hash: hashOf(100) }
const sent: Sent = { signer, nonce: 7, block: known }

type State = {
  head: number
  branch: string
  /** The height of the receipt; null: the node does not return it. */
  minedAt: number | null
}

const hex = (value: number) => `0x${value.toString(16)}`

function answer({ head, branch, minedAt }: State, method: string, params: readonly unknown[]): unknown {
  const blockHash = minedAt === null ? null : hashOf(minedAt, branch)
  switch (method) {
    case 'eth_blockNumber':
      return hex(head)
    case 'eth_getTransactionCount':
      return hex(0)
    case 'eth_getBlockByNumber': {
      const height = Number(params[0])
      return height > head ? null : { number: hex(height), hash: hashOf(height, branch), timestamp: hex(height * 12) }
    }
    case 'eth_getTransactionByHash':
      return minedAt === null
        ? null
        : { hash: TX, blockHash, type: '0x2', from: signer, to: signer, value: '0x1', nonce: '0x7', input: '0x' }
    case 'eth_getTransactionReceipt':
      return minedAt === null
        ? null
        : {
            ...{ transactionHash: TX, blockHash, blockNumber: hex(minedAt), status: '0x1', logs: [] },
            ...{ gasUsed: '0x5208', effectiveGasPrice: '0x1' },
          }
    default:
      throw new Error(`unexpected call ${method}`)
  }
}

let states: [State, State]
/** Called with the method of each request. */
let onAsk: (method: string) => void
beforeEach(() => {
  onAsk = () => undefined
  const state = { head: 110, branch: 'a', minedAt: 100 }
  states = [{ ...state }, { ...state }]
})

const nodes = [0, 1].map(
  (n) =>
    ({
      name: `node ${n}`,
      ask: async (method: string, params: readonly unknown[], decode: (reply: unknown) => unknown) => {
        onAsk(method)
        return decode(answer(states[n as 0 | 1], method, params))
      },
    }) as unknown as EvmNode,
)
const observe = (context: Sent = sent) => track(nodes, network, TX, { sent: context, note: () => undefined })

describe('a swap whose block is known', () => {
  it('is included while every node has it', async () => {
    expect(await observe()).toMatchObject({ kind: 'included', block: known, confirmations: 11 })
  })

  it.each([
    ['is below its block', { head: 99, minedAt: null }],
    ['has its block but not its receipt', { head: 110, minedAt: null }],
  ])('is kept while one node %s', async (_, lag) => {
    Object.assign(states[1], lag)
    await expect(observe()).rejects.toMatchObject({ code: 'NETWORK_UNAVAILABLE' })
    // No block is known before the first observation.
    expect(await observe({ ...sent, block: null })).toEqual({ kind: 'pending' })
  })

  it('is open again once a node has another block at its height', async () => {
    Object.assign(states[1], { branch: 'b', minedAt: null })
    expect(await observe()).toEqual({ kind: 'pending' })
    Object.assign(states[0], { branch: 'b', minedAt: null })
    expect(await observe()).toEqual({ kind: 'unseen' })
    Object.assign(states[0], { head: 99 })
    Object.assign(states[1], { head: 99 })
    await expect(observe()).rejects.toMatchObject({ code: 'NETWORK_UNAVAILABLE' })
  })
})

describe('a swap that no node knows', () => {
  const observeUntil = (at: number) => observe({ ...sent, block: null, expiry: { by: 'time', at } })
  beforeEach(() => {
    for (const state of states) state.minedAt = null
  })

  it('names the time of the highest block that all nodes have, once it is after its expiry', async () => {
    Object.assign(states[1], { head: 108 })
    expect(await observeUntil(108 * 12 - 1)).toEqual({ kind: 'unseen', chainTimeMs: 108 * 12_000 })
    expect(await observeUntil(108 * 12)).toEqual({ kind: 'unseen' })
  })

  it('is found in a block that was mined while the time was read', async () => {
    onAsk = (method) => {
      if (method === 'eth_blockNumber') for (const state of states) state.minedAt = 100
    }
    expect(await observeUntil(1)).toMatchObject({ kind: 'included', block: known })
  })
})
