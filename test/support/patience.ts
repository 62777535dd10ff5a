/**
 * Maximum wait for an expected result. It is long, so that a busy machine does not fail a test; only failing tests wait
 * this long. The machine of a CI run can be several times slower than a developer's.
 */
export const PATIENCE_MS = process.env['CI'] === 'true' ? 300_000 : 120_000
export const PATIENCE = { timeout: PATIENCE_MS } as const
/**
 * How long apps and tests wait for a connection: on a busy machine Postgres takes seconds to open those of a burst. Less than the
 * server's limit for a create, 10 s.
 */
export const POOL_WAIT_MS = 9_000
