/**
 * When a transaction can no longer be included: after a time in seconds since 1970, after a block height, after an epoch of the
 * network, or never.
 */
export type Expiry = Readonly<{ by: 'time' | 'height' | 'epoch'; at: number } | { by: 'never' }>
