import { randomUUID } from 'node:crypto'
import { type ExchangeView, statusReasons } from '../../../server/src/exchange/domain/exchange.ts'
import { makeAsset, makeView } from '../../../server/src/exchange/domain/tracked-exchange.fixture.ts'

/* Every state that the page can show, as the store returns it. */

const usdt = makeAsset('usdt', 'eth', 6, '0xdAC17F958D2ee523a2206206994597C13D831ec7')
const eth = makeAsset('eth', 'eth', 18)
const btc = makeAsset('btc', 'btc', 8)
const xrp = makeAsset('xrp', 'xrp', 6)

const HOUR_MS = 3_600_000
export const payinHash = 'f4184fc596403b9d638783cf57adfe4c75c605f6356fbc91338530e9831e9e16'
export const payoutHash = `0x${'cc'.repeat(32)}`
export const between = 'bb'.repeat(32)
export const refundAddress = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'

type Change = Parameters<typeof makeView>[0]
type Executions = NonNullable<Parameters<typeof makeView>[1]>

/** Like `makeView`, created at `now`, with an id of its own. */
function at(now: number, change: Change, executions: Executions = []): ExchangeView {
  const createdAt = new Date(now - 60_000)
  return makeView(
    { id: randomUUID(), createdAt, expiresAt: new Date(now + 23 * HOUR_MS), ...change },
    executions.map((one) => ({ createdAt, payinHash, ...one })),
  )
}

const refund = { assetId: btc.id, units: 990_000n, address: refundAddress, memo: null, txHash: payinHash }
const held = { status: 'verifying', reason: 'REFUND_ADDRESS_REQUIRED' } as const
const legs = [{ from: btc, to: xrp } as const, { from: xrp, to: eth } as const]

/** The states by name. */
export function createStates(now = Date.now()): Readonly<Record<string, ExchangeView>> {
  const fixed = { flow: 'fixed-rate', fixedUntil: new Date(now + 1_190_000) } as const
  const toPayout = { payoutHash, sentUnits: 198n * 10n ** 15n }
  return {
    pending: at(now, {}),
    'pending, fixed rate': at(now, fixed),
    'pending, fixed rate over': at(now, { ...fixed, fixedUntil: new Date(now - 1_000) }),
    'pending, token': at(now, {
      legs: [{ from: usdt, to: btc }],
      fromUnits: 250_500_000n,
      toUnits: 380_000n,
      deposit: { address: '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045', memo: null },
      recipient: { address: refundAddress, memo: null },
    }),
    'pending, memo': at(now, {
      legs: [{ from: xrp, to: eth }],
      fromUnits: 100_000_000n,
      deposit: { address: 'rN7n7otQDd6FczFgLdSqtcsAUxDkw6fzRH', memo: '48213377' },
    }),
    'pending, payment left the chain': at(now, {}, [{ status: 'pending' }]),
    'pending, expired': at(now, { expiresAt: new Date(now - 1_000) }),
    'confirming, unconfirmed': at(now, { status: 'confirming' }),
    confirming: at(now, { status: 'confirming' }, [{}]),
    exchanging: at(now, { status: 'exchanging' }, [{ status: 'exchanging' }]),
    sending: at(now, { status: 'sending' }, [{ status: 'sending', ...toPayout }]),
    finished: at(now, { status: 'finished' }, [{ status: 'finished', ...toPayout }]),
    'finished, credited': at(now, { status: 'finished', recipient: null }, [{ status: 'finished', sentUnits: 198n }]),
    'refund address required': at(now, held, [held]),
    'refund address required, memo': at(
      now,
      {
        ...held,
        legs: [{ from: xrp, to: eth }],
        deposit: { address: 'rN7n7otQDd6FczFgLdSqtcsAUxDkw6fzRH', memo: '1' },
      },
      [held],
    ),
    'refund address required after the end': at(now, { status: 'failed', reason: 'EXPIRED' }, [held]),
    refunding: at(now, { status: 'refunding', reason: 'BELOW_MIN' }, [
      { status: 'refunding', reason: 'BELOW_MIN', refund: { ...refund, txHash: null } },
    ]),
    refunded: at(now, { status: 'refunded', reason: 'ABOVE_MAX' }, [
      { status: 'refunded', reason: 'ABOVE_MAX', refund, payoutHash: payinHash },
    ]),
    'refunded, another currency': at(now, { status: 'refunded', reason: 'WRONG_ASSET' }, [
      {
        status: 'refunded',
        reason: 'WRONG_ASSET',
        receivedUnits: null,
        refund: {
          ...refund,
          assetId: usdt.id,
          units: 5_000_000n,
          address: '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045',
        },
      },
    ]),
    ...Object.fromEntries(
      (['EXPIRED', 'CANCELLED', 'DUST', 'NOT_RECEIVED', 'DEPOSIT_VANISHED', 'OPERATOR'] as const).map((reason) => [
        `failed, ${reason}`,
        at(
          now,
          { status: 'failed', reason },
          reason === 'EXPIRED' || reason === 'CANCELLED' ? [] : [{ status: 'failed', reason }],
        ),
      ]),
    ),
    ...Object.fromEntries(
      statusReasons.map((reason) => [
        `verifying, ${reason}`,
        at(now, { status: 'verifying', reason, refund: { address: refundAddress, memo: null } }, [
          { status: 'verifying', reason },
        ]),
      ]),
    ),
    'private, exchanging': at(now, { type: 'private', legs, status: 'confirming' }, [
      { status: 'finished', payoutHash: between, sentUnits: 77_777n },
      { leg: 1, status: 'confirming', payinHash: between },
    ]),
    'private, finished': at(now, { type: 'private', legs, status: 'finished' }, [
      { status: 'finished', payoutHash: between, sentUnits: 77_777n },
      { leg: 1, status: 'finished', payinHash: between, ...toPayout },
    ]),
    'several deposits': at(now, { status: 'finished' }, [
      { status: 'finished', ...toPayout },
      { status: 'refunded', reason: 'BELOW_MIN', receivedUnits: 1_000n, payinHash: 'dd'.repeat(32), refund },
      { status: 'confirming', payinHash: 'ee'.repeat(32) },
    ]),
    'late deposit': at(now, { status: 'refunding', reason: 'LATE_DEPOSIT' }, [
      { status: 'refunding', reason: 'LATE_DEPOSIT', refund },
    ]),
  }
}
