import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'
import type { AggregatorCall } from '../domain/aggregator-call.ts'
import { zeroAddress } from '../domain/token.ts'

/** The terms of a built swap. Addresses in canonical form. */
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
  /** The fee goes to the operator, who owes it to the partner. */
  owesFee: boolean
  /** The aggregator's call that executes the swap; absent = our own route. */
  aggregatorCall?: AggregatorCall
  /** Hash of the whole router call, including its route (`SwapChain.hashCall`). */
  callHash: string
}>

/**
 * References of built swaps: 32 bytes in the transaction and in the contract's event. A reference proves, without a database,
 * that we built the swap for this partner with these terms and this route. Any process with the same pepper can verify it.
 */
export type SwapRefs = Readonly<{
  issue(terms: BuiltTerms): string
  /** Null if the reference is not ours or was built with other terms. `owesFee` is recovered, as no transaction holds it. */
  read(ref: string, terms: Omit<BuiltTerms, 'owesFee'>): Pick<BuiltTerms, 'owesFee'> | null
}>

/* 12 random bytes, then HMAC-SHA256 truncated to 20 bytes (RFC 2104 §5). */
const NONCE_BYTES = 12
const MAC_BYTES = 20
/** `terms` is the older form, without the call hash. It is still verified but no longer issued. */
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
  // Without a fee the fee address is not bound.
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
    // Our own route adds nothing here, so references from before aggregator calls stay valid.
    ...(aggregatorCall === undefined ? [] : [aggregatorCall.target, aggregatorCall.spender, aggregatorCall.calldata]),
    ...(form === 'call' ? [callHash] : []),
  ])
}
