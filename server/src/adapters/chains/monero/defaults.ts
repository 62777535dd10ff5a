/** `outputsReady`: the number of concurrent payouts. Each locks its change for ten blocks. */
export const moneroDefaults: Readonly<{ restoreHeight: number; outputsReady: number }> = {
  restoreHeight: 0,
  outputsReady: 16,
}
