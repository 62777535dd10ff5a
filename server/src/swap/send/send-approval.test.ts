import { beforeEach, describe, expect, it } from 'vitest'
import type { Partner } from '../../core/domain/partner.ts'
import type { SwapNetworks } from '../networks.ts'
import type { BuiltApproval } from '../ports/store/approvals.ts'
import type { SignedTransaction, SwapChain } from '../ports/swap-chain.ts'
import { createSendApproval } from './send-approval.ts'

/* What is relayed by /v1/defi/send/approve, with scripted ports: deny lists cannot be reproduced on a chain. */

const [router, user, token] = ['0xr', '0xu', '0xt'] as const
const HASH = `0x${'1'.repeat(64)}`
const partner = { id: 'p', name: 'acme' } as Partner
const built: BuiltApproval = { partnerId: 'p', network: 'eth', account: user, token, units: 5n }
const approval: SignedTransaction = {
  ...{ hash: HASH, signer: user, nonce: 0, targets: [token], recentBlock: null },
  action: { kind: 'approve', token, spender: router, units: 5n },
}

/** What the chain reads from the signed bytes. */
let read: SignedTransaction
/** Address and network of what was screened. */
let screened: unknown[]
let denied: string | null
let sent: number

beforeEach(() => {
  read = approval
  screened = []
  denied = null
  sent = 0
})

const chain = {
  ...{ network: { id: 'eth' }, spender: router },
  formatAddress: (address: string) => address,
  readSigned: () => read,
  broadcast: async () => {
    sent++
    return { kind: 'accepted' }
  },
} as unknown as SwapChain

const send = () =>
  createSendApproval({
    networks: { getOpen: () => ({ chain, nativeIsToken: false }) } as unknown as SwapNetworks,
    approvals: {
      save: async () => undefined,
      has: async (approval) => Object.entries(built).every(([key, value]) => Reflect.get(approval, key) === value),
    },
    screening: {
      screen: async ({ address }) => {
        screened.push(address)
        return address === denied ? 'block' : 'allow'
      },
    },
    withIdempotency: (_partner, _key, work) => work(() => null),
  })(partner, { network: 'eth', rawApproveTx: '0x02' }, null)

const withAction = (action: SignedTransaction['action']): SignedTransaction => ({ ...approval, action })
const approve = (changes: object = {}) =>
  withAction({ kind: 'approve', token, spender: router, units: 5n, ...changes } as SignedTransaction['action'])

describe('D8: an approval', () => {
  it('is relayed after its signer and its token were screened', async () => {
    expect(await send()).toBe(HASH)
    expect([screened, sent]).toEqual([[user, token], 1])
  })

  it.each([user, token])('is not relayed if %s is restricted', async (address) => {
    denied = address
    await expect(send()).rejects.toMatchObject({ code: 'RESTRICTED' })
    expect(sent).toBe(0)
  })

  it('of zero is relayed without having been built, and screened like any other', async () => {
    read = approve({ units: 0n })
    expect(await send()).toBe(HASH)
    denied = user
    await expect(send()).rejects.toMatchObject({ code: 'RESTRICTED' })
    expect(sent).toBe(1)
  })

  it.each([
    ['of another spender', approve({ spender: '0xdrainer' })],
    ['of nothing for another spender', approve({ spender: '0xdrainer', units: 0n })],
    ['of another amount than was built', approve({ units: 6n })],
    ['of another token than was built', { ...approve({ token: '0xother' }), targets: ['0xother'] }],
    ['of another account than it was built for', { ...approval, signer: '0xsomebody' }],
    ['by another call than approve', withAction({ kind: 'unsupported-approval' })],
    ['that is none', withAction(null)],
  ])('%s is refused', async (_, other) => {
    read = other
    await expect(send()).rejects.toMatchObject({ code: 'RAW_TX_INVALID' })
    expect(sent).toBe(0)
  })
})
