/** An approval that was returned with a built swap. Canonical addresses, exact `units`. */
export type BuiltApproval = Readonly<{
  partnerId: string
  network: string
  account: string
  token: string
  units: bigint
}>

/** Stores built approvals for 24 hours. */
export interface BuiltApprovals {
  save(approval: BuiltApproval): Promise<void>
  has(approval: BuiltApproval): Promise<boolean>
}
