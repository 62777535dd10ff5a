import { type Asset, assetId } from '../../core/domain/asset.ts'
import type { Exchange, ExchangeView, ExecutionView } from './exchange.ts'

export const makeAsset = (
  ticker: string,
  network: string,
  decimals: number,
  contract: string | null = null,
): Asset => ({
  ...{ id: assetId(ticker, network), ticker, network, decimals, contract },
})
export const btc = makeAsset('btc', 'btc', 8)
export const eth = makeAsset('eth', 'eth', 18)
export const ltc = makeAsset('ltc', 'ltc', 8)

const createdAt = new Date('2026-01-02T03:04:05.006Z')

/** A floating exchange of 0.01 BTC for 0.198 ETH that waits for its deposit. */
export function makeView(
  change: Partial<Exchange> = {},
  executions: readonly Partial<ExecutionView>[] = [],
): ExchangeView {
  const exchange: Exchange = {
    id: '0198c5a2-7c1e-7b3a-9f0d-2f6f1c0a9b7e',
    partnerId: 'p1',
    type: 'standard',
    flow: 'standard',
    legs: [{ from: btc, to: eth }],
    fromUnits: 1_000_000n,
    toUnits: 198n * 10n ** 15n,
    estimate: { confirmations: 2, seconds: 1_800 },
    deposit: { address: 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080', memo: null },
    recipient: { address: '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045', memo: null },
    refund: null,
    status: 'pending',
    reason: null,
    createdAt,
    expiresAt: new Date(createdAt.getTime() + 86_400_000),
    fixedUntil: null,
    fixedInclusionMs: null,
    partnerFeeBps: 0,
    quotedFees: null,
    isCancelled: false,
    externalId: null,
    ...change,
  }
  return { exchange, executions: executions.map((one) => makeExecution(one)) }
}

function makeExecution(change: Partial<ExecutionView>): ExecutionView {
  return {
    leg: 0,
    status: 'confirming',
    reason: null,
    receivedUnits: 1_000_000n,
    sentUnits: null,
    payinHash: 'aa'.repeat(32),
    payoutHash: null,
    refund: null,
    createdAt,
    confirmations: { network: 'btc', height: 7, required: 2, seen: 1 },
    ...change,
  }
}
