import { formatEther, type Hex, parseEther, parseUnits } from 'viem'
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from 'viem/accounts'
import { createExternalWallet } from '../../sandbox/src/bitcoin/addresses.ts'
import type { Json } from '../support/until.ts'
import type { Client } from './client.ts'
import type { Fleet } from './fleet.ts'
import { moneroPlace } from './monero.ts'
import type { Random } from './random.ts'

/** One payment of a customer, as the customer's own wallet knows it. */
export type Payment = Readonly<{
  network: string
  hash: string
  /** Base units that really moved: none where the customer lies. */
  units: bigint
  /** The wallet offers it again where no node has it any more; null = it cannot. */
  raw: string | null
  payer: Hex | null
}>

export type Purchase = Readonly<{
  id: string
  partner: string
  from: string
  to: string
  /** Two legs: the intermediary's payment is the app's own, and no customer sees it. */
  isPrivate: boolean
  depositAddress: string
  recipient: string
  refund: string
  payments: Payment[]
}>

export type PrivateType = 'efficient' | 'privatePlus'
export type Order = Readonly<{
  from: string
  to: string
  amount: string
  flow?: 'standard' | 'fixed-rate'
  privateType?: PrivateType
  /** Amounts that are paid, if not once what was asked for. */
  pays?: readonly string[]
}>

export type Customers = Readonly<{
  purchases: readonly Purchase[]
  order(order: Order): Promise<Purchase>
  pay(purchase: Purchase, amount: string): Promise<Payment>
  /** Creates and pays. */
  buy(order: Order): Promise<Purchase>
  /** Wallets rebroadcast what they see in no block: what reorganisations threw away. */
  offerAgain(): Promise<void>
}>

const DECIMALS: Readonly<Record<string, number>> = {
  'btc@btc': 8,
  'ltc@ltc': 8,
  'eth@eth': 18,
  'usdt@eth': 6,
  'xmr@xmr': 12,
}
export const decimalsOf = (currency: string): number => DECIMALS[currency] ?? 18
/** That a partner takes one after the other while the app is being killed. */
const FRESH_QUOTES = 5
/** In a storm one reorganisation follows another. */
const GIFTS_MAX = 5
const GAS = 21_000n
const GWEI = 1_000_000_000n

export function createCustomers(fleet: Fleet, client: Client, partner = 'sandbox'): Customers {
  const purchases: Purchase[] = []
  const { cluster } = fleet

  async function order({ from, to, amount, flow = 'standard', privateType }: Order): Promise<Purchase> {
    const [source = '', fromNetwork = ''] = from.split('@')
    const [target = '', toNetwork = ''] = to.split('@')
    const pair = { fromCurrency: source, fromNetwork, toCurrency: target, toNetwork }
    const [recipient, refund] = [await wallet(cluster, toNetwork), await wallet(cluster, fromNetwork)]
    const create = async () => {
      const rateId = flow === 'fixed-rate' ? { rateId: await quote(client, pair, amount) } : {}
      const requested = { ...pair, fromAmount: amount, address: recipient, refundAddress: refund, ...rateId }
      if (privateType !== undefined)
        return client.call('POST', '/v1/cross-chain/exchange/private', { ...requested, privateType })
      return client.call('POST', '/v1/cross-chain/exchange', { ...requested, flow })
    }
    let reply = await create()
    // No answer for a minute: the partner takes a fresh quote, as the error says.
    for (let left = FRESH_QUOTES; left > 0 && reply.body?.code === 'RATE_ID_EXPIRED'; left--) reply = await create()
    if (reply.status !== 201) throw new Error(`no exchange: ${reply.status} ${reply.text}`)
    const purchase = {
      id: reply.body.id,
      partner,
      from,
      to,
      isPrivate: privateType !== undefined,
      depositAddress: reply.body.request.depositAddress,
      recipient,
      refund,
      payments: [],
    }
    purchases.push(purchase)
    return purchase
  }

  async function pay(purchase: Purchase, amount: string): Promise<Payment> {
    const [currency = '', network = ''] = purchase.from.split('@')
    const units = parseUnits(amount, decimalsOf(purchase.from))
    const payment =
      purchase.from === 'eth@eth'
        ? await payEther(fleet, purchase.depositAddress, units)
        : {
            network,
            units,
            raw: null,
            payer: null,
            hash: (await cluster.control('/deposits', { network, currency, address: purchase.depositAddress, amount }))
              .hash as string,
          }
    purchase.payments.push(payment)
    return payment
  }

  return {
    purchases,
    order,
    pay,
    async buy(requested) {
      const purchase = await order(requested)
      for (const amount of requested.pays ?? [requested.amount]) await pay(purchase, amount)
      return purchase
    },
    async offerAgain() {
      for (const payment of purchases.flatMap((purchase) => purchase.payments))
        if (payment.raw !== null) await offer(fleet, payment)
    },
  }
}

async function quote(client: Client, pair: Readonly<Record<string, string>>, amount: string): Promise<string> {
  const reply = await client.call(
    'GET',
    `/v1/cross-chain/rate?${new URLSearchParams({ ...pair, amount, flow: 'fixed-rate' })}`,
  )
  if (reply.status !== 200 || !reply.body.rateId) throw new Error(`no rate: ${reply.status} ${reply.text}`)
  return reply.body.rateId
}

/** The least that a pair takes now, as any quote says. */
export async function leastOf(client: Client, from: string, to: string): Promise<number> {
  const [[fromCurrency = '', fromNetwork = ''], [toCurrency = '', toNetwork = '']] = [from.split('@'), to.split('@')]
  const reply = await client.call(
    'GET',
    `/v1/cross-chain/rate?${new URLSearchParams({ fromCurrency, fromNetwork, toCurrency, toNetwork, amount: '1', flow: 'standard' })}`,
  )
  return reply.body.min
}

async function wallet(cluster: Fleet['cluster'], network: string): Promise<string> {
  if (network === 'xmr') return (await cluster.control('/wallets', { network })).address
  if (network === 'btc' || network === 'ltc') return createExternalWallet(network).address ?? ''
  return privateKeyToAddress(generatePrivateKey())
}

async function payEther({ cluster }: Fleet, to: string, units: bigint): Promise<Payment> {
  const account = privateKeyToAccount(generatePrivateKey())
  const { chainId = 0 } = cluster.chains.networks.find(({ network }) => network === 'eth') ?? {}
  const raw = await account.signTransaction({
    type: 'eip1559',
    chainId,
    nonce: 0,
    gas: GAS,
    maxFeePerGas: 20n * GWEI,
    maxPriorityFeePerGas: GWEI,
    to: to as Hex,
    value: units,
  })
  const hash = await send(cluster, { address: account.address, units, raw })
  return { network: 'eth', hash, units, raw, payer: account.address }
}

/** A reorganisation may remove a wallet's funding, which is then repeated. */
async function send(
  cluster: Fleet['cluster'],
  { address, units, raw }: { address: Hex; units: bigint; raw: Hex },
): Promise<string> {
  for (let left = GIFTS_MAX; ; left--) {
    await giveEther(cluster, address, units)
    try {
      return await cluster.call('eth', 'eth_sendRawTransaction', [raw])
    } catch (error) {
      if (left === 0 || !String(error).includes('Insufficient funds')) throw error
    }
  }
}

async function giveEther(cluster: Fleet['cluster'], address: Hex, units: bigint): Promise<void> {
  await cluster.call('eth', 'anvil_setBalance', [address, `0x${(units + GAS * 20n * GWEI).toString(16)}`])
}

/** Nothing where it is in a block, or in the pool. */
async function offer({ cluster }: Fleet, { network, hash, raw, payer, units }: Payment): Promise<void> {
  if ((await cluster.call(network, 'eth_getTransactionByHash', [hash])) !== null) return
  if (payer !== null) await giveEther(cluster, payer, units)
  // Taken meanwhile, or refused while a reorganisation runs: the next look tells.
  await cluster.call(network, 'eth_sendRawTransaction', [raw]).catch(() => undefined)
}

/** A purchase as they come: mostly plain ones, both ways; private ones of the types that are on offer. */
export function anyOrder(leastEther: number, random: Random, types: readonly PrivateType[]): Order {
  const bitcoin = (random.draw(200, 900) / 100_000).toString()
  const ether = formatEther(parseEther((random.draw(50, 240) / 1000).toString()))
  const kinds: readonly (() => Order)[] = [
    () => ({ from: 'btc@btc', to: 'eth@eth', amount: bitcoin }),
    () => ({ from: 'eth@eth', to: 'btc@btc', amount: ether }),
    () => ({ from: 'btc@btc', to: 'usdt@eth', amount: bitcoin }),
    () => ({ from: 'eth@eth', to: 'btc@btc', amount: ether, flow: 'fixed-rate' }),
    () => ({ from: 'btc@btc', to: 'eth@eth', amount: bitcoin, pays: [bitcoin, '0.0031'] }),
    // Too little: it goes back.
    () => ({ from: 'eth@eth', to: 'btc@btc', amount: ether, pays: [(leastEther * 0.9).toFixed(12)] }),
    () => ({ from: 'btc@btc', to: 'eth@eth', amount: bitcoin, privateType: 'efficient' }),
    () => ({ from: 'eth@eth', to: 'btc@btc', amount: ether, privateType: 'efficient' }),
    () => ({ from: 'btc@btc', to: 'eth@eth', amount: bitcoin, privateType: 'privatePlus' }),
    () => ({ from: 'eth@eth', to: 'btc@btc', amount: ether, privateType: 'privatePlus' }),
  ]
  const privates = { efficient: [6, 6, 7, 7], privatePlus: [8, 9] }
  const drawn = [0, 0, 0, 1, 1, 1, 2, 3, 4, 5, ...types.flatMap((type) => privates[type])]
  return random.oneOf(drawn.flatMap((n) => kinds[n] ?? []))()
}

/** Whether a payment stands in a block of the best chain now. */
export async function stands({ cluster }: Fleet, { network, hash }: Payment): Promise<boolean> {
  if (network === 'btc' || network === 'ltc') {
    const found: Json = await cluster.call(network, 'getrawtransaction', [hash, true]).catch(() => null)
    return (found?.confirmations ?? 0) > 0
  }
  if (network === 'xmr') return (await moneroPlace(cluster, hash)) === 'block'
  const receipt: Json = await cluster.call(network, 'eth_getTransactionReceipt', [hash])
  if (receipt === null) return false
  const block: Json = await cluster.call(network, 'eth_getBlockByNumber', [receipt.blockNumber, false])
  return block?.hash === receipt.blockHash && receipt.status === '0x1'
}

/** Whether it stands, or may come to: a node has it in its pool. */
export async function isAlive(fleet: Fleet, payment: Payment): Promise<boolean> {
  const { network, hash } = payment
  if (network === 'xmr') return (await moneroPlace(fleet.cluster, hash)) !== null
  if (network !== 'btc' && network !== 'ltc')
    return (await fleet.cluster.call(network, 'eth_getTransactionByHash', [hash])) !== null
  return (await stands(fleet, payment)) || (await fleet.cluster.call(network, 'getrawmempool')).includes(hash)
}
