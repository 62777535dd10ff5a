import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'
import type { AggregatorCall } from '../domain/aggregator-call.ts'
import { zeroAddress } from '../domain/token.ts'

/** What a swap was built with. Addresses in canonical form. */
export type BuiltTerms = Readonly<{
  partnerId: string
  network: string
  account: string
  recipient: string
  tokenIn: string
  tokenOut: string
  amountIn: bigint
  minReceived: bigint
  feePpm: number
  feeTo: string
  deadline: number
  /** The fee goes to the operator, who owes it to the partner then. */
  owesFee: boolean
  /** The call of an outside router that carries it out; absent = our own route. */
  aggregatorCall?: AggregatorCall
  /** Of the router's call as a whole, its route included (`SwapChain.callHash`). */
  callHash: string
}>

/**
 * The reference that stands in a swap's transaction and in the contract's event: 32 bytes that say, without a database, that we
 * built a swap with these terms, and by this route, for this partner. Any process with the same pepper can tell.
 */
export type SwapRefs = Readonly<{
  issue(terms: BuiltTerms): string
  /** null where it is not ours, or was built with other terms. Whether the fee is owed stands in no transaction: this tells. */
  read(ref: string, terms: Omit<BuiltTerms, 'owesFee'>): Pick<BuiltTerms, 'owesFee'> | null
}>

/* The first 12 bytes are random, the others HMAC-SHA256, cut (RFC 2104 §5). */
const NONCE_BYTES = 12
const MAC_BYTES = 20
/** `terms`: before calls were bound. Who makes such a reference has the key, so that none is made any more. */
const forms = ['call', 'terms'] as const
const PURPOSE = 'swapyard swap reference 2'
const REF = /^0x[0-9a-f]{64}$/

export function createSwapRefs(pepper: Uint8Array): SwapRefs {
  const key = new Uint8Array(hkdfSync('sha256', pepper, new Uint8Array(0), PURPOSE, 32))
  const macOf = (nonce: Buffer, terms: BuiltTerms, form: (typeof forms)[number]) =>
    createHmac('sha256', key).update(nonce).update(textOf(terms, form)).digest().subarray(0, MAC_BYTES)
  return {
    issue: (terms) => {
      const nonce = randomBytes(NONCE_BYTES)
      return `0x${Buffer.concat([nonce, macOf(nonce, terms, 'call')]).toString('hex')}`
    },
    read: (ref, terms) => {
      if (!REF.test(ref)) return null
      const bytes = Buffer.from(ref.slice(2), 'hex')
      const [nonce, mac] = [bytes.subarray(0, NONCE_BYTES), bytes.subarray(NONCE_BYTES)]
      for (const form of forms)
        for (const owesFee of [false, true])
          if (timingSafeEqual(mac, macOf(nonce, { ...terms, owesFee }, form))) return { owesFee }
      return null
    },
  }
}

function textOf(terms: BuiltTerms, form: (typeof forms)[number]): string {
  const {
    partnerId,
    network,
    account,
    recipient,
    tokenIn,
    tokenOut,
    amountIn,
    minReceived,
    feePpm,
    deadline,
    owesFee,
    aggregatorCall,
    callHash,
  } = terms
  // Who would get a fee of nothing is nobody.
  const feeTo = feePpm === 0 ? zeroAddress : terms.feeTo
  const amounts = [amountIn.toString(), minReceived.toString()]
  return JSON.stringify([
    partnerId,
    network,
    account,
    recipient,
    tokenIn,
    tokenOut,
    ...amounts,
    feePpm,
    feeTo,
    deadline,
    owesFee,
    // Nothing is added for our own route: what was built before there were others stays good.
    ...(aggregatorCall === undefined ? [] : [aggregatorCall.target, aggregatorCall.spender, aggregatorCall.calldata]),
    ...(form === 'call' ? [callHash] : []),
  ])
}
