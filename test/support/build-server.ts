/** True in CI, where a missing program or file fails its tests. Elsewhere they are skipped. */
export const isBuildServer = (process.env['CI'] ?? '') !== ''
