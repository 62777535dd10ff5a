import { beforeEach, describe, expect, it, test } from 'vitest'
import type { Partner } from '../../core/domain/partner.ts'
import type { ScreeningSubject } from '../../core/ports/screening.ts'
import { createFeeAddresses, type FeeAddressesDeps } from '../fees/fee-addresses.ts'
import { swapDefaults } from '../interfaces.ts'
import type { SwapChain, SwapOrder } from '../ports/swap-chain.ts'
import { readFeeTerms } from '../quotes/fee-terms.ts'
import { screenTransaction } from '../send/send-approval.ts'
import { type BuildSwapDeps, createBuildSwap } from './build-swap.ts'
import { createRouteReliability } from './route-reliability.ts'
import { createSwapRefs } from './swap-refs.ts'

/* The accounts of a swap: who sends, who receives and who takes the fee. With scripted ports, because the checks make no call to a node. */

const [NATIVE, WETH, USDC, ROUTER] = ['0xn', '0xee', '0xdc', '0xr']
const partner = { id: 'p' } as Partner
let orders: SwapOrder[]
let screened: ScreeningSubject[]
beforeEach(() => {
  orders = []
  screened = []
})

const screening = {
  screen: async (subject: ScreeningSubject) => {
    screened.push(subject)
    return 'allow' as const
  },
}
const isAccount = (text: string) => text.startsWith('0x') && text !== NATIVE
const chain = {
  ...{ network: { id: 'eth', decimals: 18 }, native: NATIVE, wrapped: WETH, unitsMax: 2n ** 256n - 1n },
  ...{ aggregatorTaker: '0xy', paysOthers: true, ownContracts: new Set([ROUTER]), spender: ROUTER },
  parse: (text: string) => (text.startsWith('0x') ? text : null),
  parseAccount: (text: string) => (isAccount(text) ? text : null),
  formatAddress: (text: string) => text,
  chooseExpiry: async () => ({ by: 'time', at: 1 }),
  hashCall: () => '0xc',
  async prepare(order: SwapOrder) {
    orders.push(order)
    return { approve: null, swap: 'a swap', simulatedOut: 1_000_000n, simulations: [] }
  },
} as unknown as SwapChain

const pool = { kind: 'uniswap-v2', id: 'pool', dex: 'dex', tokens: [WETH, USDC] }
const routed = {
  ...{ block: { height: 7, hash: '0x7' }, amountOut: 1_000_000n, middleOut: 1_000_000n, gas: 1, millionGasOut: 0n },
  ...{ unlisted: [], swaps: [{ pool, tokenIn: 1, tokenOut: 0, amountIn: 1_000_000n, amountOut: 1_000_000n }] },
}
const deps = {
  networks: { getOpen: () => ({ chain, nativeIsToken: false }), get: () => ({ chain }) },
  findToken: async (_: unknown, address: string) =>
    address === '0x404' ? null : { network: 'eth', address, name: '', symbol: '', decimals: 6 },
  ...{ router: { route: async () => routed }, routes: createRouteReliability({ now: () => 0 }) },
  ...{ referenceOutOf: () => null, askAggregators: null, buildAggregatorCall: null, poolPauses: () => [] },
  ...{ log: { info: () => undefined }, refs: createSwapRefs(Buffer.from('a pepper')) },
  ...{ feeAccounts: { findAddress: async () => null }, isOwnAddress: async () => false, screening },
  withIdempotency: (_partner: unknown, _key: unknown, work: (keep: () => null) => unknown) => work(() => null),
  ...{ settings: swapDefaults, now: () => 0 },
} as unknown as BuildSwapDeps

const toNative = { fromTokenAddress: USDC, toTokenAddress: NATIVE, amount: '1', slippage: '1', referrerFee: '0' }
const build = (changes: object = {}) =>
  createBuildSwap(deps)(partner, { network: 'eth', account: '0xa', ...toNative, ...changes }, null)

describe('D10: the contract of the wrapped coin, which would credit our router', () => {
  it('is refused as the recipient of the native coin', async () => {
    const refused = { code: 'INVALID_ADDRESS', problems: [{ field: 'recipient' }] }
    await expect(build({ recipient: WETH })).rejects.toMatchObject(refused)
    expect(orders).toEqual([])
  })

  it('is refused as the fee address that a partner sets', async () => {
    const { setFeeAddress } = createFeeAddresses({
      ...(deps as unknown as FeeAddressesDeps),
      feeAccounts: { requestAddress: async () => 'done', listAddresses: async () => [] },
    })
    const caller = { partner, keyId: 'k' } as unknown as Parameters<typeof setFeeAddress>[0]
    const refused = { code: 'INVALID_ADDRESS', problems: [{ field: 'address' }] }
    await expect(setFeeAddress(caller, { network: 'eth', address: WETH }, null)).rejects.toMatchObject(refused)
  })

  it('takes no fee, if it was set before', async () => {
    for (const [own, operator] of [
      [WETH, '0xf'],
      [null, WETH],
    ] as const) {
      const settings = { feeAddresses: new Map([['eth', operator]]) }
      const terms = readFeeTerms({ feeAccounts: { findAddress: async () => own }, settings }, partner, chain, 10_000)
      await expect(terms).rejects.toMatchObject({ code: 'REFERRER_FEE_OUT_OF_RANGE' })
    }
  })
})

test('a build reports all problems of a request at once, its accounts included', async () => {
  const request = { account: 'no address', recipient: ROUTER, fromTokenAddress: '0x404', amount: '-1', slippage: '60' }
  const error = await build(request).catch((one: unknown) => one)
  const fields = (error as { problems: { code: string; field: string }[] }).problems.map(
    ({ code, field }) => `${code} ${field}`,
  )
  expect(fields).toEqual([
    'INVALID_ADDRESS account',
    'INVALID_ADDRESS recipient',
    'TOKEN_NOT_FOUND fromTokenAddress',
    'AMOUNT_MALFORMED amount',
    'SLIPPAGE_OUT_OF_RANGE slippage',
  ])
  // Nothing is screened for a request that is refused anyway.
  expect(screened).toEqual([])
})

test('the screening is asked about the sender as such, and about the recipient as such', async () => {
  expect(await build({ recipient: '0xb' })).toEqual(['a swap'])
  await screenTransaction(screening, chain, {
    ...{ hash: '0x1', signer: '0xa', nonce: 1, targets: [ROUTER, '0xb'], recentBlock: null, action: null },
  })
  const both = [
    { network: 'eth', address: '0xa', direction: 'sender' },
    { network: 'eth', address: '0xb', direction: 'recipient' },
  ]
  expect(screened).toEqual([...both, ...both])
})
