import { nativeAddress } from '../../../src/adapters/chains/evm/native-coin.ts'
import { AppError } from '../../../src/core/domain/errors.ts'
import { parsePercent } from '../../../src/core/domain/percent.ts'
import { type Swap, swapNetworks } from '../../../src/swap/domain/swap.ts'
import type { Token } from '../../../src/swap/domain/token.ts'
import type { SwapListFilter, SwapServices, TokenView } from '../../../src/swap/interfaces.ts'

const NATIVE = '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE'
const ADDRESS = /^0x[0-9a-fA-F]{40}$/
const nativeToken: Token = { network: 'eth', address: NATIVE, name: 'Ethereum', symbol: 'ETH', decimals: 18 }
export const usdcToken: Token = {
  ...{ network: 'eth', name: 'USD Coin', symbol: 'USDC', decimals: 6 },
  address: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
}
const tokens: readonly TokenView[] = [nativeToken, usdcToken].map((token) => ({ token, enabled: true, icon: null }))
const HASH = `0x${'ab'.repeat(32)}`

export type SwapsInMemory = SwapServices & { rows: Swap[] }

/** The swap half over arrays, with one network and two tokens, for tests of the HTTP layer. */
export function createSwapsInMemory(): SwapsInMemory {
  const rows: Swap[] = []
  return {
    rows,
    listNetworks: () => swapNetworks.map((network) => ({ network, chainId: 1, enabled: network === 'eth' })),
    listTokens: (network) => {
      checkNetwork(network)
      return tokens
    },
    readToken: async (network, address) => {
      checkNetwork(network)
      return find(address, 'address')
    },
    quoteSwap: async (_partner, request) => {
      checkNetwork(request.network)
      const from = find(request.fromTokenAddress, 'fromTokenAddress').token
      const to = find(request.toTokenAddress, 'toTokenAddress').token
      if (from === to) throw new AppError('SAME_CURRENCY', 'both tokens are the same', { field: 'toTokenAddress' })
      const slippage = parsePercent(request.slippage)
      if (slippage === null || slippage < 100 || slippage > 500_000)
        throw new AppError('SLIPPAGE_OUT_OF_RANGE', 'slippage must be 0.01 to 50', { field: 'slippage' })
      const fee = parsePercent(request.referrerFee)
      if (fee === null || fee > 50_000)
        throw new AppError('REFERRER_FEE_OUT_OF_RANGE', 'referrerFee must be 0 to 5', { field: 'referrerFee' })
      return {
        ...{ from, to, amountIn: 1_500_000n, amountOut: 3_000_000n, fee: 9_000n, received: 2_991_000n },
        ...{
          minReceived: 2_900_000n,
          remainders: [],
          aggregatorQuotes: null,
          provider: null,
          fromUsd: null,
          toUsd: 3n * 10n ** 12n,
          impactPpm: -12n,
          routes: [],
        },
        ...{ block: { height: 7, hash: HASH }, expiresAt: new Date(), formatAddress: (address) => address },
      }
    },
    buildSwap: async (_partner, request) => {
      checkNetwork(request.network)
      find(request.account === nativeToken.address ? '' : request.fromTokenAddress, 'account')
      return ['0x02c0']
    },
    sendApproval: async (_partner, { network, rawApproveTx }) => {
      checkNetwork(network)
      return hashOf(rawApproveTx)
    },
    sendSwap: async (_partner, { network, rawTx, hash }) => {
      checkNetwork(network)
      if (rawTx === undefined && hash === undefined)
        throw new AppError('VALIDATION_ERROR', 'rawTx is required', { field: 'rawTx' })
      return hashOf(rawTx ?? hash ?? '')
    },
    listFeeAddresses: async () => [{ network: 'eth', address: usdcToken.address, next: null }],
    setFeeAddress: async (_caller, { network, address }) => {
      checkNetwork(network)
      if (!ADDRESS.test(address)) throw new AppError('INVALID_ADDRESS', 'not an address', { field: 'address' })
      return { network, address, next: null }
    },
    findSwap: async (partner, { id, hash }) => {
      const swap = rows.find((row) => row.partnerId === partner.id && (row.id === id || row.hash === hash))
      return swap === undefined ? null : { swap, formatAddress: (address: string) => address }
    },
    listSwaps: async (partner, filter, page) => {
      const matching = rows.filter((row) => row.partnerId === partner.id && matches(row, filter))
      const shown = page === null ? matching : matching.slice((page.page - 1) * page.limit, page.page * page.limit)
      const views = shown.map((swap) => ({ swap, formatAddress: (address: string) => address }))
      return {
        total: matching.length,
        rows: (async function* () {
          yield* views
        })(),
      }
    },
  }
}

function matches(row: Swap, { status, network, fromTokenAddress, hash, account }: SwapListFilter): boolean {
  return (
    (status === undefined || row.status === status) &&
    (network === undefined || row.network === network) &&
    (hash === undefined || row.hash === hash) &&
    (account === undefined || row.sender === account) &&
    (fromTokenAddress === undefined || row.from.token === fromTokenAddress)
  )
}

function checkNetwork(network: string): void {
  if (network.toLowerCase() === 'eth') return
  const isKnown = swapNetworks.some((ticker) => ticker === network)
  throw new AppError(isKnown ? 'NETWORK_NOT_SERVED' : 'NETWORK_NOT_FOUND', 'not here', { field: 'network' })
}

function find(address: string, field: string): TokenView {
  if (!ADDRESS.test(address)) throw new AppError('INVALID_ADDRESS', 'not an address', { field })
  const canonical = address.toLowerCase() === nativeAddress ? NATIVE.toLowerCase() : address.toLowerCase()
  const view = tokens.find(({ token }) => token.address.toLowerCase() === canonical)
  if (view === undefined) throw new AppError('TOKEN_NOT_FOUND', 'there is no token', { field })
  return view
}

function hashOf(raw: string): string {
  if (!/^0x[0-9a-f]+$/.test(raw)) throw new AppError('RAW_TX_INVALID', 'not a transaction', { field: 'rawTx' })
  return HASH
}
