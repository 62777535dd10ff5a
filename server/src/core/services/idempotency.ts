/** Key as sent, and a hash of route and canonical body. Unique per partner for 24 h. */
export type Idempotency = Readonly<{ key: string; requestHash: string }>
