import { formatEther, parseEther } from 'viem'
import type { Random } from '../support/random.ts'
import type { Client } from './client.ts'
import type { Order, PrivateType } from './customers.ts'
import { toQuery } from './partner.ts'

/** Draws an order: mostly standard exchanges in both directions, deposits of other amounts, and private exchanges on offer. */
export function drawOrder(minimumEther: number, random: Random, types: readonly PrivateType[]): Order {
  const bitcoin = (random.draw(200, 900) / 100_000).toString()
  const ether = formatEther(parseEther((random.draw(50, 240) / 1000).toString()))
  const perMille = (share: bigint) => [formatEther((parseEther(ether) * share) / 1_000n)]
  const fixed = { from: 'eth@eth', to: 'btc@btc', amount: ether, flow: 'fixed-rate' } as const
  const orders: readonly (() => Order)[] = [
    () => ({ from: 'btc@btc', to: 'eth@eth', amount: bitcoin }),
    () => ({ from: 'eth@eth', to: 'btc@btc', amount: ether }),
    () => ({ from: 'btc@btc', to: 'usdt@eth', amount: bitcoin }),
    () => fixed,
    () => ({ from: 'btc@btc', to: 'eth@eth', amount: bitcoin, paidAmounts: [bitcoin, '0.0031'] }),
    // Below the minimum: refunded.
    () => ({ from: 'eth@eth', to: 'btc@btc', amount: ether, paidAmounts: [(minimumEther * 0.9).toFixed(12)] }),
    // Within the tolerance of a fixed rate, above it and below it.
    () => ({ ...fixed, paidAmounts: perMille(random.oneOf([1_005n, 1_050n, 970n])) }),
    () => ({ from: 'btc@btc', to: 'eth@eth', amount: bitcoin, privateType: 'efficient' }),
    () => ({ from: 'eth@eth', to: 'btc@btc', amount: ether, privateType: 'efficient' }),
    () => ({ from: 'btc@btc', to: 'eth@eth', amount: bitcoin, privateType: 'privatePlus' }),
    () => ({ from: 'eth@eth', to: 'btc@btc', amount: ether, privateType: 'privatePlus' }),
    () => ({ from: 'eth@eth', to: 'btc@btc', amount: ether, creditsPartner: true }),
  ]
  const privates = { efficient: [7, 7, 8, 8], privatePlus: [9, 10] }
  const weighted = [0, 0, 0, 1, 1, 1, 2, 3, 4, 5, 6, 11, ...types.flatMap((type) => privates[type])]
  return random.oneOf(weighted.flatMap((n) => orders[n] ?? []))()
}

/**
 * Draws what an adversary orders and does: it never pays, pays in parts, pays dust or a test payment first, pays three times a
 * fixed amount, uses a rateId twice, replaces its unconfirmed payment of ether or bitcoin, or cancels and pays all the same, some of it
 * by private exchanges on offer.
 */
export function drawAdversary(minimumEther: number, random: Random, types: readonly PrivateType[]): Order {
  const bitcoin = (random.draw(200, 900) / 100_000).toString()
  const ether = formatEther(parseEther((random.draw(100, 240) / 1000).toString()))
  const perMille = (...shares: bigint[]) => shares.map((share) => formatEther((parseEther(ether) * share) / 1_000n))
  const sold = { from: 'eth@eth', to: 'btc@btc', amount: ether } as const
  const fixed = { ...sold, flow: 'fixed-rate' } as const
  const soldBitcoin = { from: 'btc@btc', to: 'eth@eth', amount: bitcoin } as const
  const fixedBitcoin = { ...soldBitcoin, flow: 'fixed-rate' } as const
  const privately = types.flatMap((privateType): Order[] => [
    { ...sold, privateType, paidAmounts: [DUST_ETHER, ether] },
    { ...sold, privateType, paidAmounts: perMille(500n, 500n) },
    { ...sold, privateType, cancels: 'after paying' },
    { ...soldBitcoin, privateType, replacesPayment: true },
  ])
  return random.oneOf<Order>([
    { ...fixed, paidAmounts: [] },
    { ...sold, paidAmounts: perMille(250n, 250n, 250n, 250n) },
    { ...fixed, paidAmounts: [DUST_ETHER, ether] },
    { ...fixed, paidAmounts: [(minimumEther * 0.9).toFixed(12), ether] },
    { ...fixed, paidAmounts: perMille(3_000n) },
    { ...fixed, repeatsRateId: true },
    { ...sold, replacesPayment: true },
    { ...fixed, replacesPayment: true },
    { ...soldBitcoin, replacesPayment: true },
    { ...fixedBitcoin, replacesPayment: true },
    { ...fixed, cancels: 'before paying' },
    { ...soldBitcoin, cancels: 'before paying' },
    { ...sold, cancels: 'after paying' },
    { ...fixedBitcoin, cancels: 'after paying' },
    ...privately,
  ])
}

/** Less than the network fee of its own refund. */
export const DUST_ETHER = '0.0000001'

/** The current minimum amount of a pair, which every quote contains. */
export async function readMinimum({ call }: Client, from: string, to: string): Promise<number> {
  const query = new URLSearchParams({ ...toQuery({ from, to }), amount: '1', flow: 'standard' })
  const { status, body, text } = await call('GET', `/v1/cross-chain/rate?${query}`)
  if (status !== 200) throw new Error(`no minimum: ${status} ${text}`)
  return body.min
}
