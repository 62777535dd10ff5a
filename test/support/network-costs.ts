import { costIn } from './published-prices.ts'

/*
 * The network costs that a quote must state, from the fee rates that the sandbox gives its chains and the sizes that
 * docs/lifecycle.md ("Network costs") publishes. Nothing here may come from the server or from what it quotes.
 */

/** In units of the network's coin: what one payment costs, and a deposit before it can pay out. */
type Costs = Readonly<{ coin: string; payment: bigint; deposit: bigint }>

const GWEI = 10n ** 9n
/** Of eth: the base fee that the sandbox gives every block, and the tip of its customers. */
const [BASE_FEE, TIP] = [2n * GWEI, GWEI]
/** A payment is also sent if the base fee doubles; a sweep if it rises by a quarter. */
const [PAYMENT_RATE, SWEEP_RATE] = [2n * BASE_FEE + TIP, (5n * BASE_FEE) / 4n + TIP]
/** A transfer of the coin takes 21 000 gas (Yellow Paper, appendix G), one of a token about 65 000. 20 % more. */
const [COIN_GAS, TOKEN_GAS] = [25_200n, 78_000n]
/** Units per virtual byte: the sandbox's btc states no estimate, so ten times the fee that it relays. */
const BITCOIN_RATE = 10n
/** On ltc, where the proxy of a fleet states it (`FIXED_ESTIMATE` of test/chaos/rpc-proxy.ts). */
const ESTIMATED_RATE = 12n
/** BIP-141, P2WPKH with the longest signature: a transaction with two inputs and two outputs, and one more input. */
const [PAYMENT_SIZE, INPUT_SIZE] = [209n, 68n]
/** Bytes of weight: a transaction with two inputs and two outputs, and one more input. */
const [MONERO_PAYMENT, MONERO_INPUT] = [2_900n, 750n]

/**
 * Piconeros per byte of weight. monerod demands reward × 3000 ÷ 300 000² (get_dynamic_base_fee_estimate_2021_scaling of its
 * blockchain.cpp) and rounds up to two digits. The first rewards of a chain are the supply of 2^64 - 1 units, shifted by 19 bits (blocks of
 * two minutes). The blocks of a test change it too little for other digits.
 */
const MONERO_RATE = roundUp(((((1n << 64n) - 1n) >> 19n) * 3_000n) / 300_000n ** 2n, 2)

/** The estimates of ltc depend on the payments of recent blocks, so that no rate is known in advance without a proxy. */
const ESTIMATED = 'ltc'
const COSTS: Readonly<Record<string, Costs>> = {
  'btc@btc': { coin: 'btc@btc', payment: PAYMENT_SIZE * BITCOIN_RATE, deposit: INPUT_SIZE * BITCOIN_RATE },
  'ltc@ltc': { coin: 'ltc@ltc', payment: PAYMENT_SIZE * ESTIMATED_RATE, deposit: INPUT_SIZE * ESTIMATED_RATE },
  'xmr@xmr': { coin: 'xmr@xmr', payment: MONERO_PAYMENT * MONERO_RATE, deposit: MONERO_INPUT * MONERO_RATE },
  'eth@eth': { coin: 'eth@eth', payment: COIN_GAS * PAYMENT_RATE, deposit: COIN_GAS * SWEEP_RATE },
  // The deposit of a token is swept, and its address is supplied with gas before.
  'usdt@eth': { coin: 'eth@eth', payment: TOKEN_GAS * PAYMENT_RATE, deposit: (COIN_GAS + TOKEN_GAS) * SWEEP_RATE },
}

/** What one payment of the currency costs, in its units; null = unknown. `fixedFees`: networks whose proxies state constant fee rates. */
export function paymentCost(currency: string, fixedFees: readonly string[] = []): bigint | null {
  const costs = costsOf(currency, fixedFees)
  return costs === null ? null : costIn(costs.coin, currency, costs.payment)
}

/** The costs of both sides of an exchange, in units of `to`; null = unknown. */
export function exchangeCost(from: string, to: string, fixedFees: readonly string[] = []): bigint | null {
  const [source, payment] = [costsOf(from, fixedFees), paymentCost(to, fixedFees)]
  return source === null || payment === null ? null : payment + costIn(source.coin, to, source.deposit)
}

function costsOf(currency: string, fixedFees: readonly string[]): Costs | null {
  const isUnknown = currency.endsWith(`@${ESTIMATED}`) && !fixedFees.includes(ESTIMATED)
  return isUnknown ? null : (COSTS[currency] ?? null)
}

/** Only the first digits stay. */
function roundUp(units: bigint, digits: number): bigint {
  const step = 10n ** BigInt(units.toString().length - digits)
  return ((units + step - 1n) / step) * step
}
