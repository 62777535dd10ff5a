/** `requestHash` covers the route and the canonical body. `response` is JSON. */
export type StoredResponse = Readonly<{ requestHash: string; response: string }>

/** First successful responses by partner and Idempotency-Key, kept for 24 h. */
export interface SwapIdempotencyStore {
  /** `response` is null if a create of an exchange used the key: it can never match a request of a swap. */
  findResponse(
    partnerId: string,
    key: string,
  ): Promise<Readonly<{ requestHash: string; response: string | null }> | null>
  /** Stores the response unless the key has one. Returns the response that is stored. */
  saveResponse(partnerId: string, key: string, response: StoredResponse): Promise<StoredResponse>
}
