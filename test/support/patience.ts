/**
 * How long a test waits for what it expects, at most. What comes, comes at once, and only what fails waits for so long: a machine
 * that is busy with everything else must not fail a test.
 */
export const PATIENCE_MS = 120_000
export const PATIENCE = { timeout: PATIENCE_MS } as const
