/** The right of one attempt, `id`, to act under an Idempotency-Key until its lease ends. */
export type IdempotencyClaim = Readonly<{ partnerId: string; key: string; id: string }>

/** The response of an act under its claim, JSON. */
export type ClaimedResponse = Readonly<{ claim: IdempotencyClaim; response: string }>

/**
 * Makes the response of an act for a store, which saves it in the transaction of the act: then no crash leaves the act without its
 * response. Null for a request without an Idempotency-Key.
 */
export type Keep<Made> = (made: Made) => ClaimedResponse | null

/**
 * `requestHash` covers the route and the canonical body. `response` is null if a create of an exchange used the key: its response is
 * made from the exchange.
 */
export type StoredResponse = Readonly<{ requestHash: string; response: string | null }>

/** Claims and first successful responses by partner and Idempotency-Key, kept for 24 h. */
export interface IdempotencyStore {
  /** `held`: another claim is in force, in any process. */
  claim(claim: IdempotencyClaim, requestHash: string, leaseMs: number): Promise<'claimed' | 'held' | StoredResponse>
  renew(claim: IdempotencyClaim, leaseMs: number): Promise<void>
  /** Returns the response that is stored: the given one, or what the act stored in its transaction. Null if another attempt has the claim. */
  save(claimed: ClaimedResponse): Promise<string | null>
  /** Ends a claim without a response. */
  release(claim: IdempotencyClaim): Promise<void>
}
