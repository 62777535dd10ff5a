/**
 * When a transaction can no longer be included: after a time in seconds since 1970, after a block height, after an epoch of the
 * network, or never.
 */
export type Expiry = Readonly<{ by: 'time' | 'height' | 'epoch'; at: number } | { by: 'never' }>

/**
 * Whether the chain itself proves the end of a transaction, by a height or an epoch, and nothing else does: these families have no nonce
 * that a second transaction would share, so a user who builds again while the first one may still be included swaps twice.
 */
export const isProvenByChain = ({ by }: Expiry): boolean => by === 'height' || by === 'epoch'
