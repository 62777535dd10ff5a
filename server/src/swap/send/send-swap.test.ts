import { beforeEach, describe, expect, it } from 'vitest'
import type { Partner } from '../../core/domain/partner.ts'
import type { Verdict } from '../../core/ports/screening.ts'
import { createSwapRefs } from '../build/swap-refs.ts'
import type { Swap, SwapStatus } from '../domain/swap.ts'
import { nativeAddress } from '../domain/token.ts'
import type { SwapNetworks } from '../networks.ts'
import type { NewSwap, SwapStore } from '../ports/store/swaps.ts'
import type { SignedTransaction, SwapBroadcast, SwapChain } from '../ports/swap-chain.ts'
import { createSendSwap } from './send-swap.ts'

/* The order in which others get there, and lists that change, are no chain's to repeat: ports that do as they are told. */

const [router, executor, user, token] = ['0xr', '0xe', '0xu', '0xt'] as const
const HASH = `0x${'1'.repeat(64)}`
const NOW = 1_800_000_000_000
const partner = { id: 'p', name: 'acme' } as Partner
const refs = createSwapRefs(Buffer.from('a pepper'))
const terms = {
  ...{ recipient: user, tokenIn: nativeAddress, tokenOut: token, amountIn: 10n ** 18n, minReceived: 9n },
  ...{ feePpm: 3_000, feeTo: '0xf', deadline: NOW / 1000 + 600, callHash: '0xc' },
}
const ref = refs.issue({ ...terms, partnerId: 'p', network: 'eth', account: user, owesFee: true })
const signed: SignedTransaction = {
  ...{ hash: HASH, signer: user, chainId: 1, nonce: 0, to: router },
  act: { kind: 'swap', router, executor, ref, ...terms },
}
const request = {
  ...{ account: user, network: 'eth', fromTokenAddress: nativeAddress, toTokenAddress: token, amountFrom: '1' },
  ...{ amountTo: '10', commissionPercentage: '0.3', rawTx: '0x02', isExchange: true },
}

let outcome: SwapBroadcast
let verdict: Verdict
let recorded: NewSwap[]
let sent: number
/** What the row is by the time that we are done; null = we were the first. */
let meanwhile: SwapStatus | null
let now: number

beforeEach(() => {
  outcome = { kind: 'accepted' }
  verdict = 'allow'
  recorded = []
  sent = 0
  meanwhile = null
  now = NOW
})

const chain = {
  ...{ network: { id: 'eth' }, router, executor, wrapped: '0xw' },
  parse: (text: string) => text,
  parseAccount: (text: string) => text,
  formatAddress: (address: string) => address,
  readSigned: () => signed,
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
    return { swap: rowOf('pending'), version: 1, raw: swap.raw, seenAt: new Date() }
  },
  advance: async () => meanwhile === null,
  find: async () => ({ swap: rowOf(meanwhile ?? 'pending'), version: 2, raw: null, seenAt: new Date() }),
  findSent: async () => (meanwhile === null ? null : rowOf(meanwhile)),
} as unknown as SwapStore

const send = (changes: object = {}) =>
  createSendSwap({
    networks: { getOpen: () => ({ chain, nativeIsToken: false }) } as unknown as SwapNetworks,
    findToken: async (_, address) => ({ network: 'eth', address, name: 'T', symbol: 'T', decimals: 18 }),
    refs,
    swaps,
    approvals: { keep: async () => undefined, has: async () => false },
    screening: { screen: async () => verdict },
    withIdempotency: (_partner, _key, work) => work(),
    now: () => now,
  })(partner, { ...request, ...changes }, null)

describe('a swap that nodes refuse', () => {
  const refused = { kind: 'rejected', reason: 'no', because: 'nonce-used' } as const

  it('is refused, also where another sender of it was told so first', async () => {
    outcome = refused
    await expect(send()).rejects.toMatchObject({ code: 'NONCE_CONFLICT' })
    meanwhile = 'failed'
    await expect(send()).rejects.toMatchObject({ code: 'NONCE_CONFLICT' })
  })

  it('is not said to be refused where the tracker saw it: who builds again would swap twice', async () => {
    outcome = refused
    meanwhile = 'confirming'
    expect(await send()).toBe(HASH)
  })
})

describe('an account that is not served any more', () => {
  it.each([true, false])('sends no swap with isExchange: %s', async (isExchange) => {
    verdict = 'block'
    await expect(send({ isExchange })).rejects.toMatchObject({ code: 'RESTRICTED' })
    expect([sent, recorded]).toEqual([0, []])
  })
})

describe('after the deadline', () => {
  it('nothing is broadcast or recorded, and what was sent before is told by its hash', async () => {
    now = NOW + 601_000
    for (const isExchange of [true, false])
      await expect(send({ isExchange })).rejects.toMatchObject({ code: 'RAW_TX_INVALID' })
    meanwhile = 'failed'
    await expect(send()).rejects.toMatchObject({ code: 'RAW_TX_INVALID' })
    meanwhile = 'pending'
    expect(await send()).toBe(HASH)
    expect([sent, recorded]).toEqual([0, []])
  })
})

it('records what was built: the fee as owed, to whom the transaction pays it', async () => {
  expect(await send()).toBe(HASH)
  expect(recorded).toMatchObject([{ owesFee: true, feeTo: '0xf', feePpm: 3_000, raw: '0x02' }])
  expect(sent).toBe(1)
})
