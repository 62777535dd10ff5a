import { beforeEach, describe, expect, it } from 'vitest'
import { nativeAddress } from '../../adapters/chains/evm/native-coin.ts'
import type { Partner } from '../../core/domain/partner.ts'
import type { Verdict } from '../../core/ports/screening.ts'
import { createSwapRefs } from '../build/swap-refs.ts'
import type { Expiry } from '../domain/expiry.ts'
import type { Swap, SwapStatus } from '../domain/swap.ts'
import type { SwapNetworks } from '../networks.ts'
import type { NewSwap, SwapAdvance, SwapStore } from '../ports/store/swaps.ts'
import type { SignedTransaction, SwapBroadcast, SwapChain } from '../ports/swap-chain.ts'
import { createSendSwap } from './send-swap.ts'

/* Races and changing deny lists cannot be reproduced on a chain: these tests use scripted ports. */

const [router, executor, user, token] = ['0xr', '0xe', '0xu', '0xt'] as const
const HASH = `0x${'1'.repeat(64)}`
const NOW = 1_800_000_000_000
const partner = { id: 'p', name: 'acme' } as Partner
const refs = createSwapRefs(Buffer.from('a pepper'))
const terms = {
  ...{ recipient: user, tokenIn: nativeAddress, tokenOut: token, amountIn: 10n ** 18n, minReceived: 9n },
  ...{ feePpm: 3_000, feeTo: '0xf', expiry: { by: 'time', at: NOW / 1000 + 600 } as const, callHash: '0xc' },
}
const ref = refs.issue({ ...terms, partnerId: 'p', network: 'eth', account: user, owesFee: true }, ['uniswap-v2'])
const signed: SignedTransaction = {
  ...{ hash: HASH, signer: user, nonce: 0, targets: [router], recentBlock: null },
  action: { kind: 'swap', executor, ref, pools: ['0xpool'], routeTokens: [token, '0xmiddle'], ...terms },
}
const request = {
  ...{ account: user, network: 'eth', fromTokenAddress: nativeAddress, toTokenAddress: token, amountFrom: '1' },
  ...{ amountTo: '10', commissionPercentage: '0.3', rawTx: '0x02', isExchange: true },
}

let outcome: SwapBroadcast
let verdict: Verdict
/** An address that screening blocks; null = none. */
let denied: string | null
/** What the chain reads from the signed bytes. */
let read: SignedTransaction
let recorded: NewSwap[]
let advanced: SwapStatus[]
let sent: number
/** Status that a concurrent update has set; null = none. */
let concurrentStatus: SwapStatus | null
let now: number
let expiry: Expiry
/** The row did not exist. */
let isNew: boolean
let pauses: readonly string[]

beforeEach(() => {
  outcome = { kind: 'accepted' }
  verdict = 'allow'
  denied = null
  read = signed
  recorded = []
  advanced = []
  sent = 0
  concurrentStatus = null
  now = NOW
  expiry = terms.expiry
  isNew = false
  pauses = []
})

const chain = {
  ...{ network: { id: 'eth' }, native: nativeAddress, spender: router, executor, wrapped: '0xw', keepsPending: true },
  unitsMax: 2n ** 256n - 1n,
  parse: (text: string) => text,
  parseAccount: (text: string) => text,
  formatAddress: (address: string) => address,
  readSigned: () => read,
  readExpiry: async () => expiry,
  isExpired: async (one: Expiry, nowMs: number) => one.by === 'time' && one.at * 1000 <= nowMs,
  broadcast: async () => {
    sent++
    return outcome
  },
  observe: async () => ({ kind: 'unseen' }),
} as unknown as SwapChain

const rowOf = (status: SwapStatus) => ({ id: 'row', status, reason: null }) as Swap
const swaps = {
  record: async (swap: NewSwap) => {
    recorded.push(swap)
    return {
      swap: { ...rowOf('pending'), ...(isNew ? { id: swap.id } : {}) },
      version: 1,
      raw: swap.raw,
      lastSeenAt: new Date(),
    }
  },
  advance: async (_: unknown, { progress }: SwapAdvance) => {
    advanced.push(progress.status)
    return concurrentStatus === null
  },
  find: async () => ({ swap: rowOf(concurrentStatus ?? 'pending'), version: 2, raw: null, lastSeenAt: new Date() }),
  findByHash: async () => (concurrentStatus === null ? null : rowOf(concurrentStatus)),
} as unknown as SwapStore

const send = (changes: object = {}) =>
  createSendSwap({
    networks: { getOpen: () => ({ chain, nativeIsToken: false }) } as unknown as SwapNetworks,
    findToken: async (_, address) => ({ network: 'eth', address, name: 'T', symbol: 'T', decimals: 18 }),
    refs,
    swaps,
    poolPauses: () => pauses,
    approvals: { save: async () => undefined, has: async () => false },
    screening: { screen: async ({ address }) => (address === denied ? 'block' : verdict) },
    withIdempotency: (_partner, _key, work) => work(() => null),
    now: () => now,
  })(partner, { ...request, ...changes }, null)

describe('a swap that nodes refuse', () => {
  const rejected = { kind: 'rejected', reason: 'no', because: 'nonce-used' } as const

  it('is refused, even if a concurrent request was refused first', async () => {
    outcome = rejected
    await expect(send()).rejects.toMatchObject({ code: 'NONCE_CONFLICT' })
    concurrentStatus = 'failed'
    await expect(send()).rejects.toMatchObject({ code: 'NONCE_CONFLICT' })
  })

  it('stays pending if they refuse it as expired: an earlier broadcast may be in a block that they do not have', async () => {
    outcome = { ...rejected, because: 'expired' }
    expect(await send()).toBe(HASH)
    expect(advanced).toEqual([])
    outcome = { ...rejected, because: 'other' }
    await expect(send()).rejects.toMatchObject({ code: 'RAW_TX_INVALID' })
    expect(advanced).toEqual(['failed'])
  })

  it.each(['height', 'epoch'] as const)(
    'stays pending if it was sent before and the chain proves its %s',
    async (by) => {
      outcome = { ...rejected, because: 'other' }
      expiry = { by, at: 7 }
      expect(await send()).toBe(HASH)
      expect(advanced).toEqual([])
      isNew = true
      await expect(send()).rejects.toMatchObject({ code: 'RAW_TX_INVALID' })
      expect(advanced).toEqual(['failed'])
      isNew = false
      outcome = rejected
      await expect(send()).rejects.toMatchObject({ code: 'NONCE_CONFLICT' })
    },
  )

  it('is accepted if the tracker saw it: building again would swap twice', async () => {
    outcome = rejected
    concurrentStatus = 'confirming'
    expect(await send()).toBe(HASH)
  })
})

describe('a restricted account', () => {
  it.each([true, false])('cannot send a swap with isExchange: %s', async (isExchange) => {
    verdict = 'block'
    await expect(send({ isExchange })).rejects.toMatchObject({ code: 'RESTRICTED' })
    expect([sent, recorded]).toEqual([0, []])
  })
})

describe('a transaction that is no swap of ours', () => {
  it.each([user, '0xmixer'])('D8: is not broadcast if %s is restricted', async (address) => {
    denied = address
    read = { ...signed, targets: ['0xmixer'], action: null }
    await expect(send({ isExchange: false })).rejects.toMatchObject({ code: 'RESTRICTED' })
    expect(sent).toBe(0)
    denied = null
    expect(await send({ isExchange: false })).toBe(HASH)
    expect([sent, recorded]).toEqual([1, []])
  })
})

describe('D6: a swap that was built before a pause', () => {
  it.each(['dex:uniswap-v2', 'pool:0xpool', 'token:0xmiddle', `token:${token}`, 'token:0xw'])(
    'is not relayed while %s is paused',
    async (scope) => {
      pauses = [`${scope}@eth`]
      for (const isExchange of [true, false])
        await expect(send({ isExchange })).rejects.toMatchObject({ code: 'NETWORK_PAUSED', retryAfterSeconds: 5 })
      expect([sent, recorded]).toEqual([0, []])
      pauses = []
      expect(await send()).toBe(HASH)
    },
  )

  it('is relayed if other pools or another network are paused', async () => {
    pauses = ['dex:uniswap-v2@base', 'pool:0xpool@base', 'pool:0xother@eth', 'token:0xother@eth']
    expect(await send()).toBe(HASH)
  })
})

describe('after the deadline', () => {
  it('broadcasts and records nothing, and answers a pending swap with its hash', async () => {
    now = NOW + 601_000
    for (const isExchange of [true, false])
      await expect(send({ isExchange })).rejects.toMatchObject({ code: 'RAW_TX_INVALID' })
    concurrentStatus = 'failed'
    await expect(send()).rejects.toMatchObject({ code: 'RAW_TX_INVALID' })
    concurrentStatus = 'pending'
    expect(await send()).toBe(HASH)
    expect([sent, recorded]).toEqual([0, []])
  })
})

it('records the built terms: the owed fee and its recipient', async () => {
  expect(await send()).toBe(HASH)
  expect(recorded).toMatchObject([{ owesFee: true, feeTo: '0xf', feePpm: 3_000, raw: '0x02' }])
  expect(sent).toBe(1)
})
