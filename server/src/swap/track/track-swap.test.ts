import { beforeEach, describe, expect, it } from 'vitest'
import { sol } from '../../../networks/sol.ts'
import { AppError } from '../../core/domain/errors.ts'
import { resolveNetwork } from '../../core/domain/network.ts'
import { createSwapRefs } from '../build/swap-refs.ts'
import type { Expiry } from '../domain/expiry.ts'
import type { Swap, TransactionObservation } from '../domain/swap.ts'
import type { SwapNetworks } from '../networks.ts'
import type { SwapAdvance, SwapStore } from '../ports/store/swaps.ts'
import type { SentTransaction, SignedTransaction, SwapBroadcast, SwapChain } from '../ports/swap-chain.ts'
import { createTrackSwap } from './track-swap.ts'

/* What nodes answer to a repeat cannot be arranged on a chain: these tests use scripted ports. */

const NOW = 1_800_000_000_000
const DROPPED_MS = 600_000
const RAW = 'the signed bytes'
const network = resolveNetwork(sol, 'sandbox')
const refs = createSwapRefs(Buffer.from('a pepper'))
const [height, epoch, time] = [
  { by: 'height', at: 150 },
  { by: 'epoch', at: 7 },
  { by: 'time', at: NOW / 1000 + 600 },
] as const

let outcome: SwapBroadcast
let observation: TransactionObservation
let unseenMs: number
let keepsPending: boolean
/** No node answers an observation. */
let isSilent: boolean
let sent: string[]
let advanced: SwapAdvance[]
let pauses: readonly string[]
let isNetworkPaused: boolean
/** What the chain reads from the bytes; null: a node does not answer. */
let read: Pick<SignedTransaction, 'action'> | null
/** The known blocks with which the chain was observed. */
let observedWith: SentTransaction['block'][]
/** Errors that were logged. */
let errors: object[]
beforeEach(() => {
  outcome = { kind: 'accepted' }
  observation = { kind: 'unseen' }
  unseenMs = 0
  keepsPending = false
  isSilent = false
  sent = []
  advanced = []
  pauses = []
  isNetworkPaused = false
  read = null
  observedWith = []
  errors = []
})

/** One check of a pending swap whose bytes are stored, where nodes keep no transaction. */
async function track(expiry: Expiry, changes: Partial<Swap> = {}): Promise<SwapAdvance | undefined> {
  const chain = {
    ...{ network, keepsPending, isExpired: async () => false, native: 'sol', wrapped: 'sol' },
    readSigned: async () => {
      if (read !== null) return read
      throw new AppError('NETWORK_UNAVAILABLE', 'a node does not have the lookup table')
    },
    broadcast: async (raw: string) => {
      sent.push(raw)
      return outcome
    },
    observe: async (_: string, { block }: SentTransaction) => {
      observedWith.push(block)
      if (isSilent) throw new AppError('NETWORK_UNAVAILABLE', 'no node answers')
      return observation
    },
  } as unknown as SwapChain
  const swap = { id: 'a', network: network.id, hash: 'h', sender: 's', nonce: null, status: 'pending', reason: null }
  const tracked = {
    ...{ swap: { ...swap, expiry, ...changes } as unknown as Swap, version: 1, raw: RAW },
    lastSeenAt: new Date(NOW - unseenMs),
  }
  const swaps = {
    find: async () => tracked,
    advance: async (_: unknown, next: SwapAdvance) => {
      advanced.push(next)
      return true
    },
  } as unknown as SwapStore
  await createTrackSwap({
    networks: {
      ...{ find: () => ({ chain, nativeIsToken: false }), isPaused: () => isNetworkPaused },
    } as unknown as SwapNetworks,
    ...{ poolPauses: () => pauses, refs },
    ...{ swaps, settings: { droppedMs: DROPPED_MS }, databaseNow: () => NOW },
    log: { info: () => undefined, error: (fields, message) => void errors.push({ ...fields, message }) },
  })('a')
  return advanced.at(-1)
}

const rejected = (because: 'nonce-used' | 'expired' | 'other') => ({ kind: 'rejected', reason: 'no', because }) as const
const pending = { progress: { status: 'pending', reason: null, isFinal: false }, isSent: false }
const failed = (reason: string) => ({ progress: { status: 'failed', reason, isFinal: false }, isSent: true })

describe('a repeat that all nodes refuse', () => {
  it.each([height, epoch])('ends no swap whose expiry is $by, and its bytes are kept', async (expiry) => {
    for (const because of ['other', 'expired'] as const) {
      outcome = rejected(because)
      expect(await track(expiry)).toMatchObject(pending)
    }
  })

  it('ends a swap whose expiry is a time: a second one would have the same nonce', async () => {
    outcome = rejected('other')
    expect(await track(time)).toMatchObject(failed('rejected'))
  })

  it('ends a swap if another transaction has used its input', async () => {
    outcome = rejected('nonce-used')
    expect(await track(epoch)).toMatchObject(failed('rejected'))
  })

  it('does not hide that an earlier broadcast is in a block', async () => {
    outcome = rejected('other')
    const block = { height: 5, hash: 'b' }
    observation = { ...{ kind: 'included', block, confirmations: 1_000, ok: true }, received: 5n, fee: 0n }
    expect(await track(height)).toMatchObject({ progress: { status: 'finished', isFinal: true }, isSent: true })
  })
})

describe('a repeat that no node answers, after the time for dropped swaps', () => {
  beforeEach(() => {
    outcome = { kind: 'unknown', reason: 'no answer' }
    unseenMs = DROPPED_MS + 1
  })

  it.each([height, epoch])('ends no swap whose expiry is $by: only the chain proves it', async (expiry) => {
    expect(await track(expiry)).toMatchObject(pending)
    observation = { kind: 'expired' }
    expect(await track(expiry)).toMatchObject({ progress: { reason: 'expired', isFinal: true }, isSent: true })
  })

  it('ends a swap whose expiry is a time only if the nodes then answer that they do not know it', async () => {
    expect(await track(time)).toMatchObject(failed('dropped'))
    const block = { height: 5, hash: 'b' }
    observation = { ...{ kind: 'included', block, confirmations: 1_000, ok: true }, received: 5n, fee: 0n }
    expect(await track(time)).toMatchObject({ progress: { status: 'finished' } })
  })

  it('leaves a swap unchanged while no node answers', async () => {
    isSilent = true
    await expect(track(time)).rejects.toMatchObject({ code: 'NETWORK_UNAVAILABLE' })
    expect(advanced).toEqual([])
  })

  it('keeps the bytes of a swap that no node has seen, also where nodes keep transactions', async () => {
    unseenMs = 0
    keepsPending = true
    expect(await track(time)).toMatchObject(pending)
    observation = { kind: 'pending' }
    expect(await track(time)).toMatchObject({ ...pending, isSent: true })
  })
})

describe('D6: while a pause lasts', () => {
  const terms = {
    ...{ recipient: 's', tokenIn: 'sol', tokenOut: 'usdc', amountIn: 10n, minReceived: 9n, feePpm: 0, feeTo: null },
    ...{ expiry: null, callHash: '0xc' },
  }
  const ref = refs.issue({ ...terms, partnerId: 'p', network: 'sol', account: 's', owesFee: false }, ['raydium-cpmm'])
  const action = { kind: 'swap', executor: null, ref, pools: ['a pool'], routeTokens: ['jup'], ...terms } as const

  it.each(['dex:raydium-cpmm', 'pool:a pool', 'token:jup', 'token:usdc'])(
    'of %s the bytes of a swap are kept and not sent, and it is observed',
    async (scope) => {
      read = { action }
      pauses = [`${scope}@sol`]
      expect(await track(height)).toMatchObject(pending)
      expect(sent).toEqual([])
      observation = { kind: 'expired' }
      expect(await track(height)).toMatchObject({ progress: { reason: 'expired', isFinal: true }, isSent: true })
      pauses = [`${scope}@sui`]
      observation = { kind: 'unseen' }
      expect(await track(height)).toMatchObject(pending)
      expect(sent).toEqual([RAW])
    },
  )

  it('of the network no bytes are sent', async () => {
    isNetworkPaused = true
    expect(await track(height)).toMatchObject(pending)
    expect([sent, observedWith.length]).toEqual([[], 1])
  })

  it('of another pool a swap is sent if its route can be read, and else kept', async () => {
    pauses = ['pool:another pool@sol']
    expect(await track(height)).toMatchObject(pending)
    expect(sent).toEqual([])
    read = { action }
    expect(await track(height)).toMatchObject(pending)
    expect(sent).toEqual([RAW])
  })
})

it('repeats the recorded bytes without reading them again, which may need nodes that do not answer', async () => {
  expect(await track(height)).toMatchObject({ ...pending, isSeen: true })
  expect(sent).toEqual([RAW])
})

it('keeps the bytes of a reverted swap until its block is final: after a reorganisation it is sent again', async () => {
  const block = { height: 5, hash: 'b' }
  const { confirmations, finalityBlocks } = network
  expect(finalityBlocks).toBeGreaterThan(confirmations)
  observation = { ...{ kind: 'included', block, confirmations, ok: false }, received: null, fee: null }
  expect(await track(epoch)).toMatchObject({ progress: { reason: 'reverted', isFinal: false }, isSent: false })
  observation = { ...observation, confirmations: finalityBlocks }
  expect(await track(epoch)).toMatchObject({ progress: { reason: 'reverted', isFinal: true }, isSent: true })
})

it('is observed with its known block, which a lagging node does not undo', async () => {
  const block = { height: 5, hash: 'b' }
  await track(time, { status: 'finished', block })
  expect(observedWith).toEqual([block])
})

it('ends a swap that paid less than its minimum with what it paid, and logs that once', async () => {
  const block = { height: 5, hash: 'b' }
  observation = { ...{ kind: 'included', block, confirmations: 1_000, ok: true }, received: 9n, fee: 0n }
  const changes = { block, minReceived: 10n }
  expect(await track(height, changes)).toMatchObject({ progress: { status: 'finished', receivedUnits: 9n } })
  const fields = { swapId: 'a', network: 'sol', received: '9', minimum: '10' }
  expect(errors).toEqual([{ ...fields, message: 'a swap paid less than its minimum' }])
  await track(height, { ...changes, status: 'finished' })
  await track(height, { block, minReceived: 9n })
  expect(errors).toHaveLength(1)
})
