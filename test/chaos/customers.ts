import { type Hex, parseUnits } from 'viem'
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from 'viem/accounts'
import { createExternalWallet } from '../../sandbox/src/bitcoin/addresses.ts'
import { nullIfRefused } from '../support/node-refusal.ts'
import { decimalsOf } from '../support/published-prices.ts'
import type { Json } from '../support/until.ts'
import type { Client } from './client.ts'
import type { Published, Terms } from './dues.ts'
import type { Fleet } from './fleet.ts'
import { locateMoneroTransaction } from './monero.ts'
import { createPartner, type Pair } from './partner.ts'
import { payAndReplaceBitcoin } from './replaced-bitcoin.ts'

/** One payment in the records of the customer's own wallet. */
export type Payment = Readonly<{
  network: string
  hash: string
  /** Base units that were transferred: 0 for a fake transfer event. */
  units: bigint
  /** The signed transaction, which the wallet rebroadcasts if no node has it; null = it cannot. */
  raw: string | null
  payer: Hex | null
}>

export type Purchase = Readonly<{
  id: string
  partner: string
  from: string
  to: string
  /** What the create confirmed. A private exchange has two legs; the app's payment between them is not in `payments`. */
  terms: Terms
  depositAddress: string
  /** null = the proceeds are credited to the partner. */
  recipient: string | null
  refund: string
  payments: Payment[]
}> & {
  /** The answer of a cancel said so: each payment is due back. */
  isCancelled?: boolean
}

export type PrivateType = 'efficient' | 'privatePlus'
export type Order = Readonly<{
  from: string
  to: string
  amount: string
  flow?: 'standard' | 'fixed-rate'
  privateType?: PrivateType
  /** The amounts to pay, one payment each. Default: the ordered amount. Empty: the customer never pays. */
  paidAmounts?: readonly string[]
  /** Names no recipient, so that the proceeds are credited to the partner. */
  creditsPartner?: boolean
  /** Sends the create of a fixed rate again, for a second exchange with the same rateId. */
  repeatsRateId?: boolean
  /** Replaces each unconfirmed payment, of ether or bitcoin, by one of a higher fee to the customer's own address. */
  replacesPayment?: boolean
  /** Cancels the exchange and pays it all the same. */
  cancels?: 'before paying' | 'after paying'
}>

export type Customers = Readonly<{
  purchases: readonly Purchase[]
  published: Published
  /** Quotes and creates that state another amount than the customers' own arithmetic. Must be empty. */
  disputes(): readonly string[]
  /** The customer double-spends a payment for which the app may have paid already. */
  noteDoubleSpend(payment: Payment): void
  isDoubleSpent(payment: Payment): boolean
  order(order: Order): Promise<Purchase>
  pay(purchase: Purchase, amount: string): Promise<Payment>
  /** Orders and pays. */
  buy(order: Order): Promise<Purchase>
  /** Rebroadcasts payments that reorganisations removed, as wallets do. */
  rebroadcast(): Promise<void>
}>

/** New quotes that a partner requests for one order, because processes are killed while a quote is valid. */
const FRESH_QUOTES = 5
/** How often the funding of a wallet is repeated after reorganisations. */
const FUNDINGS_MAX = 5
const GAS = 21_000n
const GWEI = 1_000_000_000n

export function createCustomers(fleet: Fleet, client: Client, partner = 'sandbox'): Customers {
  const purchases: Purchase[] = []
  const doubleSpent = new Set<Payment>()
  const disputes: string[] = []
  const { cluster } = fleet
  const quotes = createPartner(client, cluster, fleet.fixedFees)

  async function order(requested: Order): Promise<Purchase> {
    const { from, to, amount, flow = 'standard', privateType, repeatsRateId, creditsPartner = false } = requested
    const pair: Pair = { from, to, flow, privateType: privateType ?? null }
    const [recipient, refund] = [
      creditsPartner ? null : await createAddress(cluster, networkOf(to)),
      await createAddress(cluster, networkOf(from)),
    ]
    const addresses = { fromAmount: amount, address: recipient ?? undefined, refundAddress: refund }
    const create = async () => {
      const quote = await quotes.requestQuote(pair, amount)
      return { quote, reply: await quotes.create(pair, addresses, quote) }
    }
    let created = await create()
    // If the reply took longer than the quote is valid, the partner requests a new quote, as the error message says.
    for (let left = FRESH_QUOTES; left > 0 && created.reply.body?.code === 'RATE_ID_EXPIRED'; left--)
      created = await create()
    const { quote, reply } = created
    if (reply.status !== 201) throw new Error(`no exchange: ${reply.status} ${reply.text}`)
    if (repeatsRateId) {
      const repeated = await quotes.create(pair, addresses, quote)
      if (repeated.status === 201)
        disputes.push(`one rateId made the exchanges ${reply.body.id} and ${repeated.body.id}`)
    }
    const { id, request } = reply.body
    const purchase: Purchase = {
      id,
      partner,
      from,
      to,
      terms: quotes.readTerms(pair, addresses, quote, reply.body),
      depositAddress: request.depositAddress,
      recipient,
      refund,
      payments: [],
    }
    purchases.push(purchase)
    return purchase
  }

  async function pay(purchase: Purchase, amount: string, isReplaced = false): Promise<Payment> {
    const { from, depositAddress: address } = purchase
    const [currency = '', network = ''] = from.split('@')
    const units = parseUnits(amount, decimalsOf(from))
    const fromBank = async (): Promise<Payment> => {
      const { hash } = await cluster.control('/deposits', { network, currency, address, amount })
      return { network, units, raw: null, payer: null, hash }
    }
    const payOnce = () => {
      if (from === 'eth@eth') return payEther(fleet, address, units, isReplaced)
      return isReplaced ? payAndReplaceBitcoin(cluster, address, units) : fromBank()
    }
    const payment = await payOnce()
    purchase.payments.push(payment)
    return payment
  }

  async function cancel(purchase: Purchase, isPaid: boolean): Promise<void> {
    purchase.isCancelled = await quotes.cancel(purchase.id)
    if (!(purchase.isCancelled || isPaid))
      disputes.push(`exchange ${purchase.id} has no payment, and its cancel is refused`)
  }

  return {
    purchases,
    published: quotes.published,
    disputes: () => [...quotes.disputes(), ...disputes],
    noteDoubleSpend: (payment) => void doubleSpent.add(payment),
    isDoubleSpent: (payment) => doubleSpent.has(payment),
    order,
    pay: (purchase, amount) => pay(purchase, amount),
    async buy(requested) {
      const { amount: ordered, paidAmounts = [ordered], replacesPayment, cancels } = requested
      const purchase = await order(requested)
      if (cancels === 'before paying') await cancel(purchase, false)
      for (const amount of paidAmounts) await pay(purchase, amount, replacesPayment)
      if (cancels === 'after paying') await cancel(purchase, true)
      return purchase
    },
    async rebroadcast() {
      for (const payment of purchases.flatMap((purchase) => purchase.payments))
        if (payment.raw !== null) await rebroadcastPayment(fleet, payment)
    },
  }
}

const networkOf = (currency: string): string => currency.split('@')[1] ?? ''

async function createAddress(cluster: Fleet['cluster'], network: string): Promise<string> {
  if (network === 'xmr') return (await cluster.control('/wallets', { network })).address
  if (network === 'btc' || network === 'ltc') return createExternalWallet(network).address ?? ''
  return privateKeyToAddress(generatePrivateKey())
}

async function payEther({ cluster }: Fleet, to: string, units: bigint, isReplaced: boolean): Promise<Payment> {
  const account = privateKeyToAccount(generatePrivateKey())
  const { chainId = 0 } = cluster.chains.networks.find(({ network }) => network === 'eth') ?? {}
  const sign = (recipient: Hex, value: bigint, gwei: bigint) =>
    account.signTransaction({
      type: 'eip1559',
      chainId,
      nonce: 0,
      gas: GAS,
      maxFeePerGas: gwei * GWEI,
      maxPriorityFeePerGas: gwei * (GWEI / 20n),
      to: recipient,
      value,
    })
  const raw = await sign(to as Hex, units, 20n)
  const hash = await fundAndBroadcast(cluster, { address: account.address, units, raw })
  // If a block was faster, the node refuses the replacement, and the payment stands.
  if (isReplaced)
    await cluster.call('eth', 'eth_sendRawTransaction', [await sign(account.address, 0n, 40n)]).catch(nullIfRefused)
  return { network: 'eth', hash, units, raw, payer: account.address }
}

/** Repeats the funding of the wallet if a reorganisation removed it. */
async function fundAndBroadcast(
  cluster: Fleet['cluster'],
  { address, units, raw }: { address: Hex; units: bigint; raw: Hex },
): Promise<string> {
  for (let left = FUNDINGS_MAX; ; left--) {
    await fundWallet(cluster, address, units)
    try {
      return await cluster.call('eth', 'eth_sendRawTransaction', [raw])
    } catch (error) {
      if (left === 0 || !String(error).includes('Insufficient funds')) throw error
    }
  }
}

async function fundWallet(cluster: Fleet['cluster'], address: Hex, units: bigint): Promise<void> {
  await cluster.call('eth', 'anvil_setBalance', [address, `0x${(units + GAS * 20n * GWEI).toString(16)}`])
}

/** Does nothing if the payment is in a block or in the pool. */
async function rebroadcastPayment({ cluster }: Fleet, { network, hash, raw, payer, units }: Payment): Promise<void> {
  if ((await cluster.call(network, 'eth_getTransactionByHash', [hash])) !== null) return
  if (payer !== null) await fundWallet(cluster, payer, units)
  // The node may have it by now, or refuse it during a reorganisation; the next call checks again.
  await cluster.call(network, 'eth_sendRawTransaction', [raw]).catch(nullIfRefused)
}

/** Whether a payment is in a block of the best chain now. */
export async function isInBlock({ cluster }: Fleet, { network, hash }: Payment): Promise<boolean> {
  if (network === 'btc' || network === 'ltc') {
    const transaction: Json = await cluster.call(network, 'getrawtransaction', [hash, true]).catch(nullIfRefused)
    return (transaction?.confirmations ?? 0) > 0
  }
  if (network === 'xmr') return (await locateMoneroTransaction(cluster, hash)) === 'block'
  const receipt: Json = await cluster.call(network, 'eth_getTransactionReceipt', [hash])
  if (receipt === null) return false
  const block: Json = await cluster.call(network, 'eth_getBlockByNumber', [receipt.blockNumber, false])
  return block?.hash === receipt.blockHash && receipt.status === '0x1'
}

/** Whether a payment is in no block and in the pool of the node, from which it can still get into one. */
export async function isInPool({ cluster }: Fleet, { network, hash }: Payment): Promise<boolean> {
  if (network === 'xmr') return (await locateMoneroTransaction(cluster, hash)) === 'pool'
  if (network === 'btc' || network === 'ltc') return (await cluster.call(network, 'getrawmempool')).includes(hash)
  const transaction: Json = await cluster.call(network, 'eth_getTransactionByHash', [hash])
  return transaction !== null && transaction.blockHash === null
}
