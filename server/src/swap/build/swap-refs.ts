import { createHash, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'
import type { SwapOrder } from '../ports/swap-chain.ts'

/** The terms of a built swap, as its transaction states them. Addresses in canonical form. */
export type BuiltTerms = Omit<SwapOrder, 'swaps' | 'ref'> &
  Readonly<{
    partnerId: string
    network: string
    /** The fee goes to the operator, who owes it to the partner. */
    owesFee: boolean
    /** Hash of what the transaction does, including its route (`SwapChain.hashCall`). */
    callHash: string
  }>

/**
 * References of built swaps: 32 bytes that the transaction contains, in a parameter or a memo. A reference proves, without a database,
 * that we built the swap for this partner with these terms and this route. Any process with the same pepper can verify it.
 */
export type SwapRefs = Readonly<{
  /** `dexes`: the names of the DEXes of the route, which the route itself does not contain. */
  issue(terms: BuiltTerms, dexes: readonly string[]): string
  /** Whether the route of a reference may use a DEX. True for some DEXes that it does not use, because they share a bit. */
  mayUseDex(ref: string, dex: string): boolean
  /** Null if the reference is not ours or was built with other terms. `owesFee` is recovered, as no transaction holds it. */
  read(ref: string, terms: Omit<BuiltTerms, 'owesFee'>): Pick<BuiltTerms, 'owesFee'> | null
}>

/* Four bytes with a bit per DEX, 8 random bytes, then HMAC-SHA256 truncated to 20 bytes (RFC 2104 §5). */
const DEX_BYTES = 4
const NONCE_BYTES = 12
const MAC_BYTES = 20
const PURPOSE = 'swapyard swap reference'
const REF = /^0x[0-9a-f]{64}$/

export function createSwapRefs(pepper: Uint8Array): SwapRefs {
  const key = new Uint8Array(hkdfSync('sha256', pepper, new Uint8Array(0), PURPOSE, 32))
  const macOf = (nonce: Buffer, terms: BuiltTerms) =>
    createHmac('sha256', key).update(nonce).update(textOf(terms)).digest().subarray(0, MAC_BYTES)
  return {
    issue: (terms, dexes) => {
      const nonce = randomBytes(NONCE_BYTES)
      nonce.writeUInt32BE(dexes.reduce((bits, dex) => (bits | bitOf(dex)) >>> 0, 0))
      return `0x${Buffer.concat([nonce, macOf(nonce, terms)]).toString('hex')}`
    },
    mayUseDex: (ref, dex) => REF.test(ref) && (Number.parseInt(ref.slice(2, 2 + 2 * DEX_BYTES), 16) & bitOf(dex)) !== 0,
    read: (ref, terms) => {
      if (!REF.test(ref)) return null
      const bytes = Buffer.from(ref.slice(2), 'hex')
      const [nonce, mac] = [bytes.subarray(0, NONCE_BYTES), bytes.subarray(NONCE_BYTES)]
      for (const owesFee of [false, true])
        if (timingSafeEqual(mac, macOf(nonce, { ...terms, owesFee }))) return { owesFee }
      return null
    },
  }
}

/** One of 32 bits, by the name: a network has about ten DEXes. */
const bitOf = (dex: string): number => (1 << ((createHash('sha256').update(dex).digest()[0] ?? 0) % 32)) >>> 0

function textOf(terms: BuiltTerms): string {
  const { feePpm, aggregatorCall, expiry } = terms
  return JSON.stringify([
    terms.partnerId,
    terms.network,
    terms.account,
    terms.recipient,
    terms.tokenIn,
    terms.tokenOut,
    terms.amountIn.toString(),
    terms.minReceived.toString(),
    feePpm,
    // Without a fee the fee address is not bound.
    feePpm === 0 ? null : terms.feeTo,
    expiry === null || expiry.by === 'never' ? expiry : [expiry.by, expiry.at],
    terms.owesFee,
    ...(aggregatorCall !== undefined && 'calldata' in aggregatorCall
      ? [aggregatorCall.target, aggregatorCall.spender, aggregatorCall.calldata]
      : []),
    terms.callHash,
  ])
}
