/**
 * Maximum wait for an expected result. It is long, so that a busy machine does not fail a test; only failing tests wait
 * this long.
 */
export const PATIENCE_MS = 120_000
export const PATIENCE = { timeout: PATIENCE_MS } as const
