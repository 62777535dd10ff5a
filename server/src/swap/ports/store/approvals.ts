/** An approval that was handed out with a swap. Canonical addresses; `units` to the unit. */
export type BuiltApproval = Readonly<{
  partnerId: string
  network: string
  account: string
  token: string
  units: bigint
}>

/** Remembers what was built for 24 hours. */
export interface BuiltApprovals {
  keep(approval: BuiltApproval): Promise<void>
  has(approval: BuiltApproval): Promise<boolean>
}
